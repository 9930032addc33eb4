"""The pictures of the catalogue: bars of figures that the library computes while the pages are built."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.app.pages.pictures import draw_bars, draw_mechanism, draw_method, draw_protocol, small_table
from evenhand.collect import split_budget, strategy_for
from evenhand.collect.joint.split import SPLITS
from evenhand.collect.protocols.registry import PROTOCOLS
from evenhand.decide import Allotment, mitigate, parse
from evenhand.measure import alpha_fairness, data_unfairness, group_report, l1_bias
from evenhand.measure.gaps import DIFFERENCES, OVERALL, WORST_PAIR
from evenhand.release import Laplace
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.release.postprocess.registry import steps_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalogue_entries import Entry

__all__ = ["picture_html"]

Picture = tuple[str, str, str]
"""The drawing as SVG, what it says to those who do not see it, and its caption."""

_SIZES = {"gender": 2, "race": 5, "native-country": 41, "age": 74}
_FEW = {"gender": 2, "region": 3}
_PUPILS = [12, 40, 90, 350, 800, 2600, 5200, 9100]
_WEIGHTS = [1.75, 1.5, 1.5, 1.25, 1, 1, 1, 1]
_COLOURS = "ghost ink ink2 card"
_SEED = 7


def picture_html(entry: Entry) -> str:
    """Return the picture of an entry as HTML without a blank line, at which Markdown would end it."""
    svg, said, caption = _DRAWN[entry.family](entry.name)
    finding, _, rest = caption.partition("**")[2].partition("**")
    heading, note = escape(finding.rstrip(":")), escape(rest.lstrip(",: "))
    names = "; ".join(f"--{name}: var(--eh-{name})" for name in _COLOURS.split())
    image = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(said, quote=True)}" ', 1)
    return (
        f'<div class="eh-picture" style="{names}">\n<figure>\n<figcaption>{heading}</figcaption>\n'
        f'{image}\n<p class="eh-note">{note[:1].upper()}{note[1:]}</p>\n</figure>\n</div>'
    )


def _one_series(
    names: Sequence[str], values: Sequence[float], texts: Sequence[str], own: Sequence[int]
) -> str:
    """Return bars of which those at the places `own` are in ink and the others grey."""
    picture = draw_bars(names, [values], [texts], fills=("ghost",), most=max(*values, 1e-12))
    for place in own:
        told = f"><title>{escape(f'{names[place]}: {texts[place]}')}<"
        picture = picture.replace(f'"var(--ghost)"{told}', f'"var(--ink)"{told}')
    return picture


def _said(names: Sequence[str], texts: Sequence[str]) -> str:
    return "; ".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True)) + "."


def _draw_joint(name: str) -> Picture:
    if name in SPLITS:
        if name == "sample":
            parts = [1.0] * len(_SIZES)
        else:
            parts = [float(part) for part in split_budget(1, list(_SIZES.values()), how=name, protocol="oue")]
        columns = [f"{column}, {k} values" for column, k in _SIZES.items()]
        caption = "**The part of ε = 1 that each column gets**, with OUE."
        if name == "sample":
            caption = "**The whole of ε = 1 for the one column that a person is asked.**"
    else:
        made = strategy_for(_FEW, epsilon=1, strategy=name, protected="region" if name == "single" else None)
        parts = [float(made.protocols[each].epsilon) if each in made.protocols else 0.0 for each in _FEW]
        columns = [f"{column}, {k} values" for column, k in _FEW.items()]
        caption = "**The epsilon by which each column is reported**, within a whole report of ε = 1."
    texts = [f"{part:.3f}" for part in parts]
    if name == "single":
        texts[0] = "in the clear"
    return draw_bars(columns, [parts], [texts], fills=("ink",), most=1.0), _said(columns, texts), caption


def _draw_step(name: str) -> Picture:
    table, cells = small_table()
    mechanism = Laplace(epsilon="1/4", unit="replace one")
    amount = {
        "sum_to": "=209",
        "nonnegative_sum_to": "=209",
        "shrink": "=30",
        "keep_sums": "=1",
        "cut": "=20",
    }.get(name, "")
    plain = mechanism.release(table, rng=_SEED).values.reshape(-1)
    after = mechanism.release(table, rng=_SEED, post=steps_of([name + amount])).values.reshape(-1)
    texts = [[f"{value:,.1f}".removesuffix(".0") for value in each] for each in (plain, after)]
    most = float(max(*plain, *after))
    picture = draw_bars(cells, [plain.tolist(), after.tolist()], texts, fills=("ghost", "ink"), most=most)
    pairs = [f"{before} becomes {now}" for before, now in zip(*texts, strict=True)]
    step = f"with {amount[1:]} as its number" if amount else "of one table"
    caption = (
        f"**Grey is what noise left, the stronger bar what the step makes of it**, {step}. Made-up people."
    )
    return picture, _said(cells, pairs), caption


@cache
def _compared() -> tuple[tuple[str, float], ...]:
    """Return every way to share out a budget, with the money that it moves."""
    shares, counts = Allotment(_WEIGHTS, budget=4_000_000), {"x": _PUPILS}
    noise = Laplace(epsilon="1/10", unit="add or remove one")
    ways: list[Any] = list(mitigate.compare(shares, counts, noise, least_total=15_000))
    ways.append(mitigate.sum_constraint(shares, counts, noise, total=sum(_PUPILS)))
    return tuple((way.name, float(way.moved) * 4_000_000) for way in ways)


@cache
def _ruled() -> tuple[tuple[str, float], ...]:
    """Return the plain release of a rule and what replaces it, with their alpha."""
    rule, counts = parse("x >= 500"), {"x": _PUPILS * 3}
    noise = Laplace(epsilon="1/100", unit="add or remove one")
    ways = [mitigate.plain_release(rule, counts, noise)]
    ways += [mitigate.piecewise_proxy(rule, counts, noise, groups=2, draws=200, rng=_SEED)]
    ways += [mitigate.margin(rule, counts, noise)]
    return tuple((way.name, float(way.alpha)) for way in ways)


def _draw_mitigation(name: str) -> Picture:
    if name in ("piecewise-proxy", "margin"):
        names, values = zip(*_ruled(), strict=True)
        texts = [f"{value:.3f}" for value in values]
        picture = _one_series(names, values, texts, own=(1 if name == "piecewise-proxy" else 2,))
        caption = (
            "**Alpha of the rule x ≥ 500: the largest error of a place minus the smallest.** Made-up places."
        )
        return picture, _said(names, texts), caption
    names, values = zip(*_compared(), strict=True)
    words = name.replace("-", " ")
    own = [place for place, each in enumerate(names) if each.startswith(words)]
    texts = [f"{value:,.0f}" for value in values]
    caption = (
        "**Money that goes to other places than it should, on average**, of 4,000,000 at ε = 0.1. "
        "Made-up districts, computed and not sampled."
    )
    return _one_series(names, values, texts, own), _said(names, texts), caption


_TRUE = [1] * 30 + [0] * 70 + [1] * 20 + [0] * 80
_PREDICTED = [1] * 24 + [0] * 6 + [1] * 16 + [0] * 54 + [1] * 10 + [0] * 10 + [1] * 8 + [0] * 72
_GROUP = ["men"] * 100 + ["women"] * 100
_MADE_UP = "in a made-up report of 100 men and 100 women"


def _draw_measure(name: str) -> Picture:
    if name in {"alpha_fairness", "l1_bias"}:
        return _draw_bias(name)
    report = group_report(_TRUE, _PREDICTED, _GROUP, privileged="men")
    if name in (*OVERALL, "auc"):
        return _draw_outcomes(name, report)
    of_rate = {**DIFFERENCES, "di": "selection", "data_unfairness": "base_rate"}
    rates = WORST_PAIR.get(name) or (of_rate[name],)
    names = [f"{rate.replace('_', ' ')}, {each}" for rate in rates for each in report.rates]
    values = [getattr(report.rates[each], rate) for rate in rates for each in report.rates]
    texts = [f"{100 * value:.0f}%" for value in values]
    found = data_unfairness(_TRUE, _GROUP) if name == "data_unfairness" else report.value(name)
    picture = draw_bars(names, [values], [texts], fills=("ink",), most=1.0)
    return picture, _said(names, texts), f"**{name} = {found:.3f}** {_MADE_UP}, from these rates."


def _draw_outcomes(name: str, report: Any) -> Picture:
    """Return how often predictions and labels met; what counts for the measure is in ink."""
    pairs = list(zip(_PREDICTED, _TRUE, strict=True))
    kinds = {"yes, rightly": (1, 1), "yes, wrongly": (1, 0), "no, wrongly": (0, 1), "no, rightly": (0, 0)}
    counts = [float(pairs.count(kind)) for kind in kinds.values()]
    own = {"auc": (), "f1": (0,), "recall": (0,)}.get(name, (0, 3))
    told = f"{name} is undefined without scores" if name == "auc" else f"{name} = {report.value(name):.3f}"
    texts = [f"{count:.0f} people" for count in counts]
    picture = _one_series(list(kinds), counts, texts, own)
    caption = f"**{told}** {_MADE_UP}. The stronger bars are what counts for it."
    return picture, _said(list(kinds), texts), caption


def _draw_bias(name: str) -> Picture:
    cells, bias = ["cell 1", "cell 2", "cell 3"], [0.5, 0.25, 0.0]
    texts = ["0.50 too many", "0.25 too many", "right on average"]
    value = alpha_fairness(bias) if name == "alpha_fairness" else l1_bias(bias)
    caption = f"**{name} = {value:.2f}** where three cells are off by these amounts on average."
    return draw_bars(cells, [bias], [texts], fills=("ink",), most=1.0), _said(cells, texts), caption


_DRAWN = {
    "protocols": lambda name: draw_protocol(PROTOCOLS[name]),
    "release": lambda name: draw_mechanism(MECHANISMS[name]),
    "mitigations/collect": _draw_joint,
    "mitigations/release": _draw_step,
    "mitigations/decide": _draw_mitigation,
    "mitigations/learn": draw_method,
    "measures": _draw_measure,
}
