"""ghoukasian2024, chapter 5: the plans are the thesis's, and every claim sees what is planted in results."""

import csv
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from evenhand.papers.claims import Evidence
from evenhand.papers.ghoukasian2024_local import PAPER, tables
from evenhand.papers.ghoukasian2024_local.plans import (
    BOTH,
    BUDGETED,
    DATA,
    EPSILONS,
    GRR,
    MECHANISMS,
    OPT,
    SS,
    complete_plan,
    load_experiment,
    plan_for,
    population,
    studies,
    way_of,
)
from evenhand.papers.ghoukasian2024_local.projection import GRR_TRIALS, SETS
from evenhand.papers.ghoukasian2024_local.tables import correlation, predictions
from evenhand.papers.paper import DESIGNS
from evenhand.papers.reproduction import build_reproduction
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.shared.report_settings import protocol_parameters
from unit.papers._made_up_local import (
    as_told,
    made,
    mechanism_record,
    mechanism_records,
    much_use,
    printed_records,
    same_use,
    the_other_way,
)

FIGURE_CLAIMS = [claim for claim in PAPER.claims if set(claim.needs) & set(DATA)]

# --- plans ----------------------------------------------------------------------------------------


def test_the_full_design_is_the_thesis_s():
    """Five experiments, three mechanisms and ours, nine epsilons, twenty seeds, and the baselines."""
    found = studies("full")
    cells = [cell for study in found for cell in study.plan.cells()]
    protected = [cell.setting for cell in cells if cell.setting.is_protected]

    assert [study.name for study in found] == list(DATA)
    assert len(cells) - len(protected) == 5 * 20
    assert Counter(way_of(each) for each in protected) == dict.fromkeys((GRR, SS, OPT, BUDGETED), 5 * 9 * 20)
    assert {float(each.epsilon) for each in protected} == {0.05, 0.25, 0.5, 1, 2, 4, 8, 10, 20}
    assert {each.option("strategy") for each in protected} == {"single"}


def setting_of(name, way, epsilon):
    """Return the setting of a mechanism at an epsilon, of an experiment's plan."""
    protected = [each for each in plan_for(name).settings() if each.is_protected]
    return next(each for each in protected if way_of(each) == way and each.epsilon == epsilon)


def test_opt_is_theorem_14_for_two_groups_and_the_smallest_error_for_more():
    """And it knows exact frequencies, which only a reproduction may."""
    parameters = {name: protocol_parameters(setting_of(name, OPT, 1)) for name in DATA}

    assert all(each["outcomes"] == "exact" for each in parameters.values())
    assert {name: each.get("as_printed") for name, each in parameters.items()} == {
        name: True if source.is_binary else None for name, source in DATA.items()
    }
    assert {name: each.get("error") for name, each in parameters.items()} == {
        name: None if source.is_binary else "minimum" for name, source in DATA.items()
    }
    assert protocol_parameters(setting_of("lsac-income", BUDGETED, 1)) == {"outcomes": "exact"}


def test_models_and_splits_are_those_of_arcolezi2023():
    """The thesis reuses them."""
    from evenhand.papers.arcolezi2023.plans import plan_for as earlier

    for name, source in DATA.items():
        own, other = plan_for(name).task, earlier(source.dataset).task

        assert (own.model, own.parameters, own.encoder, own.test) == (
            other.model, other.parameters, other.encoder, other.test,
        )  # fmt: skip
        assert plan_for(name).seed == 0


def test_each_design_contains_the_one_before():
    """A larger design in the same folder runs only the cells that are new."""
    cells = [
        {(study.name, cell.id) for study in PAPER.studies(design) for cell in study.plan.cells()}
        for design in DESIGNS
    ]
    trials = [{each.name: each.number for each in PAPER.trials(design)} for design in DESIGNS]

    assert cells[0] < cells[1] < cells[2]
    assert all(
        f"{len(each):,} cells and {sum(numbers.values())} trials" in PAPER.designs[name]
        for each, numbers, name in zip(cells, trials, DESIGNS, strict=True)
    )
    assert trials[1] == trials[2] == {MECHANISMS: 5, **dict.fromkeys((*SETS, GRR_TRIALS), 10)}


