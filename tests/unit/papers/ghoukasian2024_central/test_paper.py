"""ghoukasian2024, chapter 3: every claim of section 3.5 sees what is planted in its runs."""

import csv

import numpy as np
import pytest

from evenhand.papers.claims import Checked, Evidence, judge_claims
from evenhand.papers.ghoukasian2024_central import PAPER
from evenhand.papers.ghoukasian2024_central import checks as readings_of
from evenhand.papers.ghoukasian2024_central.accounting import (
    ACCOUNTING,
    AS_PRINTED,
    CLEAN,
    TABLES,
    TWICE,
    readings,
)
from evenhand.papers.ghoukasian2024_central.training import FILES, FIRST, RANDOM, ZERO, training_name
from evenhand.papers.paper import DESIGNS
from evenhand.papers.reproduction import build_reproduction
from evenhand.papers.tables import COLUMNS

SECTION = PAPER.claims[16:]  # after those of sections 3.2 to 3.4
READING = readings_of.Reading("adult", "men")


def runs(file, number=5, change=lambda *_: (0.0, 0.0), longest=9.0):
    """Return records whose numbers are the printed ones, changed by reading and line, with a small spread."""
    found = {}
    for run in range(number):
        wiggle = 0.0001 * (run - (number - 1) / 2)
        tables = {}
        for name, table in TABLES.items():
            if table.dataset != FILES[file].dataset:
                continue
            tables[name] = {}
            for first in FIRST:
                numbers = {}
                for line in table.lines:
                    more = change(file, first, name, line.strength)
                    numbers[line.strength] = {
                        "acc": line.acc + more[0] + wiggle, "gap": line.gap + more[1] + wiggle,
                        "men": 0.1, "women": 0.2, "longest": longest, "beyond": 0.01,
                    }  # fmt: skip
                own = numbers.pop("")
                before = {**own, "acc": own["acc"] + 0.03, "gap": 0.15}
                tables[name][first] = {
                    RANDOM: {"before": before, "after": own},
                    ZERO: {"before": before, "after": before},
                    "fermi": {"noise": [1.0, 1.0], "lambdas": numbers},
                }
        inputs = FILES[file].inputs
        found[run] = {
            "inputs": inputs,
            "rows": 10,
            "majority": 0.78,
            "test": [7_600, 3_700],
            "tables": tables,
        }
    return found


def accounts(*, above=False):
    """Return records of the accounting: within what is claimed, or above it for 45,222 rows."""
    found = {}
    for number, (name, table) in enumerate(TABLES.items()):
        told = {}
        for each in readings(table):
            more = 0.5 if each.name.startswith(CLEAN) or above else -0.05
            told[each.name] = {
                "sampling": float(each.sampling), "steps": each.steps,
                "epsilon": table.training_epsilon + more, "replaced": 2 * table.training_epsilon,
                "person": None if table.epsilon == "9" else 7.0,
            }  # fmt: skip
        needed = {AS_PRINTED: table.multiplier * 0.99, readings(table)[1].name: table.multiplier * 1.1}
        found[number] = {
            "table": name, "noise": table.multiplier, "target": table.training_epsilon,
            "readings": told, "needed": needed,
        }  # fmt: skip
    return found


def evidence(files=tuple(FILES), **options):
    return Evidence({}, None, {training_name(name): runs(name, **options) for name in files})


def verdicts(found):
    return {row.id: row.verdict for row in judge_claims(SECTION, found)}


# --- what is printed ------------------------------------------------------------------------------


def test_the_tables_have_every_printed_number():
    """A slip of the pen would be a verdict on a number that nobody printed."""
    lines = [line for table in TABLES.values() for line in table.lines]

    assert [len(table.lines) for table in TABLES.values()] == [6, 6, 6, 6]
    assert sum(line.acc for line in lines) == pytest.approx(18.8326, abs=1e-9)
    assert sum(line.gap for line in lines) == pytest.approx(0.5515, abs=1e-9)
    assert TABLES["table-3.2"].line("1.7") == ("1.7", 0.7782, 0.0121)
    assert TABLES["table-3.3"].line("").method == "Algorithm 2"
    assert TABLES["table-3.1"].line("1.8").method == "DP-FERMI, lambda 1.8"


def test_matched_lambdas_are_printed_lines_of_about_the_same_accuracy():
    """They are what the text compares with Algorithm 2."""
    for table in TABLES.values():
        assert abs(table.line(table.matched).acc - table.line("").acc) < 0.001


@pytest.mark.parametrize("design", DESIGNS)
def test_designs_have_the_trials_that_they_say(design):
    """The sentence on a design counts them."""
    trials = PAPER.trials(design)

    assert f"{sum(each.number for each in trials)} trials" in PAPER.designs[design]
    assert PAPER.studies(design) == ()
    assert max(each.number for each in PAPER.trials("full")) == 10


# --- verdicts -------------------------------------------------------------------------------------


