"""makhlouf2024: the published runs beside ours, tables and figures."""

import numpy as np
import pytest

from evenhand.papers.claims import Evidence
from evenhand.papers.makhlouf2024 import PAPER, build_tables, load_published
from evenhand.papers.makhlouf2024.checks import setting_of
from evenhand.papers.makhlouf2024.plans import ADULT, COMPAS, FIGURE_4, NAMES, PRECISION, plan_for
from evenhand.papers.published import Published
from evenhand.papers.tables import COLUMNS
from evenhand.study.plan.cells import Setting
from evenhand.study.results.results import Results
from unit.papers._made_up_groups import made


def rates(name, setting, group):
    """Return rates that depend on everything, so that a mix-up shows."""
    step = (
        0.0
        if setting.epsilon is None
        else 0.01 * len(setting.option("strategy")) / float(setting.epsilon + 1)
    )
    kinds = ("selection", "tpr", "fpr", "accuracy", "precision", "base_rate")
    return {kind: 0.3 + 0.05 * place + 0.1 * group + step for place, kind in enumerate(kinds)}


# --- the authors' table ---------------------------------------------------------------------------


@pytest.fixture(scope="module", name="authors")
def _authors():
    found = load_published()
    if found is None:
        pytest.skip("the published table is not on this machine")
    return found


def test_the_published_runs_are_those_of_the_plans(authors):
    """A setting under another name would never be compared."""
    known = {each.id for each in plan_for(COMPAS[0]).settings()}

    assert {key[0] for key in authors.runs_of} == set(COMPAS)
    assert {key[1] for key in authors.runs_of} == known
    assert {key[2] for key in authors.runs_of} == set(NAMES)
    assert all(np.isfinite(runs).all() and len(runs) == 20 for runs in authors.runs_of.values())
    assert not authors.same_seeds


def test_the_published_means_are_those_that_the_paper_quotes(authors):
    """0.23 to 0.15 and 0 on Compas above 1; the quotes at epsilon 4 are looser than their digits."""

    def mean(name, setting, measure):
        return authors.runs(name, setting, measure).mean()

    assert mean(COMPAS[0], Setting(), "spd") == pytest.approx(-0.236, abs=0.001)
    assert mean(COMPAS[0], setting_of("single", "0.1"), "spd") == pytest.approx(-0.158, abs=0.001)
    assert mean(COMPAS[0], setting_of("combined", "0.1"), "spd") == pytest.approx(0, abs=0.005)
    assert mean(COMPAS[1], setting_of("independent", 4), "eod") == pytest.approx(-0.073, abs=0.001)
    assert mean(COMPAS[1], setting_of("combined", 4), "eod") == pytest.approx(-0.267, abs=0.001)


def test_published_disparities_are_group_1_minus_group_0(authors):
    """A swapped sign would make every comparison differ, or agree by chance."""
    pairs = {"spd": "selection", "eod": "tpr", "ped": "fpr", "oad": "accuracy", "prd": "precision"}
    for (study, setting, measure), runs in authors.runs_of.items():
        if measure in pairs:
            parts = [authors.runs_of[study, setting, f"{pairs[measure]}_{group}"] for group in (0, 1)]

            np.testing.assert_allclose(runs, parts[1] - parts[0], atol=1e-9)


def test_published_rates_of_the_last_fold_scatter_more(authors):
    """EO and PE come from one fold of ten; their spread, which sets the tolerance, must say so."""
    spread = {
        measure: np.mean(
            [authors.spread(COMPAS[1], each, measure) for each in plan_for(COMPAS[1]).settings()]
        )
        for measure in ("eod", "ped", "spd")
    }

    assert min(spread["eod"], spread["ped"]) > 2 * spread["spd"]


def test_without_the_file_nothing_is_published(monkeypatch, tmp_path):
    """Most people do not have it; then means cannot be checked and everything else can."""
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))

    assert load_published() is None


# --- verdicts and tables --------------------------------------------------------------------------


def tabled(results, name, known):
    """Return the table of one study."""
    return build_tables(Evidence({name: results}, known))[name]


def as_published(results, name, *, shift=0.0, precision=0.0):
    """Return our own runs as if they were the authors', moved by so much."""
    runs = {}
    for setting in results.settings:
        place = results.place(setting)
        for measure in NAMES:
            if measure in results.arrays.measures:
                found = results.arrays.of_measures[place, :, results.arrays.measures.index(measure)]
            else:
                rate, _, group = measure.partition("_")
                found = results.arrays.of_groups[place, :, int(group), results.arrays.rates.index(rate)]
            runs[name, setting.id, measure] = found + (precision if measure in PRECISION else shift)
    return Published(runs, same_seeds=False)