# --- rows -----------------------------------------------------------------------------------------


@pytest.fixture(name="people")
def _people(monkeypatch):
    schema = Schema(
        (
            Column("age", Domain.integers(0, 3)),
            Column("gender", Domain.categorical(["Female", "Male"])),
            Column("race", Domain.categorical(["Black", "White"])),
            Column("income", Domain.integers(0, 1)),
        ),
        sensitive=("gender",), protected="gender", privileged="Male", target="income", positive=1,
    )  # fmt: skip
    frame = pa.table(
        {
            "age": [0, 1, 2, 3, 0],
            "gender": ["Male", "Female", "Male", "Male", "Female"],
            "race": ["White", "White", "Black", "White", "Black"],
            "income": [1, 0, 1, 0, 0],
        }
    )
    monkeypatch.setattr(
        "evenhand.datasets.load", lambda *_, **__: SimpleNamespace(frame=frame, schema=schema)
    )


@pytest.mark.usefixtures("people")
def test_race_and_gender_become_one_attribute():
    """Code = race * 2 + gender, and the two are taken away."""
    frame, schema = load_experiment("adult-race-gender")
    domain = schema[BOTH].domain

    assert schema.names == ("age", BOTH, "income")
    assert [domain.code(value) for value in frame[BOTH].to_pylist()] == [3, 2, 1, 3, 0]
    assert (schema.sensitive, schema.protected, schema.privileged) == ((BOTH,), BOTH, "White, Male")
    assert tuple(frame.column_names) == schema.names


@pytest.mark.usefixtures("people")
def test_only_the_roles_change_otherwise():
    """Gender stays where it is."""
    plan, frame = complete_plan("adult-gender", plan_for("adult-gender"))

    assert plan.schema.protected == "gender"
    assert frame.column_names == ["age", "gender", "race", "income"]
    found = population("adult-gender")
    assert (found.values, found.people, found.positive) == (("Female", "Male"), (2, 3), (0, 2))


# --- claims ---------------------------------------------------------------------------------------


def judged(gap, use, **options):
    """Return the verdict of every claim about figures."""
    found = Evidence({name: made(name, gap, use, **options) for name in DATA})
    return {claim.id: claim.judge(found).verdict for claim in FIGURE_CLAIMS}


def test_claims_have_names_of_their_own_and_say_where_they_stand():
    """A claim is found again by its name."""
    assert len({claim.id for claim in PAPER.claims}) == len(PAPER.claims)
    assert all(claim.text.endswith(".") and claim.where for claim in PAPER.claims)
    assert {name for claim in PAPER.claims for name in claim.needs} == {*DATA, *SETS, GRR_TRIALS, MECHANISMS}


def test_every_claim_agrees_in_a_world_as_the_thesis_tells_it():
    """A check that says "contradicted" here would blame the thesis for our mistake."""
    found = judged(as_told, same_use)

    assert found == dict.fromkeys(found, "agrees")
    assert len(found) == 5 + 2 * 6 + 3 * 5 + 1


def test_every_claim_differs_in_a_world_the_other_way_round():
    """A check that agrees whatever happens is no check."""
    found = judged(the_other_way, much_use, wrong=True)

    assert found == dict.fromkeys(found, "contradicted")


def test_a_design_with_one_epsilon_has_no_threshold():
    """The quick design runs Adult at a single epsilon."""
    evidence = Evidence({"adult-race": made("adult-race", as_told, same_use, epsilons=("4",))})
    rows = {claim.id: claim.judge(evidence) for claim in FIGURE_CLAIMS}

    assert rows["beyond-adult-race"].why == "This design has a single epsilon."
    assert rows["small-adult-race"].verdict == "cannot be checked"


