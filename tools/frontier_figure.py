"""Write the picture and the interactive frontier of docs/catalogue/protocols/optimal.md, solved beforehand.

Run it with `python tools/frontier_figure.py` after the solver has changed. The page then needs neither a
network nor a server; without scripts it shows a table.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.collect.fairest.optimum import error_range, fairest_channel
from evenhand.collect.protocols.grr import GRR
from evenhand.report.theme import DARK, GROUPS, LIGHT

WEIGHTS = (0.855, 0.096, 0.031, 0.010, 0.008)
RATES = (0.26, 0.13, 0.27, 0.12, 0.11)
EPSILONS = (0.5, 1, 2, 4)
POINTS = 24
NAMES = ("A", "B", "C", "D", "E")
STATIC = Path(__file__).parent.parent / "docs" / "_static"
OVERALL = float(np.dot(WEIGHTS, RATES))


def reported_rates(matrix: Any) -> Any:
    """Return the rate of outcome 1 among those who report each group."""
    weights, rates = np.array(WEIGHTS), np.array(RATES)
    return ((weights * rates) @ matrix) / (weights @ matrix)


def unfairness(matrix: Any) -> float:
    """Return the largest distance of a reported rate from that of all, as a share of it."""
    return float(np.abs(reported_rates(matrix) / OVERALL - 1).max())


def frontier(epsilon: float) -> dict[str, Any]:
    """Return error, unfairness and matrix along the frontier, with the place of GRR's own error."""
    least, grr, fair = error_range(WEIGHTS, RATES, epsilon)
    errors = sorted({*np.linspace(least, fair, POINTS).tolist(), grr})
    points = []
    for error in errors:
        channel = fairest_channel(WEIGHTS, RATES, epsilon, error=float(error))
        rows = [[round(float(each), 4) for each in row] for row in channel.matrix]
        points.append([round(float(error), 5), round(max(0.0, channel.unfairness), 5), rows])
    return {
        "epsilon": epsilon,
        "grr": [round(float(grr), 5), round(unfairness(GRR(k=5, epsilon=epsilon).matrix()), 5)],
        "at": errors.index(grr),
        "points": points,
    }


def picture() -> str:
    """Return the rates of true groups, of GRR's reports and of optimal reports as marks on three lines."""
    shown = (
        ("the true groups", np.array(RATES), "what people have"),
        ("reported, by GRR", reported_rates(GRR(k=5, epsilon=1).matrix()), "59.5 % of reports wrong"),
        (
            "reported, optimal",
            reported_rates(fairest_channel(WEIGHTS, RATES, 1).matrix),
            "59.5 % of reports wrong",
        ),
    )
    left, right, low, high = 150, 650, 0.08, 0.30

    def across(rate: float) -> float:
        return round(left + (rate - low) / (high - low) * (right - left), 1)

    parts = []
    for tick in (0.10, 0.15, 0.20, 0.25, 0.30):
        x = across(tick)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="18" y2="196"/>')
        parts.append(f'<text class="tick" x="{x}" y="214">{tick:.0%}</text>')
    x = across(OVERALL)
    parts.append(f'<line class="private-line" x1="{x}" x2="{x}" y1="18" y2="196"/>')
    parts.append(f'<text class="tick private" x="{x}" y="12">everybody {OVERALL:.1%}</text>')
    for row, (name, rates, note) in enumerate(shown):
        y = 50 + 60 * row
        parts.append(f'<text class="name ours" x="0" y="{y}">{name}</text>')
        parts.append(f'<text class="name" x="0" y="{y + 17}">{note}</text>')
        parts.append(f'<line class="stroke" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>')
        for place, rate in enumerate(rates):
            parts.append(f'<circle class="g{place}" cx="{across(rate)}" cy="{y}" r="5.5"/>')
        for places in _near(rates):
            middle = across(float(np.mean([rates[place] for place in places])))
            words = " ".join(NAMES[place] for place in places)
            parts.append(f'<text class="tick label" x="{middle}" y="{y - 11}">{words}</text>')
    said = "; ".join(f"{name} {', '.join(f'{each:.1%}' for each in rates)}" for name, rates, _ in shown)
    label = html.escape(f"Share of outcome 1 in groups A to E: {said}. Everybody: {OVERALL:.1%}.")
    return (
        f"<figure><figcaption>The same share of wrong reports, and far less told about the outcome "
        f'(ε = 1)</figcaption><svg viewBox="0 0 660 222" role="img" aria-label="{label}">'
        f"{''.join(parts)}</svg></figure>"
    )


def _near(rates: Any) -> list[list[int]]:
    """Return groups whose marks are so close that they share a label, in the order of rates."""
    found: list[list[int]] = []
    for place in np.argsort(rates).tolist():
        if found and rates[place] - rates[found[-1][-1]] < 0.009:
            found[-1].append(place)
        else:
            found.append([place])
    return found


