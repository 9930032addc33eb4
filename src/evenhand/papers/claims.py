"""Claims: what a paper states, how it is checked against a study, and what came of it."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from dataclasses import dataclass, field, replace
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evenhand.measure.repeat_means import Estimated
    from evenhand.papers.published import Published
    from evenhand.papers.trials import Records
    from evenhand.study.results.results import Results

Verdict = Literal[
    "agrees", "contradicted", "not shown", "other data", "method unknown", "slip", "cannot tell apart",
    "cannot be checked",
]  # fmt: skip

_DECIMALS = 3

AGREES: Verdict = "agrees"
CONTRADICTED: Verdict = "contradicted"
NOT_SHOWN: Verdict = "not shown"
OTHER_DATA: Verdict = "other data"
METHOD_UNKNOWN: Verdict = "method unknown"
SLIP: Verdict = "slip"
INDISTINCT: Verdict = "cannot tell apart"
UNCHECKED: Verdict = "cannot be checked"


class VerdictWords(NamedTuple):
    """How one of a verdict and several are told, and what it means."""

    one: str
    many: str
    meaning: str


_WORDS = tomllib.loads(files(__package__).joinpath("verdicts.toml").read_text(encoding="utf-8"))

VERDICTS: Mapping[Verdict, VerdictWords] = MappingProxyType(
    {verdict: VerdictWords(**_WORDS[verdict]) for verdict in get_args(Verdict)}
)
"""The words of every verdict, in the order of reports."""


def number_text(value: float) -> str:
    """Return a number with three decimals and a true minus.

    >>> number_text(-0.17)
    '\u22120.170'
    """
    if not math.isfinite(value):
        return "no value"
    return f"{round(value, _DECIMALS) + 0.0:.{_DECIMALS}f}".replace("-", "\N{MINUS SIGN}")


def _short_text(value: float) -> str:
    """Return a number in few letters: whole where it is large, with two digits where it is tiny."""
    if math.isfinite(value) and abs(value) >= 1000:
        return f"{value:,.0f}".replace("-", "\N{MINUS SIGN}")
    if math.isfinite(value) and 0 < abs(value) < 10.0**-_DECIMALS:
        return f"{value:.2g}".replace("-", "\N{MINUS SIGN}")
    return number_text(value)


@dataclass(frozen=True)
class Evidence:
    """What claims are checked against.

    Parameters
    ----------
    studies : mapping of str to Results
        The studies that were run, by name; a study without any finished cell is not among them.
    published : Published, optional
        The runs that the authors published, where their table is on this machine.
    trials : mapping of str to mapping of int to record
        What was computed besides the studies, by name and number.
    """

    studies: Mapping[str, Results]
    published: Published | None = None
    trials: Mapping[str, Records] = field(default_factory=dict)


@dataclass(frozen=True)
class Checked:
    """What came of a check.

    `why` has the numbers behind the verdict, or why there is none, in one sentence; if the claim has a
    sentence of its own, or one for this `case`, that is filled with `values` and takes the place of `why`.
    `ours` is our value with its interval; `paper` is the paper's as printed, nothing for a finding in words,
    and `paper_value` the same as a number, in full. `shown` has our values where they are several.
    """

    verdict: Verdict
    why: str = ""
    ours: Estimated | None = None
    paper: str = ""
    paper_value: float | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    case: str = ""
    shown: str = ""


@dataclass(frozen=True)
class ClaimRow:
    """One row of the table of claims.

    Parameters
    ----------
    id, claim, where : str
        Short and stable, such as ``"rq2-adult"``; what the paper states, in our words; where it stands there.
    paper : str
        The value as printed; nothing for a finding in words.
    ours, low, high : float or None
        Our value with its interval, where it is one number.
    runs : int or None
        How many repeats are in it.
    verdict, why : str
        One of :data:`VERDICTS`, and the reason.
    rule : str
        The rule behind the verdict, by its name in :mod:`evenhand.papers.rules`.
    words, shown : str
        The few words of the paper that the statement rests on, and our values where they are several.
    """

    id: str
    claim: str
    where: str
    paper: str
    ours: float | None
    low: float | None
    high: float | None
    runs: int | None
    verdict: Verdict
    why: str
    rule: str
    words: str = ""
    shown: str = ""

    @property
    def value_text(self) -> str:
        """Our values as text, a single one with its interval; empty where a sentence tells them."""
        if self.shown or self.ours is None:
            return self.shown
        if self.low is None or self.high is None:
            return _short_text(self.ours)
        return f"{_short_text(self.ours)} ({_short_text(self.low)} to {_short_text(self.high)})"


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and the function that checks it.

    Parameters
    ----------
    id, text, where : str
        As in :class:`ClaimRow`.
    check : callable
        Takes an :class:`Evidence` and returns a :class:`Checked`. It is called only if every study in
        `needs` was run: the names of the studies and trials that it reads.
    rule, words : str
        The rule that `check` applies, and the few words of the paper that the statement rests on.

    Examples
    --------
    >>> claim = Claim("rows", "There are 20,427 rows.", "Table 2", lambda evidence: None, needs=("lsac",))
    >>> claim.judge(Evidence({})).verdict
    'cannot be checked'
    """

    id: str
    text: str
    where: str
    check: Callable[[Evidence], Checked] = field(repr=False)
    rule: str = ""
    needs: tuple[str, ...] = ()
    words: str = ""

    def judge(self, evidence: Evidence) -> ClaimRow:
        """Return the claim's row: checked, or why it cannot be."""
        known = (*evidence.studies, *evidence.trials)
        missing = [name for name in self.needs if name not in known]
        found = cannot_check(f"Not run: {', '.join(missing)}.") if missing else self.check(evidence)
        value, low, high, runs = (
            getattr(found.ours, name, None) for name in ("value", "low", "high", "runs")
        )
        return ClaimRow(
            self.id, self.text, self.where, found.paper, value, low, high, runs, found.verdict, found.why,
            rule=self.rule, words=self.words, shown=found.shown,
        )  # fmt: skip