def test_without_small_epsilons_nothing_widens():
    """A lead that grows must have been seen small."""
    evidence = Evidence({"lsac-gender": made("lsac-gender", as_told, same_use, epsilons=("4", "20"))})
    rows = {claim.id: claim.judge(evidence) for claim in FIGURE_CLAIMS}

    assert rows["widens-lsac-gender"].verdict == "cannot be checked"


def test_the_threshold_is_looked_for_below_the_largest_epsilon():
    """Where it is nowhere, the comparisons at large epsilons are shown, or those below the largest."""
    few = Evidence({"adult-race": made("adult-race", the_other_way, same_use, epsilons=("0.5", "1"))})
    claim = next(each for each in FIGURE_CLAIMS if each.id == "beyond-adult-race")

    assert "from 0.5 on" in claim.judge(few).why
    assert claim.judge(few).verdict == "contradicted"


def test_the_opportunity_gap_is_the_largest_difference_of_true_positive_rates():
    """A slow copy over groups, and undefined where a rate is."""
    results = made("adult-race", as_told, same_use, seeds=2)
    setting = setting_of("adult-race", OPT, 4)
    outcome = next(each for each in results.outcomes if each.cell.setting == setting)
    slow = max(
        abs(one["tpr"] - two["tpr"]) for one in outcome.groups.values() for two in outcome.groups.values()
    )
    first = tables.values(results, setting, tables.EO)[outcome.cell.repeat]

    assert first == pytest.approx(slow, abs=1e-12)
    assert tables.at(results, tables.NONE, None) == Setting()
    assert tables.epsilons(results, least=Fraction(4)) == (4, 20)


# --- prediction -----------------------------------------------------------------------------------


def planted(sign, **options):
    """Return results whose gap rises or falls with the data unfairness of the record."""
    record = mechanism_record("lsac-income")

    def gap(_name, way, epsilon):
        told = record["true"] if way == "none" else record["ways"][way][f"{epsilon:g}"]
        return 0.5 + sign * told["ratio"] / 2

    return made("lsac-income", gap, same_use, noise=1e-6, **options), record


@pytest.mark.parametrize("sign", [1, -1])
def test_a_planted_order_is_found(sign):
    """The correlation is that of ranks; a shift of a repeat does not matter."""
    found = correlation(*planted(sign), "sp_gap")

    assert found.value == pytest.approx(sign, abs=0.06)  # mechanisms with equal unfairness are ties
    assert found.runs == 6


def test_too_few_settings_or_no_spread_have_no_correlation():
    """Nothing is said about nothing."""
    results = made("lsac-income", lambda *_: 0.1, same_use, noise=0.0)
    listed = predictions(results, mechanism_record("lsac-income"), "sp_gap")

    assert correlation(results, mechanism_record("lsac-income"), "sp_gap").runs == 0
    assert len(listed) == 1 + 4 * 3
    assert listed[0].epsilon is None


# --- tables and figures ---------------------------------------------------------------------------


@pytest.fixture(name="whole", scope="module")
def _whole():
    trials = {MECHANISMS: mechanism_records(), **{name: printed_records(name) for name in SETS}}
    few = ("lsac-gender", "lsac-income")
    return {name: made(name, as_told, same_use, seeds=2) for name in few}, trials


def test_tables_have_one_form(whole):
    """One program reads the tables of every paper."""
    from evenhand.papers.tables import COLUMNS

    found = PAPER.tables(Evidence(whole[0], None, whole[1]))

    assert set(found) == {
        "lsac-gender", "lsac-income", "mechanisms", "prediction", "matched",
        "table-5.1", "table-5.2", "table-5.3", "table-5.4",
    }  # fmt: skip
    for columns in found.values():
        assert tuple(columns) == COLUMNS
        assert len({len(cells) for cells in columns.values()}) == 1
    assert len(found["lsac-gender"]["ours"]) == (1 + 4 * 3) * 5
    assert "OPT at GRR's error (ours)" in found["lsac-gender"]["mechanism"]
    assert found["table-5.1"]["paper"][:2] == [0.6798, 0.22]
    assert set(found["table-5.1"]["verdict"]) == {"agrees"}


