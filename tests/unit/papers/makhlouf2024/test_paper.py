"""makhlouf2024: the plans are the paper's, and every claim sees what is planted in made-up results."""

from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from evenhand.errors import DataSetNotFoundError
from evenhand.papers.claims import Evidence
from evenhand.papers.makhlouf2024 import PAPER, checks
from evenhand.papers.makhlouf2024.plans import (
    ADULT,
    COMPAS,
    DATA,
    EPSILONS,
    SYNTHETIC,
    plan_for,
    studies,
)
from evenhand.papers.paper import DESIGNS
from evenhand.papers.rules import mean_of
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.shared.protection import strategy_of
from unit.papers._made_up_groups import LAST, facts, kind_of, made, world

CLAIMS = PAPER.claims

# --- plans ----------------------------------------------------------------------------------------


def test_the_full_design_is_the_paper_s():
    """Nine data sets, three ways to protect, nine epsilons, twenty repeats, and the baselines."""
    found = studies("full")
    cells = [cell for study in found for cell in study.plan.cells()]
    protected = [cell for cell in cells if cell.setting.is_protected]

    assert [study.name for study in found] == [*SYNTHETIC, *COMPAS, *ADULT]
    assert (len(protected), len(cells) - len(protected)) == (9 * 3 * 9 * 20, 9 * 20)
    assert {float(cell.setting.epsilon) for cell in protected} == {16, 8, 5, 4, 3, 2, 1, 0.5, 0.1}
    ways = Counter(
        (each.setting.mechanism, each.setting.option("strategy"), each.setting.option("split"))
        for each in protected
    )
    assert ways == {
        ("grr", "single", "none"): 9 * 9 * 20,
        ("grr", "combined", "none"): 9 * 9 * 20,
        ("grr", "independent", "k-based"): 9 * 9 * 20,
    }


def test_models_and_folds_are_the_paper_s():
    """Forests with default parameters on integer codes, ten stratified folds."""
    for name in DATA:
        plan = plan_for(name)

        assert type(plan.task.model).__name__ == "DistinctRowsForest"
        assert plan.task.model.get_params() == {"n_estimators": 100, "random_state": 0}
        assert (plan.task.encoder, plan.task.folds, plan.seed, plan.data.rows) == ("codes", 10, 0, None)


def test_data_sets_are_the_authors():
    """The rows of their files, not those of the text."""
    options = {name: plan_for(name).data.options for name in DATA}

    assert [options[name]["quantile"] for name in SYNTHETIC] == [0.25, 0.5, 0.75]
    assert [options[name]["threshold"] for name in COMPAS] == [1, 3, 5]
    assert [options[name]["threshold"] for name in ADULT] == [10_000, 27_260, 50_000]
    assert all(options[name]["filter"] == "or" for name in COMPAS)
    assert all(options[name]["binarised"] is True for name in ADULT)


@pytest.mark.parametrize("end", [".csv", ".csv.gz"])
def test_the_published_people_are_taken_where_they_are(monkeypatch, tmp_path, end):
    """Without the file the same model is drawn from, so that everybody can run the study."""
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    before = plan_for(SYNTHETIC[0]).data.options["version"]
    (tmp_path / f"synthetic_makhlouf2024{end}").write_bytes(b"")

    assert (before, plan_for(SYNTHETIC[0]).data.options["version"]) == ("generated", "stored")


def test_each_design_contains_the_one_before():
    """A larger design in the same folder runs only the cells that are new."""
    cells = [
        {(study.name, cell.id) for study in PAPER.studies(design) for cell in study.plan.cells()}
        for design in DESIGNS
    ]

    assert cells[0] < cells[1] < cells[2]
    assert [len(each) for each in cells] == [132, 3960, 5040]
    assert all(
        f"{len(each):,} cells" in PAPER.designs[name] for each, name in zip(cells, DESIGNS, strict=True)
    )