def agree_if(holds: Any, *, otherwise: Any = CONTRADICTED, **told: Any) -> Checked:
    """Return that the paper agrees if something holds, else another verdict.

    `told` has `ours`, `paper`, `case` and `shown` of :class:`Checked`, and the numbers that prove it.

    >>> agree_if(2 > 1, largest=2).verdict, agree_if(2 < 1, largest=2).verdict
    ('agrees', 'contradicted')
    """
    fields = {name: told.pop(name) for name in ("ours", "paper", "case", "shown") if name in told}
    return Checked(AGREES if holds else otherwise, **fields, values=told)


def cannot_check(why: Any = "", **told: Any) -> Checked:
    """Return that there is no verdict, and why.

    >>> cannot_check("The authors' code is not there.").verdict
    'cannot be checked'
    """
    return replace(agree_if(holds=False, otherwise=UNCHECKED, **told), why=why)


def judge_claims(claims: Sequence[Claim], evidence: Evidence) -> tuple[ClaimRow, ...]:
    """Return the row of every claim, in their order."""
    return tuple(claim.judge(evidence) for claim in claims)


def count_verdicts(rows: Iterable[ClaimRow]) -> dict[Verdict, int]:
    """Return how many rows have each verdict, in the order of :data:`VERDICTS`."""
    numbers = Counter(row.verdict for row in rows)
    return {verdict: numbers[verdict] for verdict in VERDICTS}


def summarize_counts(counts: Mapping[Verdict, int]) -> str:
    """Return the sentence that leads a summary.

    >>> summarize_counts({"agrees": 39, "contradicted": 20, "slip": 1})
    'Of 60 statements 39 agree, 20 are contradicted and proved so, 1 is a slip.'
    """
    parts = [
        f"{number} {VERDICTS[verdict].one if number == 1 else VERDICTS[verdict].many}"
        for verdict, number in counts.items()
        if number
    ]
    total = sum(counts.values())
    return f"Of {total} statement{'' if total == 1 else 's'} {', '.join(parts) or 'none was judged'}."
