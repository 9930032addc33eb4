"""The example of the optimal channel, and the picture and frontier of its page."""

import importlib.util
import json
import re

import numpy as np
import pytest

from evenhand.collect.fairest.optimum import fairest_channel


@pytest.fixture(scope="module")
def example(root):
    about = importlib.util.spec_from_file_location("optimal_example", root / "examples" / "optimal.py")
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def curves(root):
    page = (root / "docs" / "_static" / "optimal-frontier.html").read_text("utf-8")
    data = re.search(r'id="eh-frontier-data">(.*?)</script>', page, re.DOTALL).group(1)
    return json.loads(data)["curves"]


def test_it_prints_what_the_page_shows(root, example, capsys):
    """A page whose output cannot be had is worse than none."""
    page = (root / "docs" / "catalogue" / "protocols" / "optimal.md").read_text("utf-8")
    shown = re.search(r"\$ python examples/optimal.py --seed 7\n(.*?)```", page, re.DOTALL).group(1)
    gaps = example.main(["--seed", "7"])

    assert capsys.readouterr().out.strip() == shown.strip()
    assert gaps["optimal"] < gaps["grr"] < gaps["true"]


def test_it_reads_a_file_of_ones_own(example, capsys, tmp_path):
    rows = ["race,hired"] + [f"{'ab'[each % 4 == 0]},{'yes' if each % 3 else 'no'}" for each in range(2000)]
    (tmp_path / "people.csv").write_text("\n".join(rows))
    example.main([str(tmp_path / "people.csv"), "--group", "race", "--seed", "1", "--epsilon", "2"])

    assert "From the pilot of 200 people" in capsys.readouterr().out


def test_the_frontier_of_the_page_is_the_solvers(curves):
    """Figures that were solved once may not outlive the solver that they show."""
    weights, rates = [0.855, 0.096, 0.031, 0.010, 0.008], [0.26, 0.13, 0.27, 0.12, 0.11]
    for curve in curves:
        for place in (1, curve["at"], 12):
            error, unfairness, matrix = curve["points"][place]
            solved = fairest_channel(weights, rates, curve["epsilon"], error=error)

            assert unfairness == pytest.approx(solved.unfairness, abs=2e-4)
            assert np.array(matrix).sum(axis=1) == pytest.approx(1, abs=3e-4)


def test_the_frontier_has_the_published_ends(curves):
    """Errors and unfairness at epsilon 1/2, 1, 2 and 4, worked out elsewhere."""
    found = [
        (curve["points"][0][:2], curve["grr"], curve["points"][curve["at"]][1], curve["points"][-1][0])
        for curve in curves
    ]
    table = [
        ([0.618475, 0.02599], [0.708125, 0.02755], 0.00069, 0.715737),
        ([0.410680, 0.05921], [0.595390, 0.06653], 0.00661, 0.648111),
        ([0.208569, 0.17079], [0.351214, 0.17864], 0.03927, 0.562091),
        ([0.056041, 0.39743], [0.068262, 0.39342], 0.31975, 0.500046),
    ]

    for (least, grr, default, last), wanted in zip(found, table, strict=True):
        assert least == pytest.approx(wanted[0], abs=2e-5)
        assert grr == pytest.approx(wanted[1], abs=2e-5)
        assert default == pytest.approx(wanted[2], abs=2e-5)
        assert last == pytest.approx(wanted[3], abs=2e-5)


def test_the_page_needs_no_script_and_no_network(root):
    page = (root / "docs" / "_static" / "optimal-frontier.html").read_text("utf-8")
    script = (root / "docs" / "_static" / "frontier.js").read_text("utf-8")

    assert "<noscript><table>" in page
    assert "hidden" in page.partition('id="eh-frontier"')[2][:10]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page + script)
    assert len(script.splitlines()) < 80