def test_budgets_are_split_by_domain_size():
    """2/7, 2/7, 3/7 on Synthetic and Compas, a fifth each on Adult."""
    for name, shares in {
        SYNTHETIC[0]: {"A": (2, 7), "C": (2, 7), "M": (3, 7)},
        COMPAS[0]: {"race": (2, 7), "sex": (2, 7), "age_cat": (3, 7)},
        ADULT[0]: dict.fromkeys(("gender", "age", "race", "marital-status", "native-country"), (1, 5)),
    }.items():
        found = strategy_of(checks.setting_of("independent", 1), facts(name).schema).protocols

        assert {column: each.epsilon for column, each in found.items()} == {
            column: Fraction(*each) for column, each in shares.items()
        }


def test_only_the_protected_attribute_is_hidden_by_sldp():
    """Hiding more would be another setting of the paper."""
    for name in (SYNTHETIC[0], COMPAS[0], ADULT[0]):
        schema = facts(name).schema

        assert tuple(strategy_of(checks.setting_of("single", 1), schema).columns) == (schema.protected,)
        assert set(strategy_of(checks.setting_of("combined", 1), schema).columns) == set(schema.sensitive)


# --- worlds ---------------------------------------------------------------------------------------

_GAPS = {
    ("compas-1", "selection"): 0.23,
    ("compas-3", "tpr"): 0.3,
    ("adult-27260", "tpr"): 0.5,
    ("adult-10000", "fpr"): 0.01,
}
_POSITIVE = {0: 0.75, 1: 0.5, 2: 0.25}


def place_of(name):
    """Return which of its data set's thresholds a study has."""
    return {"synthetic": SYNTHETIC, "compas": COMPAS, "adult": ADULT}[kind_of(name)].index(name)


def step_of(name, setting):
    """Return how far a setting moves the group that moves: 1 is as far as the other group."""
    if not setting.is_protected:
        return 0.0
    epsilon = float(setting.epsilon)
    if setting.option("strategy") == "single":
        if name == SYNTHETIC[0] and epsilon <= 0.1:
            return 1.0
        return 0.05 if epsilon > 2 else 0.08 / 0.23 if name == COMPAS[0] else 0.5
    if epsilon <= 2:
        return 1.0
    if kind_of(name) == "compas":
        return 0.7 if setting.option("strategy") == "independent" else 0.1
    return 0.14 if setting.option("strategy") == "independent" else 0.24


def as_in_the_paper(name, setting, group):
    """Return rates as the paper tells them: one group moves towards the other and loses accuracy."""
    favoured = 0 if kind_of(name) == "compas" else 1
    mover = favoured if name in LAST else 1 - favoured
    step = step_of(name, setting)
    sign = -1 if name in LAST else 1
    found = {}
    for rate in ("selection", "tpr", "fpr"):
        gap = _GAPS.get((name, rate), 0.2)
        travel = 0.2 if gap == 0.01 else gap
        found[rate] = 0.5 + (sign * (step * travel - gap) if group == mover else 0)
    strong = setting.is_protected and float(setting.epsilon) <= 2
    for rate in ("accuracy", "precision"):
        ahead = 0.05 if name == ADULT[0] else 0.0
        found[rate] = 0.7 + ((ahead - 0.1 * strong) if group == mover else 0)
    found["base_rate"] = _POSITIVE[place_of(name)] + (0.1 if group == favoured else -0.1)
    return found


def the_other_way(name, setting, group):
    """Return rates that contradict the paper: both groups move apart, accuracy rises, skews are reversed."""
    favoured = 0 if kind_of(name) == "compas" else 1
    mover = favoured if name in LAST else 1 - favoured
    step = step_of(name, setting)
    if setting.option("strategy") == "independent" and setting.epsilon <= Fraction(1, 2):
        step = 0.5
    sign = 1 if name in LAST else -1
    found = {}
    for rate in ("selection", "tpr", "fpr"):
        gap = 0.4 if rate == "fpr" else 0.33
        start = sign * gap if group == mover else 0.0
        found[rate] = 0.5 + start + sign * step * (0.05 if group == mover else -0.06)
    strong = setting.is_protected and float(setting.epsilon) <= 2
    for rate in ("accuracy", "precision"):
        found[rate] = 0.9 + ((0.1 * strong - 0.5) if group == mover else 0.02 * strong)
    found["base_rate"] = 1 - _POSITIVE[place_of(name)] + (0.1 if group == favoured else -0.1)
    return found


