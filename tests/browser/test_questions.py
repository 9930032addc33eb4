"""Each of the four questions, from choosing data to taking the answer along."""

import tomllib

import pytest

from browser._steps import answer_question, repeat_plan, take_all

CASES = {
    "collect": ("causal", {"protocols": ["grr"], "epsilons": "1", "repeats": "2"}),
    "release": ("causal", {"mechanisms": ["laplace"], "epsilons": "1", "repeats": "2"}),
    "learn": ("causal", {"methods": ["dp"], "epsilons": "2", "repeats": "2"}),
    "decide": ("counties", {"epsilons": "1"}),
}
TAKEN = {"report.html", "cells.csv", "plan.toml", "study.py", "study.ipynb"}
SAME = ("cells.csv", "report.html")
"""What the command line writes as well, byte for byte."""


@pytest.mark.parametrize("kind", CASES)
def test_a_question_is_answered_from_data_to_downloads(page, kind, tmp_path):
    """The whole point: data, columns, question, run, answer and files, without a command line.

    The files are those that the command line writes from the plan, elsewhere.
    """
    name, answers = CASES[kind]
    answer_question(page, kind, name, **answers)
    files = take_all(page)
    again = repeat_plan(files, kind, tmp_path)

    assert len(page.locator("#page .fragment").first.inner_text()) > 200
    assert tomllib.loads(files["plan.toml"].decode())["task"]["kind"] == kind
    assert files.keys() >= TAKEN
    assert ("schema.toml" in files) == (kind != "decide")  # entities have no schema
    for name in SAME:
        assert files[name] == (again / name).read_bytes(), name