def test_nothing_finished_has_no_tables_and_no_figures():
    """An empty table would look like a result."""
    assert PAPER.tables(Evidence({})) == {}
    assert PAPER.figures(Evidence({})) == []


def test_what_is_undefined_has_no_row():
    """A group without positive labels in the test rows has no true positive rate."""
    undefined = made("lsac-income", lambda *_: np.nan, same_use, seeds=2)
    found = PAPER.tables(Evidence({"lsac-income": undefined}, None, {MECHANISMS: mechanism_records()}))

    assert set(found) == {"lsac-income", "mechanisms"}
    assert set(found["lsac-income"]["measure"]) == {"acc", "f1"}


def test_one_repeat_is_drawn_without_an_interval():
    """The quick design has a single seed of Adult."""
    from evenhand.papers.ghoukasian2024_local.tables import unfairness_figure

    one, many = (planted(1, seeds=seeds, epsilons=("4",)) for seeds in (1, 6))
    pictures = [unfairness_figure({"lsac-income": each}, "sp_gap").wide for each in (one, many)]

    assert correlation(*one, "sp_gap").low is None
    assert [" to " in picture for picture in pictures] == [False, True]


def _one_of_each(evidence):
    from evenhand.papers.ghoukasian2024_local import tables as module

    results, record = evidence.studies["lsac-gender"], mechanism_record("lsac-gender")
    scatter = module.unfairness_figure({"lsac-gender": (results, record)}, "sp_gap")
    return [module.measures_figure("lsac-gender", results, 1), scatter]


@pytest.mark.figures
def test_everything_is_written(whole, tmp_path):
    """Claims, tables, and figures of both kinds: each picture takes a while, so not all of them."""
    pytest.importorskip("altair")
    few = {"lsac-gender": whole[0]["lsac-gender"]}
    some = replace(PAPER, claims=PAPER.claims[:2], figures=_one_of_each)
    found = build_reproduction(some, "quick", few, trials=whole[1])
    found.write(tmp_path)

    written = {path.name for path in tmp_path.iterdir()}
    assert {"fig5.4.svg", "unfairness-sp-gap.svg", "claims.md", "matched.csv"} < written
    with (tmp_path / "mechanisms.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["dataset"] for row in rows} == set(DATA)
    picture = (tmp_path / "fig5.4.svg").read_text(encoding="utf-8")
    assert "OPT at GRR" in picture
    assert "unprotected" in picture
    assert "\N{WHITE DIAMOND}" in (tmp_path / "unfairness-sp-gap.svg").read_text(encoding="utf-8")


def test_figures_stand_in_order_and_without_mechanisms_there_is_no_scatter(whole, monkeypatch):
    """Half a comparison is none."""
    from evenhand.papers.ghoukasian2024_local import tables as module

    monkeypatch.setattr(
        module,
        "measures_figure",
        lambda name, _, place: SimpleNamespace(name=f"fig{DATA[name].figures[place]}"),
    )
    monkeypatch.setattr(module, "unfairness_figure", lambda _, measure: SimpleNamespace(name=measure))
    some = {name: whole[0][name] for name in ("lsac-income", "lsac-gender")}
    order = ["fig5.3", "fig5.4", "fig5.7", "fig5.8"]

    assert [chart.name for chart in module.draw_figures(Evidence(some))] == order
    both = module.draw_figures(Evidence(some, None, whole[1]))
    assert [chart.name for chart in both] == [*order, "sp_gap", "eo_gap"]


def test_epsilons_are_those_of_the_figures():
    """Nine of them."""
    assert len(EPSILONS) == 9
    assert np.isclose(float(EPSILONS[0]), 0.05)
