"""The policy script runs on its file and on others, and says what is wrong with wrong arguments."""

import re

import pytest


@pytest.fixture
def policy(root, run_example):
    return run_example(root / "examples" / "policy.py")


def test_it_goes_from_the_file_to_awards_that_add_up(policy):
    """The page about deciding shows its figures."""
    done = policy()

    assert done.code is None
    assert "epsilon = 0.3" in done.stdout
    assert re.search(r"none below 0 +average losses +2,197\.69", done.stdout)
    assert "Chosen: none below 0." in done.stdout
    assert re.search(r"Pine +48\.1% wrongly refused", done.stdout)
    assert re.search(r"together +2,000,000\.00", done.stdout)
    assert done.stdout.rstrip().endswith("not for publication.")


def test_the_page_uses_the_same_counts(root):
    page = (root / "docs" / "how-to" / "audit-a-rule.md").read_text("utf-8").replace("... ", "")

    for line in (root / "examples" / "policy.csv").read_text("utf-8").splitlines():
        assert line in page


def test_it_takes_a_file_a_rule_and_a_budget_of_ones_own(policy, tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(
        "district,pupils,poor,learners,weight,settled,newcomers\nA,900,90,50,1,800,100\nB,500,70,9,1,400,100\n",
        "utf-8",
    )
    done = policy(str(path), "--budget", "1000.01", "--rule", "learners >= 30", "--epsilon", "1/2")

    assert done.code is None
    assert "Read     2 districts from own.csv" in done.stdout
    assert re.search(r"together +1,000\.01", done.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "0"], "'epsilon' parameter"),
        (["--rule", "learners >"], "learners >"),
        (["--rule", "teachers > 5"], "'teachers' is not among the counts"),
        (["--budget", "-5"], "'budget' parameter"),
        (["nowhere.csv"], "nowhere.csv"),
    ],
)
def test_an_error_is_one_line(policy, arguments, message):
    done = policy(*arguments)

    assert done.stderr.startswith("Error: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
