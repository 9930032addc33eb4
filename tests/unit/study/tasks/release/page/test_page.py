"""What a report on releases says: only what its intervals bear, and delta before everything."""

import functools
import re
from html.parser import HTMLParser

import pytest

from evenhand._notes import Note
from evenhand.errors import InvalidParameterError
from evenhand.report.html import render
from evenhand.study.page.page import answers, page_of
from evenhand.study.page.wording import delta_text
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import Estimated
from evenhand.study.tasks.release.page.errors import _alpha_heading, _alpha_source
from evenhand.study.tasks.release.page.groups import _accuracy_heading, groups_section
from evenhand.study.tasks.release.page.groups import _heading as _groups_heading
from evenhand.study.tasks.release.page.page import ReleasePage
from evenhand.study.tasks.release.page.tables import promise_heading
from evenhand.study.tasks.release.reading import ReleaseReading
from evenhand.study.tasks.release.wording import promise, share_size, share_text, tone_of
from evenhand.study.tasks.shared.wording import mechanism_name
from unit.study._page_studies import headline, section
from unit.study._release_studies import MEN, ONE, PROMISES, WOMEN, by_name, made, study

pytestmark = pytest.mark.figures

NEVER = re.compile(
    r"\b(?:[Ss]afe|(?<!k-)[Aa]nonym\w*|[Ss]ignifican\w*|[Uu]nbiased|nan|inf|None|users?)\b|!|±|(?<![e^\w])-\d"
)


@functools.cache
def usual():
    """Return the page of the usual study, drawn once."""
    return page_of(study())


# --- which mechanism --------------------------------------------------------------------------------


def test_the_page_is_about_a_mechanism_that_promises_something():
    """A table that protects nobody must not be held up for its small error."""
    results = study({"suppression": {"delta": 1.0, "error": 0.01}, "laplace": {"error": 5.0}})

    assert ReleaseReading.of(results).chosen == Setting("laplace", ONE)


def test_of_two_with_a_promise_the_clearly_better_one_is_taken():
    better = study({"noisy-suppression": {"delta": 0.0, "error": 1.0}, "laplace": {"error": 5.0}})
    same = study({"noisy-suppression": {"delta": 0.0, "error": 2.0}, "laplace": {"error": 2.0}})

    assert ReleaseReading.of(better).chosen.mechanism == "noisy-suppression"
    assert ReleaseReading.of(same).chosen.mechanism == "laplace"


def test_if_nothing_promises_anything_there_is_still_a_page():
    results = study({"laplace": {"delta": 0.5}})

    assert promise_heading(ReleaseReading.of(results)).startswith(
        "none of the 3 mechanisms promises anything"
    )
    assert headline(answers(results)[0]).startswith("Publish none of these tables")


def test_a_setting_may_be_asked_for():
    said = answers(study(), chosen="suppression")

    assert "Suppression (threshold 6)" in said[1]
    with pytest.raises(InvalidParameterError, match="chosen"):
        page_of(study(), chosen="unprotected")


def test_mechanisms_are_set_side_by_side_at_the_epsilon_nearest_to_one():
    reading = ReleaseReading.of(study(epsilons=("1/2", 4)))

    assert {each.epsilon for each in reading.beside} == {None, ONE / 2}


# --- the page ---------------------------------------------------------------------------------------


def test_delta_stands_first_and_sorts_the_table():
    """Whoever reads the error first chooses a table that protects nobody."""
    table = section(usual(), "promise").tables[0]
    deltas = list(table.data["delta"])

    assert table.header[0].startswith("δ")
    assert deltas == sorted(deltas)
    assert [row[0] for row in table.rows] == ["**0**", "**0.600**", "**1.000**"]


def test_a_delta_of_one_percent_is_no_meaningful_guarantee():
    """At and above 0.01 the words are the same wherever the mechanism appears."""
    results = study({"laplace": {"delta": 0.01}, "noisy-suppression": {"delta": 0.00999}})
    page = page_of(results)
    table = section(page, "promise").tables[0]
    rows = {row[2].partition("\n")[0]: (row[1], table.tags[place, 1]) for place, row in enumerate(table.rows)}

    assert rows["Laplace noise"] == ("no meaningful guarantee", "bad")
    assert rows["Noisy suppression (noise on the count, threshold 6)"][1] == "warn"
    assert "no meaningful guarantee" in section(page, "sizes").charts[0].wide
    assert "no meaningful guarantee" in section(page, "groups").charts[0].wide


def test_the_page_says_first_that_it_is_not_for_publication():
    page = usual()

    assert page.notes[0].tone == "warn"
    assert page.notes[0].text.startswith("**Computed from the true data, not for publication.**")


