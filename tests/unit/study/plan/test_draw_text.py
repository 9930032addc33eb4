"""The text that draws are named by is frozen, whatever the fields of settings are called."""

import pytest

from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.decide.task import DecideTask
from evenhand.study.tasks.learn.task import LearnTask
from evenhand.study.tasks.release.task import ReleaseTask

OPTIMAL = {"name": "optimal", "outcomes": "noisy", "budget": 0.1}
VECTORS = {
    "collect": (
        CollectTask(["grr", {"name": "olh", "as_printed": True}], ["1/2"], splits=["uniform", "k-based"]),
        '{"epsilon":"1/2","parameters":{},"protocol":"grr","repeat":2,"split":"uniform","strategy":"independent"}',
        (
            '{"epsilon":"1/2","parameters":{"as_printed":true},"protocol":"olh","repeat":2,"split":"uniform",'
            '"strategy":"independent"}'
        ),
        '{"epsilon":"1/2","parameters":{},"protocol":"grr","repeat":2,"split":"k-based","strategy":"independent"}',
        (
            '{"epsilon":"1/2","parameters":{"as_printed":true},"protocol":"olh","repeat":2,"split":"k-based",'
            '"strategy":"independent"}'
        ),
    ),
    "collect, one value": (
        CollectTask([OPTIMAL, "grr"], [1], strategies=["combined", "single"]),
        (
            '{"epsilon":"1","parameters":{"budget":"1/10","outcomes":"noisy"},"protocol":"optimal","repeat":2,'
            '"split":"none","strategy":"combined"}'
        ),
        '{"epsilon":"1","parameters":{},"protocol":"grr","repeat":2,"split":"none","strategy":"combined"}',
        (
            '{"epsilon":"1","parameters":{"budget":"1/10","outcomes":"noisy"},"protocol":"optimal","repeat":2,'
            '"split":"none","strategy":"single"}'
        ),
        '{"epsilon":"1","parameters":{},"protocol":"grr","repeat":2,"split":"none","strategy":"single"}',
    ),
    "release": (
        ReleaseTask(["a"], ["laplace", "suppression", "noisy-suppression"], [2], post="nonnegative"),
        '{"epsilon":"2","parameters":{},"protocol":"laplace","repeat":2,"split":"none","strategy":"none"}',
        (
            '{"epsilon":null,"parameters":{"threshold":6},"protocol":"suppression","repeat":2,"split":"none",'
            '"strategy":"none"}'
        ),
        (
            '{"epsilon":"2","parameters":{"noise":"count","threshold":6},"protocol":"noisy-suppression","repeat":2,'
            '"split":"none","strategy":"none"}'
        ),
    ),
    "learn": (
        LearnTask(["dp+parity", "plain+parity"], [1]),
        '{"epsilon":"1","parameters":{},"protocol":"dp+parity","repeat":2,"split":"none","strategy":"none"}',
        '{"epsilon":null,"parameters":{},"protocol":"plain+parity","repeat":2,"split":"none","strategy":"none"}',
    ),
    "decide": (
        DecideTask(
            count="x",
            epsilons=["1/10"],
            post=["nonnegative", "integral"],
            mitigations=["fairness-payment", {"name": "output-perturbation", "least_total": 5000.0}],
        ),
        '{"epsilon":"1/10","parameters":{},"protocol":"laplace","repeat":2,"split":"none","strategy":"none"}',
        (
            '{"epsilon":"1/10","parameters":{},"protocol":"laplace","repeat":2,"split":"none",'
            '"strategy":"nonnegative+integral"}'
        ),
        (
            '{"epsilon":"1/10","parameters":{},"protocol":"laplace","repeat":2,"split":"none",'
            '"strategy":"fairness-payment"}'
        ),
        (
            '{"epsilon":"1/10","parameters":{"mitigation":{"least_total":5000.0}},"protocol":"laplace","repeat":2,'
            '"split":"none","strategy":"output-perturbation"}'
        ),
    ),
    "decide, Gaussian": (
        DecideTask(count="x", mechanisms="discrete-gaussian", epsilons=[1], post="nonnegative"),
        (
            '{"epsilon":"1","parameters":{"delta":1e-06},"protocol":"discrete-gaussian","repeat":2,"split":"none",'
            '"strategy":"none"}'
        ),
        (
            '{"epsilon":"1","parameters":{"delta":1e-06},"protocol":"discrete-gaussian","repeat":2,"split":"none",'
            '"strategy":"nonnegative"}'
        ),
    ),
}


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_the_text_is_that_of_the_first_studies(vector):
    """One letter more, and every study that is run again draws other noise."""
    task, *texts = vector

    assert [draw_text(Cell(setting, 2)) for setting in task.settings()] == texts


def test_the_text_of_the_unprotected_setting():
    text = '{"epsilon":null,"parameters":{},"protocol":"none","repeat":0,"split":"none","strategy":"none"}'

    assert draw_text(Cell(Setting(), 0)) == text
    assert draw_text(Plan().cells()[0]) == text


def test_an_option_of_another_kind_of_study_is_a_parameter():
    text = (
        '{"epsilon":null,"parameters":{"depth":3},"protocol":"t","repeat":0,"split":"none","strategy":"none"}'
    )

    assert draw_text(Cell(Setting("t", options={"depth": 3}), 0)) == text
