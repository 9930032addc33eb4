"""The three answers of a study of releases: who suffers, who is miscounted, and what to publish with."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.study.page.page import answers, page_of
from evenhand.study.plan.cells import Setting
from evenhand.study.results.results import Results
from evenhand.study.tasks import release
from evenhand.study.tasks.release.reading import ReleaseReading
from unit.study._page_studies import section
from unit.study._release_studies import MEN, ONE, WOMEN, by_name, made

EXACT = {"error_exact": True}
EMPTY = {"suppression": {"delta": 1.0}, "noisy-suppression": {"delta": 0.6}}


def test_noise_that_is_the_same_everywhere_hurts_small_cells_most():
    said = answers(made(by_name({**EMPTY, "laplace": EXACT}), noise=0.0))[0]

    assert said.finding == "Noise is the same everywhere, so small cells suffer most."
    assert "A cell is off by 2.00 people on average" in said.evidence
    assert "(Laplace noise at ε = 1, exact)" in said.evidence


def test_sampled_errors_are_not_said_to_be_the_same():
    """The twin: means of a few draws that do not clearly differ may differ."""
    said = answers(made(by_name(EMPTY), noise=0.1))[0]

    assert said.finding != "Noise is the same everywhere, so small cells suffer most."
    assert said.finding.endswith("so small ones suffer most.")


def test_an_exact_release_loses_nobody_and_says_how_much_one_varies():
    said = answers(made(by_name(EMPTY, lost=(-0.2, 0.1), expected=0.0), noise=0.0))[1]

    assert said.finding == (
        "No group gains or loses people on average; in one release the count of women varies by 2.0%."
    )
    assert said.evidence.startswith("(One standard deviation; Laplace noise at ε = 1, exact.)")


@pytest.mark.parametrize(("share", "named"), [(-0.05, True), (-0.002, False)])
def test_another_mechanism_is_named_where_it_miscounts_by_a_percent(share, named):
    """Two in a thousand is no finding, however clear it is."""
    table = {"thresholded-laplace": {"lost": (share, 0.0), "expected": share}}
    said = answers(made(by_name(table), grid=["laplace", "thresholded-laplace"], noise=0.0))[1]

    assert ("With Threshold after noise" in said.evidence) is named


def test_only_cells_are_off():
    """A word that is a mean error here, a standard deviation there and a bias elsewhere misleads."""
    sentences = Path(release.__file__).with_name("sentences") / "en.toml"
    off = [line for line in sentences.read_text(encoding="utf-8").splitlines() if re.search(r"\boff\b", line)]

    assert [
        line for line in off if not re.search(r"[Cc]ells? |their size|counts are|the bias off", line)
    ] == []


def test_people_who_do_not_state_their_group_are_in_the_table():
    """333 people in one line and 344 in another are the same people, counted twice."""
    results = made(by_name({}), noise=0.0)
    facts = replace(results.facts, rows=results.facts.rows + 40)
    schema = facts.schema.with_columns(replace(facts.schema["sex"], nulls="other"))
    told = Results(results.plan, replace(facts, schema=schema), results.outcomes)

    assert told.facts.not_stated == 40
    counted = ReleaseReading.of(results).people
    assert ReleaseReading.of(told).people == round(counted * (1 + 40 / sum(facts.sizes)))


def test_suppression_is_not_said_to_publish_more_people():
    """It publishes blanks: what they are read as makes the difference."""
    results = made(by_name({}, lost=(0.2, 0.1), delta=1.0), grid=["suppression"], noise=0.0)
    said = answers(results)

    assert not any("publishes" in each for each in said)
    assert any(each.finding.startswith("Reading blanks as half of the threshold, ") for each in said)


@pytest.mark.figures
def test_a_group_of_few_people_never_carries_the_head():
    """Of six people one more or less is a sixth."""
    results = made(by_name(EMPTY, lost=(0.9, -0.1)), noise=0.0)
    small = made(by_name(EMPTY, lost=(0.9, -0.1)), noise=0.0, counted=(6.0, 900.0))

    assert "women" in answers(results)[1].finding
    assert answers(small)[1].finding == "The count of men is 10.0% too low."
    assert "Too few people to say more: women (6 people, counted as 11 on average)." in answers(small)[1]
    assert WOMEN not in " ".join(number.label for number in page_of(small).numbers)


def test_a_difference_too_small_to_matter_does_not_choose():
    """Of 1.8 and 1.9 people a cell nobody gains, and the later one of the plan loses people."""
    both = ["laplace", "thresholded-laplace"]

    def chosen(first, later):
        errors = {"laplace": {"error": first}, "thresholded-laplace": {"error": later}}
        given = by_name(errors, error_exact=True)
        return ReleaseReading.of(made(given, grid=both, noise=0.0)).chosen.mechanism

    assert chosen(1.9, 1.8) == "laplace"
    assert chosen(1.9, 1.2) == "thresholded-laplace"
    assert chosen(31.0, 30.0) == "laplace"


# --- what to publish with -------------------------------------------------------------------------


def test_what_to_publish_with_and_what_gives_no_guarantee():
    said = answers(made(by_name(EMPTY), noise=0.0))[2]

    assert said.finding == (
        "Publish with Laplace noise at ε = 1; Noisy suppression and Suppression give no meaningful guarantee."
    )
    assert said.evidence.endswith(
        "Without a guarantee: Noisy suppression with δ = 0.600 and Suppression with δ = 1.000."
    )
    assert said.action == ""  # it stands below, with the folder in which it is typed


def test_nothing_is_recommended_that_gives_no_guarantee():
    """The twin: and then that comes first."""
    said = answers(made(by_name({"laplace": {"delta": 0.01}, **EMPTY}), noise=0.0))[0]

    assert said.finding == "Publish none of these tables: no tested mechanism gives a meaningful guarantee."
    assert said.action.startswith("evenhand audit --plan plan.toml ")
    assert "--mechanism laplace,thresholded-laplace" in said.action


@pytest.mark.parametrize(
    ("error", "rest"),
    [
        (1.0, " to miscount no group, or with Threshold after noise for smaller errors."),
        (2.0, ": unlike Threshold after noise, it miscounts no group."),
    ],
)
def test_the_fairer_mechanism_comes_first_with_what_it_costs(error, rest):
    table = {"thresholded-laplace": {"lost": (-0.1, 0.0), "error": error, **EXACT}, "laplace": EXACT}
    results = made(by_name(table), grid=["thresholded-laplace", "laplace"], noise=0.0)
    said = answers(results)[2]

    assert said.finding == f"Publish with Laplace noise at ε = 1{rest}"
    assert "--mechanism laplace" in results.next_command("people.csv")
    assert f"by {error:.2f} with Threshold after noise" in said.evidence


@pytest.mark.figures
def test_what_each_mechanism_costs_whom_is_set_side_by_side():
    table = {"thresholded-laplace": {"lost": (-0.1, 0.0), "error": 1.0}}
    page = page_of(made(by_name(table), grid=["thresholded-laplace", "laplace"], noise=0.0))
    fairer = section(page, "fairer")

    assert [row[0] for row in fairer.tables[0].rows] == [
        "Threshold after noise (threshold 6)",
        "Laplace noise",
    ]
    assert [row[3] for row in fairer.tables[0].rows] == ["**−10.0**", "0.0"]
    assert (
        fairer.heading
        == "Laplace noise miscounts no group; Threshold after noise changes the count of women by −10.0%"
    )
    assert (WOMEN, MEN) == ("women", "men")


def test_the_command_says_everything_that_was_tested():
    grid = [{"name": "thresholded-laplace", "threshold": 8}]
    task = {"unit": "add or remove one", "bound": 500, "post": ["integral"]}
    typed = made(by_name({}), grid=grid, classify=False, **task).next_command("people.csv")

    assert shlex.split(typed) == [
        "evenhand", "release", "people.csv", "--schema", "schema.toml", "--columns", "sex,job,hired",
        "--quasi", "sex", "--mechanism", "thresholded-laplace", "--epsilon", "1", "--threshold", "8",
        "--unit", "add or remove one", "--bound", "500", "--post", "integral",
        "--out", "people-thresholded-laplace.csv",
    ]  # fmt: skip


def test_one_repeat_of_sampled_errors_cannot_choose():
    options = {"grid": ["laplace", "thresholded-laplace"], "repeats": 1, "classify": False, "noise": 0.0}
    several, exact = made(by_name({}), **options), made(by_name({}, **EXACT), **options)

    assert answers(several)[2].finding == "Run more repeats before choosing."
    assert answers(exact)[2].finding.startswith("Publish with Laplace noise")


@pytest.mark.figures
def test_steps_after_the_release_are_compared_on_the_same_rows():
    """To set negative counts to zero is a choice, and it has a price."""

    def given(setting):
        return by_name({"laplace": {"lost": (0.2, 0.0)} if "post" in setting.options else {}})(setting)

    results = made(given, grid=["laplace"], noise=0.0, compare_post=["nonnegative"], classify=False)
    rows = section(page_of(results), "fairer").tables[0].rows

    assert ReleaseReading.of(results).chosen == Setting("laplace", ONE)
    assert [row[0] for row in rows] == ["Laplace noise", "Laplace noise (negatives set to 0)"]
    assert [row[3] for row in rows] == ["0.0", "**+20.0**"]


def test_every_finding_of_the_catalogue_can_be_read_in_the_golden_file():
    """A sentence that nobody reads is stiff or wrong."""
    sentences = ReleaseReading.of(made(by_name({}))).sentences.templates
    text = (Path(__file__).parents[4] / "golden" / "answers_release.md").read_text(encoding="utf-8")
    findings = {key: each for key, each in sentences.items() if key.endswith(".finding")}
    own = {key: each for key, each in findings.items() if key.split(".")[0] in {"error", "lost", "choice"}}
    patterns = {key: re.sub(r"\\{.*?\\}", ".+", re.escape(each)) for key, each in own.items()}

    assert len(own) > 30
    assert [key for key, pattern in patterns.items() if not re.search(pattern, text, re.IGNORECASE)] == []