@pytest.mark.parametrize("classify", [True, False])
def test_every_figure_has_its_numbers_and_a_sentence(classify):
    """A picture that cannot be heard or recomputed is not evidence."""
    page = page_of(study(classify=classify, post=["nonnegative"]))
    anchors = [each.anchor for each in page.sections]
    model = ["accuracy"] if classify else []
    charts = [chart for each in page.sections for chart in each.charts]
    tables = [table for each in page.sections for table in each.tables]

    assert anchors == ["promise", "fairer", "sizes", "alpha", "groups", *model, "numbers"]
    assert all(chart.data and chart.alt and chart.caption.startswith("**") for chart in charts)
    assert all(table.data and table.name for table in tables)
    assert len({len(values) for values in tables[-1].data.values()}) == 1
    assert len(next(iter(tables[-1].data.values()))) == 10 * (1 + 2 + 1 + 2)


@pytest.mark.parametrize(("repeats", "lost", "exact"), [(1, (0.0, 0.0), True), (3, (-0.3, 3.0), False)])
def test_no_page_says_what_no_page_may_say(repeats, lost, exact):
    """Words such as "safe", values that are not numbers, and minus signs that are hyphens."""
    page = page_of(study(lost=lost, repeats=repeats, noise=0.4, exact=exact, post=["nonnegative"]))
    text = render(page)
    words = _visible(text)

    assert not NEVER.search(words), NEVER.search(words)
    assert ("sampled" in words) == (not exact)


class _Words(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.hidden = [], 0

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in {"style", "svg"}

    def handle_endtag(self, tag):
        self.hidden -= tag in {"style", "svg"}

    def handle_data(self, data):
        if not self.hidden:
            self.found.append(data)


def _visible(text):
    reader = _Words()
    reader.feed(text)
    return " ".join(reader.found)


def test_pictures_of_one_repeat_speak_of_no_interval():
    page = page_of(study(repeats=1, classify=True))
    captions = {chart.name: chart.caption for each in page.sections for chart in each.charts}

    for name in ("people-by-group", "accuracy", "error-by-cell-size"):
        assert re.match(
            r"\*\*[^*]*one repeat, so there are no intervals\.\*\*", captions[name], re.IGNORECASE
        )
        assert "95% interval" not in captions[name]


def test_failures_and_missing_cells_are_told():
    told = ReleasePage.of(study(failures=(1, 2))).notes()

    assert any("**2 of 60 runs failed.**" in note.text for note in told)


def test_a_study_in_which_everything_failed_has_a_page():
    """The page is where a person looks for why."""
    page = page_of(study(failures=range(99)))

    assert "60 of 60 runs failed" in " ".join(page.answers)
    assert render(page)


def test_large_epsilons_and_leaks_are_warned_of():
    leak = "The domains were read from the rows, and that is a leak."
    told = " ".join(
        note.text for note in ReleasePage.of(study(epsilons=(1, 20), notes=(Note("privacy", leak),))).notes()
    )

    assert "ε above 10" in told
    assert "leak" in told


def test_labels_from_the_data_cannot_break_the_page():
    groups = ("**a**", "<script>alert(1)</script>", "漢字" * 40)
    given = by_name(PROMISES, lost=(-0.1, 0.2, 0.0))
    text = render(page_of(made(given, groups=groups)))

    assert "<script>alert" not in text


# --- headings ---------------------------------------------------------------------------------------


def alphas(**of):
    return study({name.replace("_", "-"): {"delta": 0.0, "alpha": value} for name, value in of.items()})


def test_the_heading_on_alpha_follows_the_numbers():
    heads = [
        _alpha_heading(ReleaseReading.of(results))
        for results in (
            alphas(laplace=0.0, suppression=0.0, noisy_suppression=0.0),
            alphas(laplace=0.5, suppression=5.0, noisy_suppression=3.0),
            alphas(laplace=2.0, suppression=5.0, noisy_suppression=3.0),
            study(failures=range(99)),
            alphas(laplace=0.0, suppression=0.0, noisy_suppression=1e-9),
        )
    ]

    assert heads[0] == "No mechanism favours any cell on average"
    assert heads[1].startswith("Suppression (threshold 6) favours some cells over others by up to 5.0")
    assert heads[1].endswith("1 of 3 mechanisms by less than one")
    assert heads[2].startswith("The bias of cells differs by up to 5.0 people")
    assert heads[3] == "No α is known"
    assert heads[4] == "No mechanism favours any cell by as much as 0.05 people on average"


def test_where_alpha_comes_from_is_said():
    exact, sampled = ReleaseReading.of(study()), ReleaseReading.of(study(exact=False))

    assert _alpha_source(exact).startswith("Exact from formulas")
    assert _alpha_source(sampled).startswith("Sampled")


def test_the_heading_on_groups_follows_the_numbers():
    """A heading is read alone."""
    names = ("lost", "gained", "both", "nobody", "other")
    studies = {
        "lost": study(lost=(-0.2, 0.0), noise=0.05),
        "gained": study(lost=(0.2, 0.0), noise=0.05),
        "both": study(lost=(-0.2, 0.1), noise=0.05),
        "nobody": study(lost=(0.0, 0.0), noise=1.0, repeats=1),
        "other": study({"suppression": {"delta": 1.0, "lost": (-0.4, 0.0)}}, noise=0.1, repeats=5),
    }
    lost, gained, both, nobody, other = (_groups_heading(ReleaseReading.of(studies[name])) for name in names)

    assert lost == "Under Laplace noise the count is too low of women"
    assert gained == "Under Laplace noise the count is too high of women"
    assert both == "Under Laplace noise the count is too low of women and too high of men"
    assert nobody == "No group clearly gains or loses people under Laplace noise"
    assert "Suppression (threshold 6) changes the count of women by −39.8%" in other


def test_a_mechanism_that_is_furthest_off_is_one_of_many_and_so_must_be_very_clearly_off():
    """Among many mechanisms and groups one is clearly off by chance."""
    results = study({"suppression": {"delta": 1.0, "lost": (-0.02, 0.0)}}, noise=0.29, repeats=5)
    reading = ReleaseReading.of(results)
    suppressed = next(each for each in reading.beside if each.mechanism == "suppression")

    assert reading.lost(WOMEN, suppressed).is_clear
    assert _groups_heading(reading).endswith("people under Laplace noise")


def test_that_clipping_adds_people_is_said_only_where_it_does():
    """Without noise nothing is below zero, and a total that is kept adds nobody."""
    noisy = ReleaseReading.of(study(post=["nonnegative"]))
    plain = ReleaseReading.of(study(post=["integral"]))
    still = ReleaseReading.of(study(post=["nonnegative"], grid=[{"name": "suppression", "threshold": 6}]))
    kept = ReleaseReading.of(study(post=["nonnegative_sum_to=500"]))
    after = ReleaseReading.of(study(post=["nonnegative", "sum_to=500"]))

    assert [len(groups_section(each).notes) for each in (noisy, plain, still, kept, after)] == [1, 0, 0, 0, 0]


def test_the_heading_on_accuracy_follows_the_numbers():
    worse = study({"laplace": {"accuracy": 0.6}}, noise=0.1)
    same = study({"laplace": {"accuracy": 0.8}}, noise=5.0)
    none = study(failures=range(99))

    assert _accuracy_heading(ReleaseReading.of(worse)).startswith("A model learns less from Laplace noise")
    assert "does not differ clearly" in _accuracy_heading(ReleaseReading.of(same))
    assert _accuracy_heading(ReleaseReading.of(none)).startswith("No model could be trained")


def test_method_and_limits_say_what_was_done():
    small = ReleasePage.of(study(grid=["generalized-sampling"], classify=False, bound=9)).limits()
    said = " ".join(ReleasePage.of(study(grid=["generalized-sampling"], bound=9, post="integral")).method())

    assert "divided by its rate" in said
    assert "bounded by 9" in said
    assert "They cover what is drawn" in " ".join(small)


# --- words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delta", "shown"),
    [
        (0.0, "0"),
        (1.0, "1.000"),
        (0.9996, "1.000"),
        (0.0123, "0.013"),
        (0.001, "0.001"),
        (9.96e-4, "1.0 × 10⁻³"),
        (2.3e-5, "2.3 × 10⁻⁵"),
        (1.1e-300, "1.1 × 10⁻³⁰⁰"),
        (float("nan"), "unknown"),
    ],
)
def test_delta_is_never_shown_smaller_than_it_is(delta, shown):
    assert delta_text(delta).replace("\u00a0", " ") == shown


