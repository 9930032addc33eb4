"""What a person sees of results in a terminal and in a notebook."""

import dataclasses

from evenhand.study.plan.plan import Plan
from evenhand.study.results.results import Results
from evenhand.study.tasks.collect.task import CollectTask
from unit._study_results import NOTHING, facts, failed, grr, outcome, study

SMALL = study(
    {
        NOTHING: {"acc": [0.8, 0.82], "sp_gap": [0.1, 0.12]},
        grr(1): {"acc": [0.75, None], "sp_gap": [0.05, None]},
    },
    name="hiring",
)


def test_each_setting_is_a_line_with_its_interval():
    lines = repr(SMALL).splitlines()

    assert lines[0] == "Results of hiring on people.csv: 2 settings x 2 repeats, 1 run not run"
    assert lines[1].split("  ")[0] == "setting"
    assert lines[2].startswith("unprotected  ")
    assert "0.810 (0.619 to 1.000)" in lines[2]
    assert "0.750  " in lines[3]
    assert lines[3].endswith("no value")
    assert lines[-2].startswith("In brackets: 95 % interval of the mean over repeats on these rows")
    assert lines[-1].endswith("not private.")


def test_a_long_study_is_cut_and_says_so():
    plan = Plan(task=CollectTask(["grr"], list(range(1, 41)), splits="uniform"), repeats=1, measures=("f1",))
    results = Results(plan, facts(), [outcome(cell, f1=0.5) for cell in plan.cells()])

    assert "and 29 more settings; summary() has them all" in repr(results)
    assert "and 11 more settings" in results._repr_html_()
    assert "F1 score" in repr(results)
    assert "A single repeat has no interval." in repr(results)


def test_failures_are_told_in_the_title():
    plan = Plan(repeats=1)
    results = Results(plan, facts(), [failed(cell) for cell in plan.cells()])

    assert "2 settings x 1 repeat, 2 runs failed" in repr(results)


def test_html_is_escaped():
    """The name of a file is a stranger's text."""
    known = dataclasses.replace(facts(), label="<script>alert(1)</script>.csv")
    html = Results(SMALL.plan.with_(name="<b>"), known, SMALL.outcomes)._repr_html_()

    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html
    assert "not private" in html
