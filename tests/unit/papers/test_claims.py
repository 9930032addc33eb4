"""Claims become rows, whatever was run."""

from evenhand.measure.repeat_means import Estimated
from evenhand.papers.claims import Checked, Claim, Evidence, cannot_check, judge_claims


def never(_):
    """Fail if a check is called that must not be."""
    raise AssertionError


def test_a_claim_whose_study_was_not_run_cannot_be_checked():
    """A quick design must say what it leaves open instead of leaving it out."""
    row = Claim("a", "It is so.", "5.2", never, "mostly", ("adult", "lsac")).judge(Evidence({"lsac": None}))

    assert (row.id, row.claim, row.where, row.rule) == ("a", "It is so.", "5.2", "mostly")
    assert (row.verdict, row.why) == ("cannot be checked", "Not run: adult.")
    assert (row.ours, row.low, row.high, row.runs) == (None, None, None, None)


def test_a_row_holds_our_value_with_its_interval():
    """A verdict without the number behind it cannot be argued with."""
    found = Checked("agrees", "Off by 0.", Estimated(0.44, 0.43, 0.45, runs=20), "0.44", 0.44)
    (row,) = judge_claims([Claim("a", "It is so.", "5.2", lambda _: found)], Evidence({}))

    assert (row.ours, row.low, row.high, row.runs, row.paper) == (0.44, 0.43, 0.45, 20, "0.44")
    assert (row.verdict, row.why) == ("agrees", "Off by 0.")


def test_a_claim_may_say_why_it_cannot_be_checked():
    """A reason is a result too."""
    row = Claim("a", "It is so.", "5.2", lambda _: cannot_check("The code is lost.")).judge(Evidence({}))

    assert (row.verdict, row.why) == ("cannot be checked", "The code is lost.")
