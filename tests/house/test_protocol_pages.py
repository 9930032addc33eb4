"""Every protocol has a page and a picture, and what the pages say is what the library computes."""

import math
import re
import sys
from xml.etree import ElementTree as ET

import pytest

from evenhand.collect.protocols.registry import PROTOCOLS

COMPARED = {name: made for name, made in PROTOCOLS.items() if name != "optimal"}
"""Those whose law depends on nothing but k and epsilon."""
DOMAINS = (2, 10, 74, 1000)
EPSILONS = (0.05, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8)


@pytest.fixture(scope="module")
def pages(root):
    return {
        name: (root / "docs" / "catalogue" / "protocols" / f"{name}.md").read_text("utf-8")
        for name in PROTOCOLS
    }


@pytest.fixture(scope="module")
def overview(root):
    return (root / "docs" / "catalogue" / "protocols.md").read_text("utf-8")


@pytest.fixture(scope="module")
def charts(root):
    sys.path.insert(0, str(root / "docs" / "_ext"))
    try:
        import protocol_charts
    finally:
        sys.path.pop(0)
    return protocol_charts


def _cells(line):
    return [re.sub(r"\[(\w+)\]\([^)]*\)", r"\1", cell).strip() for cell in line.strip().strip("|").split("|")]


def _last_cell(page, start):
    row = next(line for line in page.splitlines() if line.startswith("|") and start in line.split("|")[1])
    return _cells(row)[-1]


def _three_digits(value):
    digits = 2 - math.floor(math.log10(value))
    return f"{value:.{max(digits, 0)}f}"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_has_a_page_with_its_picture_in_the_contents(pages, overview, name):
    """A protocol that is not explained cannot be chosen knowingly."""
    contents = overview.split("```{toctree}")[1].split("```")[0]

    assert f"protocols/{name}" in contents.split()
    assert f"```{{protocol-picture}} {name}\n```" in pages[name]
    assert ">>> " in pages[name]
    assert "## References" in pages[name]


@pytest.mark.parametrize("name", COMPARED)
def test_the_law_on_a_page_is_the_law_of_the_protocol(pages, name):
    """A reader who plans a survey from the page must not be misled."""
    protocol = PROTOCOLS[name](k=12, epsilon=1)
    page = pages[name]

    assert float(_last_cell(page, "supports the true value")) == pytest.approx(protocol.p, abs=0.0005)
    assert float(_last_cell(page, "supports another given value")) == pytest.approx(protocol.q, abs=0.0005)
    assert float(_last_cell(page, "worst ratio")) == pytest.approx(float(protocol.worst_ratio), abs=0.0005)
    assert float(_last_cell(page, "exact epsilon")) == pytest.approx(
        float(protocol.realised_epsilon), abs=0.0005
    )
    assert _last_cell(page, "variance") == _three_digits(protocol.variance())
    assert int(_last_cell(page, "bits")) == protocol.bits_per_report


def test_the_figures_on_the_page_of_the_matrix_are_computed(pages, charts):
    """A reader who plans a survey from the page must not be misled."""
    made = PROTOCOLS["optimal"](**charts.OPTIMAL_EXAMPLE)
    page = pages["optimal"]

    assert _last_cell(page, "reports the true group") == ", ".join(
        f"{each:.3f}" for each in made.truthfulness
    )
    assert float(_last_cell(page, "people whose report")) == pytest.approx(made.error_probability, abs=0.0005)
    assert _last_cell(page, "unfairness before") == _three_digits(made.unfairness.before)
    assert _last_cell(page, "unfairness after") == _three_digits(made.unfairness.after)
    assert _last_cell(page, "variance") == ", ".join(_three_digits(each) for each in made.variance())
    assert int(_last_cell(page, "bits")) == made.bits_per_report


def test_the_comparison_of_the_overview_is_computed(overview):
    rows = [_cells(line) for line in overview.splitlines() if line.startswith("| [")]
    shown = {row[0].lower(): row[1:] for row in rows}
    made = {name: [kind(k=k, epsilon=1) for k in DOMAINS] for name, kind in COMPARED.items()}
    expected = {
        name: [_three_digits(each.variance()) for each in row] + [f"{each.bits_per_report:,}" for each in row]
        for name, row in made.items()
    }

    assert shown == expected


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_rules_of_the_overview_hold(epsilon):
    """They are what the advice rests on."""
    bound = 3 * math.exp(epsilon) + 2
    for k in {2, 3, 5, 10, 24, 74, 500, *(max(2, math.floor(bound) + step) for step in (-1, 0, 1, 2))}:
        variance = {name: kind(k=k, epsilon=epsilon).variance() for name, kind in COMPARED.items()}

        assert (variance["grr"] < variance["oue"]) == (k < bound)
        assert variance["ss"] <= min(variance.values()) * (1 + 1e-9)


def test_the_limits_that_the_overview_names_follow_from_the_rule(overview):
    limits = {epsilon: math.floor(3 * math.exp(epsilon) + 2) for epsilon in (0.5, 1, 2, 4)}

    assert limits == {0.5: 6, 1: 10, 2: 24, 4: 165}
    assert "up to 6 values at $\\varepsilon = 0.5$, 10 at 1, 24 at 2, 165 at 4" in overview


@pytest.mark.parametrize("name", [*PROTOCOLS, "overview"])
def test_every_picture_can_be_drawn_and_says_what_it_shows(charts, name):
    """Without a heading and a spoken text a picture tells nothing to those who cannot see it."""
    drawn = charts.overview_html() if name == "overview" else charts.picture_html(name)
    figures = ET.fromstring(drawn).findall("figure")

    assert len(figures) == (3 if name == "optimal" else 4)
    for figure in figures:
        image = figure.find("svg")
        assert figure.find("figcaption").text
        assert image.get("role") == "img"
        assert re.search(r"\d: ", image.get("aria-label"))
        assert len(image.findall("polyline")) in ({0, 3} if name == "optimal" else {2, len(COMPARED)})
        assert all(math.isfinite(float(each)) for each in _numbers(image))


def _numbers(image):
    for each in image.iter():
        yield from re.split(r"[ ,]+", each.get("points", "").strip()) if each.get("points") else []
        yield from (each.get(key) for key in ("x", "y", "cx", "cy") if each.get(key))


def test_a_picture_shows_the_figures_of_the_protocol(charts):
    grr = PROTOCOLS["grr"](k=12, epsilon=1)
    drawn = charts.picture_html("grr")

    assert f"supports the true value with probability {grr.p:.3f}, another with {grr.q:.3f}" in drawn
    assert "lower than OUE up to k = 10" in drawn
    assert "<title>GRR, ε (log) 1: 3.63</title>" in drawn
    assert drawn == charts.picture_html("grr")


def test_numbers_in_pictures_have_three_digits_and_no_exponent(charts):
    given = (0.000123456, 0.5, 3.63025, 62.31, 1234.5, 0.0)

    assert [charts.number(each) for each in given] == ["0.000123", "0.5", "3.63", "62.3", "1,230", "0"]
