"""Claims: what a paper states, how it is checked against a study, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.papers.published import Published
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

Verdict = Literal["agrees", "differs", "cannot be checked"]

AGREES: Verdict = "agrees"
DIFFERS: Verdict = "differs"
UNCHECKED: Verdict = "cannot be checked"


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
    trials: Mapping[str, Mapping[int, Mapping[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Checked:
    """What came of a check.

    Parameters
    ----------
    verdict : {"agrees", "differs", "cannot be checked"}
    why : str
        The numbers behind the verdict, or why there is none, in one sentence.
    ours : Estimated, optional
        Our value with its interval.
    paper : str
        The paper's value as printed; nothing for a finding in words.
    paper_value : float, optional
        The same as a number, in full.
    values : mapping of str to object
        What the sentence of the claim is filled with; that sentence then takes the place of `why`.
    case : str
        Which of several sentences it is.
    """

    verdict: Verdict
    why: str = ""
    ours: Estimated | None = None
    paper: str = ""
    paper_value: float | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    case: str = ""


@dataclass(frozen=True)
class ClaimRow:
    """One row of the table of claims.

    Parameters
    ----------
    id : str
        Short and stable, such as ``"rq2-adult"``.
    claim : str
        What the paper states, in our words.
    where : str
        Where it stands in the paper.
    paper : str
        The value as printed; nothing for a finding in words.
    ours, low, high : float or None
        Our value with its interval, where it is one number.
    runs : int or None
        How many repeats are in it.
    verdict : {"agrees", "differs", "cannot be checked"}
    why : str
    rule : str
        The rule behind the verdict, by its name in :mod:`evenhand.papers.rules`.
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


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and the function that checks it.

    Parameters
    ----------
    id, text, where : str
        As in :class:`ClaimRow`.
    check : callable
        Takes an :class:`Evidence` and returns a :class:`Checked`. It is called only if every study in
        `needs` was run.
    rule : str
        The rule that `check` applies.
    needs : tuple of str
        Names of the studies and trials that `check` reads.

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

    def judge(self, evidence: Evidence) -> ClaimRow:
        """Return the claim's row: checked, or why it cannot be."""
        known = (*evidence.studies, *evidence.trials)
        missing = [name for name in self.needs if name not in known]
        found = cannot_check(f"Not run: {', '.join(missing)}.") if missing else self.check(evidence)
        ours = found.ours
        return ClaimRow(
            id=self.id,
            claim=self.text,
            where=self.where,
            paper=found.paper,
            ours=None if ours is None else ours.value,
            low=None if ours is None else ours.low,
            high=None if ours is None else ours.high,
            runs=None if ours is None else ours.runs,
            verdict=found.verdict,
            why=found.why,
            rule=self.rule,
        )


def agree_if(holds: Any, *, ours: Any = None, paper: Any = "", case: Any = "", **values: Any) -> Checked:
    """Return that the paper agrees if something holds and differs otherwise, with what its sentence tells.

    >>> agree_if(2 > 1, largest=2).verdict
    'agrees'
    """
    return Checked(AGREES if holds else DIFFERS, "", ours, paper, values=values, case=case)


def cannot_check(
    why: Any = "", *, ours: Any = None, paper: Any = "", case: Any = "", **values: Any
) -> Checked:
    """Return that there is no verdict, and why.

    >>> cannot_check("The authors' code is not there.").verdict
    'cannot be checked'
    """
    return Checked(UNCHECKED, why, ours, paper, values=values, case=case)


def judge_claims(claims: Sequence[Claim], evidence: Evidence) -> tuple[ClaimRow, ...]:
    """Return the row of every claim, in their order."""
    return tuple(claim.judge(evidence) for claim in claims)