def test_printed_numbers_that_come_out_again_agree():
    """In all readings: both files, both codings."""
    found = verdicts(evidence())
    numbers = [name for name in found if name.endswith(("-acc", "-gap")) and name.startswith("table")]

    assert len(numbers) == 16
    assert {found[name] for name in numbers} == {"agrees"}


def test_numbers_that_are_off_in_every_reading_differ():
    """A tolerance that lets them pass would make agreement worthless."""
    found = verdicts(evidence(change=lambda *_: (0.02, 0.02)))

    assert found["table-3.1-acc"] == found["table-3.4-gap"] == "method unknown"
    assert found["table-3.2-fermi-acc"] == found["table-3.3-fermi-gap"] == "method unknown"
    rows = readings_of.list_readings(evidence(), TABLES["table-3.1"])
    line = TABLES["table-3.1"].line("")
    off = evidence(change=lambda *_: (0.02, 0.02))
    assert readings_of.of_reading(off, "table-3.1", rows[0], line, "acc").verdict == "contradicted"


def test_where_readings_disagree_it_cannot_be_decided_without_the_file():
    """Neither file was seen, so neither may decide."""

    def change(file, first, *_):
        return (0.02, 0.02) if (file, first) == ("adult", "men") else (0.0, 0.0)

    rows = {row.id: row for row in judge_claims(SECTION, evidence(change=change))}

    assert rows["table-3.1-acc"].verdict == rows["table-3.1-fermi-gap"].verdict == "method unknown"
    assert rows["table-3.1-acc"].why.startswith(readings_of.UNDECIDED)
    assert "60,324 rows, men first: agrees." in rows["table-3.1-acc"].why
    assert rows["table-3.3-acc"].verdict == "agrees"


def test_a_single_run_decides_nothing():
    """It has no standard error."""
    found = verdicts(evidence(number=1))

    assert found["table-3.1-acc"] == found["table-3.1-fermi-acc"] == "cannot be checked"


def test_findings_of_the_text_are_those_of_the_printed_numbers():
    """With the printed numbers themselves every comparison of the text must hold."""
    found = verdicts(evidence())

    for name in TABLES:
        assert found[f"{name}-alike"] == found[f"{name}-smaller"] == "agrees"
    assert found["adult-fairer"] == found["credit-fairer"] == "agrees"
    assert found["adult-lambda-acc"] == found["adult-lambda-gap"] == "agrees"


def test_findings_differ_where_algorithm_2_has_the_larger_gap():
    """The headline must be able to fail."""
    found = verdicts(evidence(change=lambda *line: (0.0, 0.0 if line[-1] else 0.2)))

    for name in TABLES:
        assert found[f"{name}-smaller"] == "contradicted"
    assert found["adult-fairer"] == found["credit-fairer"] == "contradicted"


def test_no_lambda_of_that_accuracy_is_no_comparison():
    """Gaps at other accuracies would be no answer to the question."""
    found = verdicts(evidence(change=lambda *line: (0.0 if line[-1] else 0.15, 0.0)))

    assert found["adult-fairer"] == "cannot be checked"
    assert found["table-3.1-alike"] == "contradicted"


def test_gradients_beyond_the_assumed_bound_leave_the_privacy_of_fermi_open():
    """Its noise is for rows of length 5 at most."""
    rows = {row.id: row for row in judge_claims(SECTION, evidence())}

    assert rows["fermi-private"].verdict == "cannot be checked"
    assert "Adult up to 9.0" in rows["fermi-private"].why
    assert verdicts(evidence(longest=4.0))["fermi-private"] == "agrees"


def test_inputs_are_counted():
    """102 and 85, as in the published code."""
    found = verdicts(evidence())

    assert found["adult-inputs"] == found["credit-inputs"] == "agrees"


# --- accounting -----------------------------------------------------------------------------------


def test_accounting_within_the_claim_agrees_and_above_it_differs():
    """For the inputs that the thesis accounted with there is one answer."""
    within = verdicts(Evidence({}, None, {ACCOUNTING: accounts()}))
    above = verdicts(Evidence({}, None, {ACCOUNTING: accounts(above=True)}))

    assert {within[f"{name}-accounted"] for name in TABLES} == {"agrees"}
    assert {above[f"{name}-accounted"] for name in TABLES} == {"contradicted"}
    assert within["table-3.3-private"] == "agrees"
    assert above["table-3.3-private"] == "contradicted"
    assert within["one-record"] == "contradicted"


def test_the_real_rows_of_adult_cannot_be_told():
    """Both readings are shown with their epsilons, and the copies of people."""
    rows = {row.id: row for row in judge_claims(SECTION, Evidence({}, None, {ACCOUNTING: accounts()}))}

    assert rows["table-3.1-private"].verdict == rows["table-3.2-private"].verdict == "method unknown"
    assert "1,150 steps: 3.40, in all 3.50" in rows["table-3.1-private"].why
    assert "at most 7.00" in rows["table-3.1-private"].why
    assert "more than double precision can tell" in rows["table-3.2-private"].why