def fallback(curves: list[dict[str, Any]]) -> str:
    """Return a table for pages without scripts."""
    rows = []
    for curve in curves:
        points = curve["points"]
        for place, word in ((0, "least error"), (curve["at"], "GRR’s error"), (-1, "no unfairness")):
            error, left, _ = points[place]
            rows.append(
                f"<tr><td>{curve['epsilon']:g}</td><td>{word}</td><td>{error:.1%}</td>"
                f"<td>{left:.4f}</td></tr>"
            )
    head = "<tr><th>ε</th><th>point</th><th>wrong reports</th><th>unfairness of the reports</th></tr>"
    return f"<noscript><table>{head}{''.join(rows)}</table></noscript>"


STYLE = """<style>
.eh-frontier { grid-template-columns: 1fr; }
.eh-frontier [hidden] { display: none; }
.eh-frontier fieldset { border: 0; padding: 0; margin: 0 0 6px; display: flex; gap: 16px; flex-wrap: wrap; }
.eh-frontier legend { font-size: 14px; color: var(--eh-ink2); margin: 0 0 2px; }
.eh-frontier label { font-size: 14px; color: var(--eh-ink); }
.eh-frontier input[type="range"] { width: 100%; accent-color: var(--eh-violet); }
.eh-frontier input:focus-visible { outline: 3px solid var(--eh-violet); outline-offset: 2px; }
.eh-frontier output { display: block; font-size: 14px; color: var(--eh-ink); margin: 6px 0 10px; }
.eh-frontier .split { display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr)); gap: 18px; }
.eh-frontier table { border-collapse: collapse; font-size: 12.5px; font-variant-numeric: tabular-nums;
  width: 100%; color: var(--eh-ink); margin: 0; }
.eh-frontier caption { caption-side: top; font-size: 13px; color: var(--eh-ink2); text-align: left; }
.eh-frontier th, .eh-frontier td { padding: 5px 6px; text-align: right; border: 1px solid var(--eh-line); }
.eh-frontier td { background: color-mix(in srgb, var(--eh-violet) var(--share, 0%), var(--eh-card)); }
.eh-frontier td.strong { color: var(--eh-card); }
.eh-frontier .curve { fill: none; stroke: var(--eh-violet); stroke-width: 2.2; }
.eh-frontier .here { fill: var(--eh-ink); stroke: var(--eh-card); stroke-width: 2; }
.eh-frontier .grr { fill: var(--eh-card); stroke: var(--eh-ink); stroke-width: 2; }
.eh-frontier .private-line { stroke: var(--eh-violet); stroke-width: 1.5; stroke-dasharray: 5 4; }
GROUP_COLOURS
.eh-frontier circle { stroke: var(--eh-card); stroke-width: 1; }
.eh-frontier figcaption { min-height: 0; }
</style>"""


def group_colours() -> str:
    """Return a rule for the colour of each group by light and by dark, as every report has them."""
    themes = ((".eh-frontier", LIGHT), ('html[data-theme="dark"] .eh-frontier', DARK))
    return "\n".join(
        f"{place} .g{group} {{ fill: {tokens[look.fill].lower()}; }}"
        for place, tokens in themes
        for group, look in enumerate(GROUPS)
    )


def interactive(curves: list[dict[str, Any]]) -> str:
    """Return the frontier with its controls, hidden until a script fills it."""
    radios = "".join(
        f'<label><input type="radio" name="eh-epsilon" value="{place}"{" checked" if place == 1 else ""}> '
        f"{curve['epsilon']:g}</label>"
        for place, curve in enumerate(curves)
    )
    data = json.dumps({"names": NAMES, "curves": curves}, separators=(",", ":"))
    return f"""<figure><figcaption>Choose how many reports may be wrong</figcaption>
<div id="eh-frontier" hidden>
<fieldset><legend>ε of a report</legend>{radios}</fieldset>
<label for="eh-error">More wrong reports, less unfairness: move with the mouse or the arrow keys</label>
<input id="eh-error" type="range" min="0" max="{POINTS}" step="1">
<output for="eh-error" aria-live="polite"></output>
<div class="split"><svg viewBox="0 0 340 240" role="img"></svg>
<table><caption>Probability of each report (column) for each true group (row)</caption></table></div>
</div>{fallback(curves)}</figure>
<script type="application/json" id="eh-frontier-data">{data}</script>
<script src="../../_static/frontier.js" defer></script>"""


def main() -> None:
    """Solve and write both parts."""
    curves = [frontier(epsilon) for epsilon in EPSILONS]
    style = STYLE.replace("GROUP_COLOURS", group_colours())
    (STATIC / "optimal-picture.html").write_text(
        f'{style}\n<div class="eh-picture eh-frontier">{picture()}</div>\n',
        encoding="utf-8",
    )
    (STATIC / "optimal-frontier.html").write_text(
        f'<div class="eh-picture eh-frontier">{interactive(curves)}</div>\n', encoding="utf-8"
    )


if __name__ == "__main__":
    main()