@pytest.mark.parametrize(("shift", "precision"), [(0.0, 0.0), (0.2, 0.0), (0.0, 0.2)])
def test_the_published_table_decides_on_compas(shift, precision):
    """At least 95 of 100 means, those of precision apart from the others."""
    results = made(COMPAS[1], rates)
    known = as_published(results, COMPAS[1], shift=shift, precision=precision)
    found = {claim.id: claim.judge(Evidence({COMPAS[1]: results}, known)).verdict for claim in PAPER.claims}

    assert found["published-compas-3"] == ("contradicted" if shift else "agrees")
    assert found["published-precision-compas-3"] == ("contradicted" if precision else "agrees")


def test_the_table_has_every_setting_measure_and_group_rate():
    """One row each, ours beside the published mean, with the columns that all papers share."""
    results = made(COMPAS[1], rates, repeats=3, epsilons=("4",))
    table = tabled(results, COMPAS[1], as_published(results, COMPAS[1], shift=0.2))
    rows = {
        (table["strategy"][row], table["measure"][row]): (table["ours"][row], table["paper"][row])
        for row in range(len(table["table"]))
    }

    assert tuple(table) == COLUMNS
    assert len(rows) == len(table["table"]) == 4 * len(NAMES)
    ours, paper = rows["single", "tpr_1"]
    assert ours == pytest.approx(0.3 + 0.05 + 0.1 + 0.01 * 6 / 5, abs=0.02)
    assert paper - ours == pytest.approx(0.2, abs=1e-5)
    assert set(table["verdict"]) == {"agrees", "contradicted", "cannot tell apart"}
    notes = dict(zip(table["measure"], table["note"], strict=True))
    assert "last fold" in notes["eod"]
    assert "count it as 0" in notes["prd"]


def test_what_is_undefined_or_not_published_has_no_verdict():
    """A precision without positive predictions has no row; other data sets have no published runs."""

    def undefined(name, setting, group):
        return {**rates(name, setting, group), "precision": np.nan}

    table = tabled(made(ADULT[0], undefined, repeats=2, epsilons=("4",)), ADULT[0], None)

    assert not set(PRECISION) & set(table["measure"])
    assert set(table["verdict"]) == {"cannot be checked"}
    assert set(table["note"]) == {"no published runs"}


def test_every_study_has_a_table_and_its_figures(monkeypatch):
    """What was run must be in the documentation, under the paper's numbers, in the groups' own names."""
    monkeypatch.setattr("evenhand.report.charts.curves._measure_picture", lambda *_: "")
    evidence = Evidence(
        {name: made(name, rates, repeats=2, epsilons=("4", "1")) for name in (COMPAS[0], COMPAS[1], ADULT[1])}
    )
    found = PAPER.figures(evidence)

    assert set(PAPER.tables(evidence)) == set(evidence.studies)
    names = ["fig8-compas-1", "fig8-compas-3", "fig5-adult-27260", "fig4-compas-3", "fig4-adult-27260"]
    assert [each.name for each in found] == names
    assert "8 and 3b" in found[0].caption
    assert all(each.columns == 5 for each in found)
    panels = [set(zip(each.data["row"], each.data["measure"], strict=True)) for each in found]
    assert [len(drawn) for drawn in panels] == [15, 15, 15, 5, 5]
    lines = [list(dict.fromkeys(each.data["line"])) for each in found]
    assert lines[0] == ["0", "1", "unprotected"]
    at = found[0].data["line"].index("unprotected")
    assert found[0].data["high"][at] - found[0].data["low"][at] == pytest.approx(0.1, abs=0.01)
    assert lines[3][:2] == ["combLDP", "indLDP"]
    assert FIGURE_4[1:] == (COMPAS[1], ADULT[1])


def test_a_caption_tells_the_repeats_that_are_finished(monkeypatch):
    """A plan of 20 repeats of which 5 were run is no figure of 20."""
    monkeypatch.setattr("evenhand.report.charts.curves._measure_picture", lambda *_: "")
    whole = made(COMPAS[1], rates, repeats=3, epsilons=("4", "1"))
    kept = [each for each in whole.outcomes if each.cell.repeat < 2 and each.cell.setting.epsilon != 1]
    part = Results(whole.plan, whole.facts, kept)

    captions = [each.caption for each in PAPER.figures(Evidence({COMPAS[1]: part}))]

    assert [", 2 repeats" in caption for caption in captions] == [True, True]