def test_accounting_of_some_tables_leaves_the_others_open():
    """A run that was stopped has no verdict on what it did not reach."""
    found = verdicts(Evidence({}, None, {ACCOUNTING: {2: accounts()[2]}}))

    assert found["table-3.3-accounted"] == "agrees"
    assert found["table-3.1-accounted"] == found["table-3.1-private"] == "cannot be checked"


# --- readings -------------------------------------------------------------------------------------


def test_one_reading_decides_alone():
    """There is nothing to weigh."""
    alone = Checked("contradicted", "Off by 1.")

    assert readings_of.combine_readings({READING: alone}) is alone


def test_readings_are_those_that_were_run():
    """The quick design leaves the second file out."""
    table = TABLES["table-3.1"]

    assert len(readings_of.list_readings(evidence(), table)) == 4
    assert len(readings_of.list_readings(evidence(files=("adult",)), table)) == 2
    assert {claim.needs for claim in SECTION if claim.id.startswith("table-3.1-fermi")} == {("runs-adult",)}


def test_chance_alone_makes_a_gap():
    """Half a point on test rows of this size: a gap below it is no evidence of anything."""
    found = readings_of.by_chance(evidence(), "table-3.1", READING)
    draw = np.random.default_rng(1)
    rate = (0.1 * 7_600 + 0.2 * 3_700) / 11_300
    drawn = [draw.binomial(size, rate, 20_000) / size for size in (7_600, 3_700)]

    assert found == pytest.approx(np.abs(drawn[0] - drawn[1]).mean(), rel=0.03)


def test_readings_without_a_verdict_are_not_counted_for_either_side():
    """The file is not to blame where the intervals are too wide."""
    other = readings_of.Reading("adult-twice", "men")
    wide, against = Checked("not shown", "Wide."), Checked("contradicted", "No.")

    assert readings_of.combine_readings({READING: against, other: wide}).verdict == "not shown"
    assert readings_of.combine_readings({READING: Checked("agrees", "So."), other: wide}).verdict == (
        "method unknown"
    )


def test_a_number_that_saying_the_same_of_everybody_reaches_tells_nothing():
    """On Credit Card the accuracies are next to the share of the more common label, and the gaps to zero."""
    given = evidence()
    rows = {row.id: row for row in judge_claims(SECTION, given)}
    wide = evidence(change=lambda *_: (0.0, 0.0))
    for records in wide.trials.values():
        for number, record in records.items():
            record["majority"] = 0.7844
            for table in record["tables"].values():
                for first in table.values():
                    first[RANDOM]["after"]["acc"] += 0.002 * (-1) ** number
    found = {row.id: row for row in judge_claims(SECTION, wide)}

    assert rows["table-3.3-acc"].verdict == "agrees"
    assert found["table-3.3-acc"].verdict == "cannot tell apart"
    assert "doing nothing" in found["table-3.3-acc"].why


# --- tables ---------------------------------------------------------------------------------------


def test_every_printed_number_stands_beside_ours(tmp_path):
    """In every reading, with verdict and tolerance; and the files are written as agreed."""
    trials = {**evidence().trials, ACCOUNTING: accounts()}
    found = build_reproduction(PAPER, "reduced", {}, trials=trials)
    found.write(tmp_path)
    table = found.tables["table-3.1"]
    printed = [place for place, paper in enumerate(table["paper"]) if paper is not None]

    assert list(table) == list(COLUMNS)
    assert len(printed) == 6 * 2 * 4
    assert {table["verdict"][place] for place in printed} == {"agrees"}
    assert all("allowed" in table["note"][place] for place in printed)
    assert set(table["measure"]) == {"acc", "sp_gap", "positive rate, men", "positive rate, women"}
    assert "refuse everybody" in table["mechanism"]
    with (tmp_path / "accounting.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["measure"] for row in rows} == {
        "epsilon", "epsilon, replacing", "epsilon, two rows", "noise needed",
    }  # fmt: skip
    assert any(row["strategy"] == TWICE and row["verdict"] == "agrees" for row in rows)


def test_nothing_run_means_nothing_shown():
    """Only what needs no run has a verdict."""
    found = build_reproduction(PAPER, "quick", {})

    assert found.tables == {}
    assert sum(found.counts[each] for each in ("agrees", "contradicted", "slip")) == 8
    assert len({row.id for row in found.claims}) == len(found.claims)


def test_a_run_s_numbers_are_read_by_method_and_stage():
    """A value of the wrong line would be judged as if it were right."""
    found = evidence()
    after = readings_of.runs_of(found, "table-3.1", READING, "", "acc")
    before = readings_of.runs_of(found, "table-3.1", READING, "", "acc", stage="before")
    other = readings_of.runs_of(found, "table-3.1", READING, "", "acc", start=ZERO)

    assert np.allclose(before - after, 0.03)
    assert np.allclose(other, before)
    assert readings_of.runs_of(found, "table-3.1", READING, "2.5", "gap").mean() == pytest.approx(0.0099)