def test_a_delta_that_lets_a_random_row_out_is_weak():
    assert [tone_of(each, people=100) for each in (0, 0.0099, 0.01, float("nan"))] == [
        "ok",
        "ok",
        "bad",
        "bad",
    ]
    weak = ReleaseReading.of(study({"laplace": {"delta": 0.002}}))
    assert promise(weak, weak.chosen).startswith("weak")


def test_mechanisms_that_differ_never_read_the_same():
    several = [
        Setting("suppression", options={"threshold": 5}),
        Setting("suppression", options={"threshold": 6}),
        Setting("noisy-suppression", ONE, options={"threshold": 5, "noise": "count"}),
        Setting("noisy-suppression", ONE, options={"threshold": 5, "noise": "threshold"}),
        Setting("swapping", options={"fraction": 0.1, "pairing": "nearest"}),
        Setting("swapping", options={"fraction": 0.1, "pairing": "discrepancy"}),
        Setting("discrete-gaussian", ONE, options={"delta": 1e-6}),
        Setting("discrete-gaussian", ONE, options={"delta": 1e-9}),
        Setting("discrete-gaussian", options={"rho": "1/10"}),
        Setting("example", options={"strict": True, "loose": False}),
        Setting(),
    ]

    assert len({mechanism_name(each) for each in several}) == len(several)


def test_shares_are_worded_with_their_interval():
    assert share_text(Estimated(0.0, -0.01, 0.01)) == "0.0% (−1.0 to +1.0)"
    assert share_text(Estimated(float("nan"))) == "undefined"
    assert share_text(Estimated(0.5)) == "+50.0%"
    assert share_text(Estimated(0.0004, 0.0003, 0.0005)) == "+0.04% (+0.03 to +0.05)"
    assert share_size(Estimated(-0.5, -0.6, -0.4)) == "50.0%"
    assert (WOMEN, MEN) == ("women", "men")
