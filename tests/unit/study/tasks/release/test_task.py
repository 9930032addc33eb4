"""The task of a release: what may be asked for, how plan files hold it; classification is as it was."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError, PlanError, UnknownNameError
from evenhand.measure import MEASURES
from evenhand.release.mechanisms.registry import MECHANISMS, TableMechanism
from evenhand.release.postprocess.registry import checked_step, steps_of
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.spec import Spec
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.release.execute import execute
from evenhand.study.tasks.release.measures import RELEASE_MEASURES, SIZES, errors_by_size
from evenhand.study.tasks.release.task import ReleaseTask
from evenhand.study.tasks.shared.report_settings import report_setting
from evenhand.study.tasks.shared.table_mechanisms import build_mechanism, title_of
from unit.study._release_studies import people, plan, schema


def task(**parts):
    return ReleaseTask(["sex", "job"], ["laplace", "suppression"], [0.5, 1], **{"classify": False, **parts})


def test_every_mechanism_of_the_registry_can_be_studied():
    """A mechanism without a label of its own cannot be told from the others in a report."""
    for name, mechanism in MECHANISMS.items():
        assert mechanism.name == name
        assert set(mechanism.defaults) <= set(mechanism.parameter_names())
    assert len({mechanism.label for mechanism in MECHANISMS.values()}) == len(MECHANISMS)


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_a_mechanism_can_be_made_from_its_name_alone(name):
    """Defaults that the mechanism itself refuses would make a plan of names fail."""
    chosen = TableMechanism(name)
    made = chosen.build(epsilon=Fraction(1) if chosen.takes_epsilon else None, unit="replace one")

    assert made.name == name


def test_a_mechanism_without_an_epsilon_is_run_once():
    """Run for each epsilon, suppression would look as if epsilon mattered to it."""
    settings = [(each.mechanism, each.epsilon) for each in task().settings()]

    assert settings == [("laplace", Fraction(1, 2)), ("laplace", Fraction(1)), ("suppression", None)]


def test_a_parameter_may_take_the_place_of_epsilon():
    """Gaussian noise by rho has no epsilon, and a delta beside rho would contradict it."""
    gaussian = TableMechanism.of({"name": "discrete-gaussian", "rho": "1/10"})

    assert not gaussian.takes_epsilon
    assert "delta" not in gaussian.parameters


def test_settings_of_a_release_say_what_they_are():
    """Settings that read the same cannot be told apart in a table."""
    assert [str(each) for each in task().settings()] == [
        "Laplace noise, ε = 0.5",
        "Laplace noise, ε = 1",
        "Suppression, threshold=6",
    ]
    assert title_of("grr") == "GRR"


def test_a_cell_of_a_release_has_a_canonical_name():
    """A store finds it by the name."""
    cell = Cell(Setting("suppression", options={"threshold": 6}), 1)

    assert cell.id == ('{"epsilon":null,"mechanism":"suppression","options":{"threshold":6},"repeat":1}')
    assert Cell.from_id(cell.id) == cell


def test_the_unit_reaches_mechanisms_that_have_one():
    """With another unit the noise is another, and the claim would be wrong."""
    laplace = Setting("laplace", Fraction(1))

    assert str(build_mechanism(laplace, unit="add or remove one").unit) == "add or remove one"
    assert str(build_mechanism(laplace, unit="replace one").unit) == "replace one"


@pytest.mark.parametrize(
    ("wrong", "parameter"),
    [
        ({"columns": []}, "columns"),
        ({"columns": [3]}, "columns"),
        ({"columns": ["sex", "sex"]}, "columns"),
        ({"mechanisms": []}, "mechanisms"),
        ({"mechanisms": [3]}, "mechanisms"),
        ({"mechanisms": ["laplace", "laplace"]}, "mechanisms"),
        ({"mechanisms": [{"name": "laplace", "epsilon": 1}]}, "mechanisms"),
        ({"mechanisms": [{"name": "laplace", "unit": "replace one"}]}, "mechanisms"),
        ({"mechanisms": [{"name": "suppression", "threshold": "many"}]}, "mechanisms"),
        ({"mechanisms": [{"name": "suppression", "k": 3}]}, "mechanisms"),
        ({"mechanisms": [{"name": "generalized-sampling", "generalization": {}}]}, "mechanisms"),
        ({"epsilons": [0]}, "epsilons"),
        ({"epsilons": [1, 1]}, "epsilons"),
        ({"unit": "one person"}, "unit"),
        ({"bound": 0}, "bound"),
        ({"post": ["positive"]}, "post"),
        ({"post": 3}, "post"),
        ({"classify": "yes"}, "classify"),
        ({"test": 1}, "test"),
        ({"draws": 1}, "draws"),
    ],
)
def test_what_a_task_cannot_have_is_refused_by_name(wrong, parameter):
    """A person must see what to change."""
    with pytest.raises(InvalidParameterError) as caught:
        ReleaseTask(**{"columns": ["sex"], **wrong})

    assert caught.value.parameter == parameter
    assert caught.value.owner == "ReleaseTask"


def test_an_unknown_mechanism_is_refused_with_a_guess():
    with pytest.raises(UnknownNameError, match="did you mean 'laplace'"):
        ReleaseTask("sex", "laplac")


# --- steps ------------------------------------------------------------------------------------------


def test_steps_are_made_in_order():
    """Clamping before a sum constraint and after it are two things."""
    steps = steps_of(["nonnegative", "integral", "sum_to=50", "nonnegative_sum_to=50", "shrink=1/2"])

    assert [each.name for each in steps] == ["nonnegative", "integral", "sum-to", "sum-to", "shrink"]
    assert (steps[2].total, steps[3].nonnegative, steps[4].T) == (50, True, 0.5)


@pytest.mark.parametrize("wrong", ["nonnegative=1", "sum_to", "sum_to=-3", "shrink", "sum_to=1e3", None])
def test_a_step_that_is_none_is_refused(wrong):
    with pytest.raises(InvalidParameterError, match="post"):
        checked_step(wrong)


def test_a_step_may_be_written_with_blanks_and_hyphens():
    assert checked_step(" sum-to = 5000 ") == "sum_to=5000"
    assert steps_of([checked_step(f"sum_to={2**53}")])[0].total == 2**53
    assert steps_of([checked_step("shrink=1e9")])[0].T == 1e9


@pytest.mark.parametrize(
    "step",
    ["shrink=1e400", "shrink=1e10", f"sum_to={2**53 + 1}", "sum_to=" + "9" * 5000, "shrink=" + "9" * 5000],
)
def test_amounts_that_no_number_can_hold_are_refused(step):
    """They would end in a fault of the program, or in a table of other numbers."""
    with pytest.raises(InvalidParameterError, match="post"):
        checked_step(step)


# --- plans ------------------------------------------------------------------------------------------


def test_a_plan_of_a_release_survives_its_file():
    """What is run again from a file must be the same study."""
    whole = plan(
        ReleaseTask(
            ["sex", "job", "hired"],
            ["laplace", {"name": "suppression", "threshold": 3}],
            ["1/3", 2],
            bound=500,
            post=["nonnegative", "sum_to=120"],
            unit="add or remove one",
            test=0.25,
            draws=9,
        )
    )

    assert Plan.from_toml(whole.to_toml()) == whole
    assert "collect" not in whole.to_toml()
    assert 'kind = "release"' in whole.to_toml()


def test_a_short_plan_file_is_enough():
    """People write plans by hand."""
    read = Plan.from_toml('format = 1\n[task]\nkind = "release"\ncolumns = ["sex", "job", "hired"]')

    assert read.task == ReleaseTask(["sex", "job", "hired"])
    assert read.measures == tuple(read.task.measures)


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ("", "task.columns"),
        ('columns = ["a"]\nmechanisms = ["laplac"]', "task.mechanisms"),
        ('columns = ["a"]\nepsilons = [0]', "task.epsilons"),
        ('columns = ["a"]\nmodel = "logistic"', "task.model"),
        ('columns = ["a"]\npost = ["up"]', "task.post"),
        ('columns = ["a"]\n[collect]\nprotocols = ["grr"]', "collect"),
    ],
)
def test_a_fault_of_a_release_names_its_field(lines, field):
    """Somebody who edits a plan must see what to edit."""
    with pytest.raises(PlanError) as caught:
        Plan.from_toml(f'format = 1\n[task]\nkind = "release"\n{lines}')

    assert caught.value.field == field


def test_measures_are_those_of_the_task():
    """A measure that no cell has would be an empty column."""
    both = ReleaseTask(["sex"]).measures

    assert tuple(both) == (*RELEASE_MEASURES, *MEASURES)
    assert Plan(task=task()).measures == tuple(RELEASE_MEASURES)
    assert Plan(task=task(), measures=["alpha"]).measures == ("alpha",)
    with pytest.raises(InvalidParameterError, match="measures"):
        Plan(task=task(), measures=["acc"])
    with pytest.raises(InvalidParameterError, match="measures"):
        Plan(measures=["alpha"])


def test_the_grid_is_not_part_of_what_a_store_must_match():
    """A plan that gains an epsilon keeps the cells that are done; one with another unit does not."""
    facts = type("F", (), {"fingerprint": "0", "schema": schema()})()
    first = Spec.of(plan(task()), facts)

    assert first.hash == Spec.of(plan(ReleaseTask(["sex", "job"], classify=False)), facts).hash
    for other in ({"unit": "add or remove one"}, {"bound": 9}, {"post": "integral"}, {"draws": 3}):
        assert first.differences(Spec.of(plan(task(**other)), facts)) == ("task",)


def test_a_plan_has_one_table_for_its_task():
    text = Plan(task=CollectTask(model="logistic")).to_toml()

    assert "[collect]" not in text
    assert 'kind = "collect"' in text
    assert (
        str(report_setting("grr", Fraction(1, 2), "uniform", "independent")) == "GRR, uniform split, ε = 0.5"
    )


def test_sizes_hold_every_count_once():
    """A cell that is in no class, or in two, makes means wrong."""
    counts = [0, 1, 2, 3, 9, 10, 29, 30, 99, 100, 299, 300, 999, 1000, 2999, 3000, 9999, 10_000, 10**12]
    for count in counts:
        fitting = [s for s in SIZES if s.least <= count and (s.most is None or count <= s.most)]

        found = errors_by_size(np.array([count]), np.array([count]), np.zeros(1))

        assert [size for size in SIZES if found[f"cells_{size.key}"]] == fitting
    assert len({size.key for size in SIZES}) == len(SIZES)


# --- post-processing that is compared -----------------------------------------------------------------


def test_other_post_processing_is_tried_where_counts_may_be_negative():
    """Without noise no count is below 0, and the same table would be run twice."""
    compared = task(compare_post=["nonnegative + integral", "none"], post="nonnegative")
    settings = list(compared.settings())

    assert [each.options.get("post") for each in settings] == [
        None, None, "nonnegative+integral", "nonnegative+integral", "none", "none", None,
    ]  # fmt: skip
    assert [compared.post_of(each) for each in settings[::2]] == [
        ("nonnegative",), ("nonnegative", "integral"), (), ("nonnegative",),
    ]  # fmt: skip
    assert len({str(each) for each in settings}) == len(settings)


def test_post_processing_that_is_compared_survives_a_plan_file():
    compared = plan(task(compare_post="nonnegative"))

    assert Plan.from_toml(compared.to_toml()) == compared
    assert "compare_post" not in plan(task()).to_toml()


def test_post_processing_that_is_compared_reaches_the_table():
    """A setting that is called after a step it did not take would be compared with itself."""
    steps = [
        execute(compared, Cell(setting, 0), seed=7, prepared=prepared)
        for compared, prepared in [_compared()]
        for setting in compared.settings()
    ]
    plain, clipped = (outcome.measures for outcome in steps)

    assert plain["alpha"] == 0
    assert clipped["alpha"] > 0
    assert clipped["l1_error"] < plain["l1_error"]


def _compared():
    compared = ReleaseTask(["sex", "job"], "laplace", 1, compare_post="nonnegative", classify=False)
    columns = plan(compared).with_(schema=schema().select(["sex", "job"]))
    return compared, prepare(columns, frame=people(40))