def nothing_happens(name, _setting, group):
    """Return rates that no setting changes, with both groups alike."""
    told = as_in_the_paper(name, Setting(), group)
    return {**dict.fromkeys(told, 0.5), "base_rate": told["base_rate"]}


def judged(found):
    """Return the verdict of every claim."""
    return {claim.id: claim.judge(Evidence(found)).verdict for claim in CLAIMS}


@pytest.fixture(name="no_data", autouse=True)
def _no_data(monkeypatch):
    def nowhere(*_, **__):
        raise DataSetNotFoundError("It is not here.")

    monkeypatch.setattr("evenhand.datasets.load", nowhere)


BY_NATURE = {
    "footnote-7-skew": "slip", "footnote-7-score": "slip", "adult-features": "slip", "adult-middle": "slip",
    "epsilons": "slip", "k-rr": "agrees", "k-based": "agrees",
}  # fmt: skip
OPEN = {
    "mediator", "compas-days", "synthetic-2", "obs4-dependence",
    *(f"published-{more}{name}" for name in COMPAS for more in ("", "precision-")),
}  # fmt: skip
ITS_OWN_WORLD = {"obs2-proxies", "recommendation-c-weak", "obs8-grows-ped"}


def test_claims_have_names_of_their_own_and_say_where_they_stand():
    """A claim is found again by its name."""
    assert len({claim.id for claim in CLAIMS}) == len(CLAIMS)
    assert all(claim.text.endswith(".") and claim.where for claim in CLAIMS)
    assert {name for claim in CLAIMS for name in claim.needs} == set(DATA)


def test_every_claim_agrees_in_a_world_as_the_paper_tells_it():
    """A check that says "contradicted" here would blame the paper for our mistake."""
    found = judged(world(as_in_the_paper))
    expected = {claim.id for claim in CLAIMS} - OPEN - set(BY_NATURE)

    assert {name: found[name] for name in expected} == dict.fromkeys(expected, "agrees")
    assert {name: found[name] for name in BY_NATURE} == BY_NATURE
    assert {found[name] for name in OPEN} == {"cannot be checked"}


def test_every_claim_differs_in_a_world_the_other_way_round():
    """A check that agrees whatever happens is no check."""
    found = judged(world(the_other_way, wrong=True))
    expected = {claim.id for claim in CLAIMS} - OPEN - ITS_OWN_WORLD - set(BY_NATURE)

    turned = dict.fromkeys(expected, "contradicted") | {"data-adult": "other data", "conclusion": "slip"}
    turned |= {"obs4-adult-ind": "not shown", "obs4-adult-comb": "not shown"}
    assert {name: found[name] for name in expected} == turned
    assert (found["footnote-7-skew"], found["compas-days"]) == ("agrees", "cannot be checked")


@pytest.mark.figures
def test_the_claims_left_differ_in_a_world_where_nothing_happens():
    """These three do not turn round with the others."""
    found = judged(world(nothing_happens))

    assert {found[name] for name in ITS_OWN_WORLD} <= {"contradicted", "not shown"}


def test_few_repeats_leave_open_what_is_not_clear():
    """Three repeats that show nothing refute nothing."""
    found = judged({COMPAS[0]: made(COMPAS[0], nothing_happens, repeats=3, noise=0.01)})

    assert found[f"obs1-single-{COMPAS[0]}"] == "not shown"
    assert found[f"obs1-single-{ADULT[0]}"] == "cannot be checked"


def test_a_quote_needs_its_epsilon():
    """A design without that epsilon must not check the quote at another one."""
    small = {name: made(name, as_in_the_paper, epsilons=("1",)) for name in (SYNTHETIC[0], COMPAS[1])}
    rows = {claim.id: claim.judge(Evidence(small)) for claim in CLAIMS}

    assert rows["obs4-compas-ind"].why == "This design has no epsilon of 4."
    assert rows["obs2-gone-combined"].why == "This design has no epsilon of 2."


