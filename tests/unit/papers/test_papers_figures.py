"""Figures of a reproduction are files that need nothing else."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from evenhand.papers.figures import measures_figure
from evenhand.papers.published import Published
from evenhand.report.svg_file import svg_file
from unit.papers._made_up import made


@pytest.fixture(scope="module", name="chart")
def _chart():
    results = made(lambda each, _: 0.5 + 0.1 * each.is_protected, epsilons=("0.25", "4"), seeds=3)
    words = {"measures": {"di": "DI", "acc": "Accuracy"}, "alt": "A <b> & c", "caption": "made up"}
    return measures_figure(results, words, "fig4")


@pytest.mark.figures
def test_a_figure_has_a_panel_for_each_split_and_measure(chart):
    """The paper shows uniform beside k-based; so do we, with every protocol."""
    assert (chart.rows, chart.columns) == (("uniform split", "k-based split"), 2)
    assert set(chart.data["line"]) == {"GRR", "BLH", "OLH", "RAPPOR", "OUE", "SS", "THE", "unprotected"}
    assert set(chart.data["measure"]) == {"DI", "Accuracy"}


def test_a_file_is_one_picture_with_every_panel_and_its_own_colours(chart):
    """It stands in a page as an image, which sees no style sheet of the page."""
    text = svg_file(chart)
    root = ET.fromstring(text)
    inner = [each for each in root if each.tag.endswith("}svg")]
    used = set(re.findall(r"var\(--([a-z0-9-]+)\)", text))
    defined = set(re.findall(r"--([a-z0-9-]+):", text))

    assert len(inner) == 4
    assert used <= defined
    assert root.find("{http://www.w3.org/2000/svg}title").text == "A <b> & c"
    assert "uniform split" in text
    assert "k-based split" in text


def test_panels_do_not_lie_on_each_other(chart):
    """Two panels at one place would be unreadable."""
    root = ET.fromstring(svg_file(chart))
    boxes = [
        tuple(float(each.get(name)) for name in ("x", "y", "width", "height"))
        for each in root
        if each.tag.endswith("}svg")
    ]
    whole = (float(root.get("width")), float(root.get("height")))

    for place, (x, y, width, height) in enumerate(boxes):
        assert x >= 0
        assert x + width <= whole[0]
        assert y + height <= whole[1]
        for other_x, other_y, other_width, other_height in boxes[place + 1 :]:
            apart = (
                x + width <= other_x
                or other_x + other_width <= x
                or y + height <= other_y
                or other_y + other_height <= y
            )
            assert apart


def test_every_protocol_has_a_colour_a_marker_and_a_name_of_its_own(chart):
    """Whoever holds the paper's figure beside it must find each curve."""
    keys = [key for key in chart.legend if not key.label.startswith("unprotected")]

    assert [key.label for key in keys] == ["GRR", "BLH", "OLH", "RAPPOR", "OUE", "SS", "THE"]
    assert len({key.colour for key in keys}) == len({key.mark for key in keys}) == len(keys)
    assert all(f"var(--{key.colour})" in svg_file(chart) for key in keys)


def test_published_means_are_drawn_hollow_beside_ours():
    """Both stand in the picture and in the table behind it; without them there is no key for them."""
    results = made(lambda *_: 0.5, epsilons=("0.25",), seeds=3)
    runs = {
        ("lsac", each.id, "acc"): np.array([0.5, 1.0]) for each in results.settings if each.mechanism == "grr"
    }
    published = Published(runs, same_seeds=False)
    words = {"measures": {"acc": "Accuracy"}, "alt": "a", "caption": "c", "compare": "they meet."}
    drawn = measures_figure(results, words, "fig", study="lsac", published=published)
    means = {(line, each) for line, each in zip(drawn.data["line"], drawn.data["published"], strict=True)}

    assert means == {("GRR", 0.75)} | {
        (name, None) for name in ("BLH", "OLH", "RAPPOR", "OUE", "SS", "THE", "unprotected")
    }
    assert drawn.legend[-1].hollow
    assert drawn.caption == "c To compare: they meet."
    assert "published: 0.7500" in drawn.wide