# --- checks that read rows ------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "verdict"), [((0.5, 0.4, 0.1), "slip"), ((0.35, 0.4, 0.25), "agrees")])
def test_the_mediator_is_read_from_the_rows(monkeypatch, first, verdict):
    """The paper prints the two distributions swapped; the check must see which way they are."""
    middle = np.repeat([0, 1, 2], [round(100 * part) for part in first])
    rows = pa.table({"A": np.repeat([0, 1], 100), "M": np.concatenate([middle, middle])})
    monkeypatch.setattr("evenhand.datasets.load", lambda *_, **__: SimpleNamespace(frame=rows))
    found = judged({SYNTHETIC[0]: made(SYNTHETIC[0], as_in_the_paper, repeats=2)})

    assert found["mediator"] == verdict


@pytest.mark.parametrize(("within", "verdict"), [(5278, "contradicted"), (5915, "agrees")])
def test_people_scored_within_thirty_days_are_counted(monkeypatch, within, verdict):
    """The number of the other filter comes from the rows."""
    rows = pa.table({"race": np.zeros(within, dtype=int)})
    asked = []
    monkeypatch.setattr(
        "evenhand.datasets.load", lambda *_, **given: asked.append(given) or SimpleNamespace(frame=rows)
    )
    claim = next(claim for claim in CLAIMS if claim.id == "compas-days")
    row = claim.judge(Evidence({COMPAS[0]: made(COMPAS[0], as_in_the_paper, repeats=2)}))

    assert row.verdict == verdict
    assert asked[0]["filter"] == "and"
    assert f"{within:,}" in row.why


@pytest.mark.parametrize(("adult", "verdict"), [(0.3, "agrees"), (0.05, "contradicted")])
def test_dependence_is_read_from_the_rows(monkeypatch, adult, verdict):
    """Which of the two data sets has the more dependent attributes is a matter of its rows."""
    monkeypatch.setattr("evenhand.papers.makhlouf2024.checks.prepare", lambda plan: plan.name)
    strength = {"makhlouf2024 compas-3": 0.1, "makhlouf2024 adult-27260": adult}
    monkeypatch.setattr(
        "evenhand.papers.makhlouf2024.checks.profile",
        lambda name: SimpleNamespace(
            among_sensitive=(SimpleNamespace(v=SimpleNamespace(value=strength[name])),)
        ),
    )
    some = {name: made(name, as_in_the_paper, repeats=2) for name in (COMPAS[1], ADULT[1])}

    assert judged(some)["obs4-dependence"] == verdict


# --- comparisons ----------------------------------------------------------------------------------


def test_the_favoured_group_is_the_one_with_more_positive_labels():
    """On Compas it is group 0, which reverses what the paper's statements expect."""
    assert checks.favoured(made(COMPAS[0], as_in_the_paper, repeats=2)) == 0
    assert checks.favoured(made(ADULT[0], as_in_the_paper, repeats=2)) == 1


def test_changes_are_those_of_the_group():
    """A slow copy: one loop per repeat, for a setting and a rate."""
    results = made(SYNTHETIC[0], as_in_the_paper)
    setting = checks.setting_of("combined", 2)
    cells = {(each.cell.setting.id, each.cell.repeat): each.groups for each in results.outcomes}
    slow = [
        cells[setting.id, repeat]["0"]["tpr"] - cells[Setting().id, repeat]["0"]["tpr"]
        - abs(cells[setting.id, repeat]["1"]["tpr"] - cells[Setting().id, repeat]["1"]["tpr"])
        for repeat in range(5)
    ]  # fmt: skip
    (found,) = checks.COMPARISONS["rises_or_falls"](results, [setting], ["tpr"])

    assert found == pytest.approx(np.array(slow), abs=1e-12)


def test_undefined_rates_are_no_comparison():
    """Without positive predictions there is no precision, and nothing to compare."""

    def undefined(name, setting, group):
        told = as_in_the_paper(name, setting, group)
        return {**told, "precision": np.nan} if setting.is_protected else told

    results = made(COMPAS[2], undefined, repeats=3)
    settings = checks.chosen(results, ["single"])

    for compare in ("one_sided", "worst_drops"):
        found = checks.COMPARISONS[compare](results, settings, ["precision"])

        assert found
        assert all(mean_of(results, runs).runs == 0 for runs in found)


def test_epsilons_are_those_of_the_figures():
    """The text omits 4, which its own quote needs."""
    assert "4" in EPSILONS
    assert len(EPSILONS) == 9
