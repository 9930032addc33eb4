r"""Auditing a training in one run, by rows that were put in or left out at random.

Many made-up rows, the canaries, are each put among the training rows or left out by the toss of a fair coin.
Whoever sees what the training released then guesses the coins. The better the training hides single rows, the
fewer guesses are right, and how many may be right is a theorem: with :math:`m` canaries and :math:`r` guesses
a training that keeps :math:`(\varepsilon, \delta)` for adding or removing one row allows at least :math:`v`
right ones with probability at most

.. math:: \Pr[B \ge v] + 2 m \delta \max_{1 \le i \le v} \frac{\Pr[v > B \ge v - i]}{i}, \quad
          B \sim \operatorname{Binomial}\Bigl(r, \frac{e^\varepsilon}{1 + e^\varepsilon}\Bigr)

(Steinke, Nasr, Jagielski 2023, Theorem 5.2). The same holds under replacing one row, where the coin decides
which of two rows a canary is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

from evenhand._notebook import figures_html
from evenhand._validate import integer, refuse
from evenhand.errors import GuaranteeError
from evenhand.privacy.rational import Number, as_text, decimal_text, exact, text_above, text_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_OWNER = "audit_canaries"
_MOST_CANARIES = 10_000_000
_HALVINGS = 60
_LARGEST = 100.0
_SHARES = (1, 2, 5, 10, 20, 50, 100)  # one guess for so many canaries; the error is divided among them
_FEWEST_GUESSES = 10


@dataclass(frozen=True, kw_only=True)
class CanaryAudit:
    """What an audit with canaries found: a measured epsilon beside the claimed one.

    The measured epsilon is a lower bound. That it is below the claim does not prove the claim: a better
    guesser, or rows that are easier to see, might have found more.

    Attributes
    ----------
    measured_epsilon : float
        With `confidence`, the training has no smaller epsilon. 0 when nothing is shown.
    claimed_epsilon : Fraction or None
        What the guarantee of the training says.
    delta : Fraction
        The delta that both are for.
    confidence : float
        How sure the bound is: for all `share` audits together.
    share : int
        Among how many audits the error is shared.
    canaries : int
        How many there were, put in or left out.
    guesses : int
        How many coins were guessed; the others were abstained from.
    correct : int
        How many of the guesses were right.
    """

    measured_epsilon: float
    claimed_epsilon: Fraction | None
    delta: Fraction
    confidence: float
    share: int
    canaries: int
    guesses: int
    correct: int

    @property
    def exceeds(self) -> bool:
        """Whether more was measured than is claimed: at the confidence, the claim does not hold."""
        return self.claimed_epsilon is not None and self.measured_epsilon > self.claimed_epsilon

    def check(self) -> CanaryAudit:
        """Return the audit itself.

        Raises
        ------
        GuaranteeError
            If more was measured than is claimed.
        """
        if self.exceeds:
            raise GuaranteeError(f"{self} Hint: do not release what is trained this way.")
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON file."""
        claimed = None if self.claimed_epsilon is None else as_text(self.claimed_epsilon)
        return {
            "measured_epsilon": self.measured_epsilon,
            "claimed_epsilon": claimed,
            "delta": as_text(self.delta),
            "confidence": self.confidence,
            "share": self.share,
            "exceeds": self.exceeds,
            "canaries": self.canaries,
            "guesses": self.guesses,
            "correct": self.correct,
        }

    def _repr_html_(self) -> str:
        claimed = "none" if self.claimed_epsilon is None else decimal_text(self.claimed_epsilon)
        figures = [
            ("claimed epsilon", claimed),
            ("measured epsilon, at least", f"{self.measured_epsilon:.3g}"),
            ("confidence", f"{100 * self.confidence:.10g} %"),
            ("canaries", f"{self.canaries:,}, {self.guesses:,} guessed, {self.correct:,} correctly"),
        ]
        return figures_html("Audit with canaries", [*figures, ("in words", str(self))])

    def __str__(self) -> str:
        claim = "nothing claimed"
        if self.claimed_epsilon is not None:
            claim = f"claimed {text_above(self.claimed_epsilon)}"
        together = f" for {self.share} audits together" if self.share > 1 else ""
        delta = f" (delta {text_above(self.delta)})" if self.delta else ""
        measured = text_below(Fraction(self.measured_epsilon), digits=3)
        right = f"{self.correct:,} of {self.guesses:,} guesses about {self.canaries:,} canaries were right"
        seen = "no violation seen; an audit cannot prove privacy."
        return (
            f"{claim}, measured at least {measured}{delta} at {100 * self.confidence:.10g} %{together} "
            f"({right}): {'the claim does not hold.' if self.exceeds else seen}"
        )


def audit_canaries(
    scores: Any,
    included: Any,
    *,
    claimed: Number | None = None,
    delta: Number = 0,
    confidence: float = 0.999,
    share: int = 1,
    guesses: int | Sequence[int] | None = None,
) -> CanaryAudit:
    r"""Measure a training by how well its canaries are found.

    Of `guesses` canaries, the half with the largest scores is guessed to have been put in and the half with
    the smallest to have been left out; nothing is said about the others. The measured epsilon is the largest
    that the right guesses contradict.

    Parameters
    ----------
    scores : array
        One number for each canary, computed from what the training released and from public knowledge, never
        from the coins: large where the canary seems to have been put in.
    included : array of bool
        The coins: whether each canary was put in. They must be fair, independent, and tossed before training.
    claimed : number, optional
        The claimed epsilon.
    delta : number
        The claimed delta. Where it is not far below one over the number of canaries times the error, nothing
        can be shown.
    confidence : float
        Above 0 and below 1.
    share : int
        Among how many audits the error is shared, so that `confidence` holds for all of them together.
    guesses : int or sequence of int, optional
        How many coins are guessed, chosen before the coins are known; of several the best one counts and
        the error is divided among them. By default 1/1, 1/2, 1/5, 1/10, 1/20, 1/50 and 1/100 of the canaries.

    Returns
    -------
    CanaryAudit
        An overrun is a result, not an error; :meth:`CanaryAudit.check` makes it one.

    Notes
    -----
    Lower bounds from one run are far below the claim where epsilon is small, because few guesses about single
    rows can then be much better than the toss of a coin.

    References
    ----------
    .. [1] Steinke, Nasr, Jagielski (2023). Privacy auditing with one (1) training run. NeurIPS.
           Theorem 5.2 and Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.privacy.randomness import SeededSource
    >>> from evenhand.privacy.sampling import bernoulli
    >>> included = bernoulli("1/2", size=1_000, source=SeededSource(7))
    >>> audit = audit_canaries(included.astype(float), included, claimed="1/2")   # all is told
    >>> print(audit)
    claimed 0.5, measured at least 4.02 at 99.9 % (500 of 500 guesses about 1,000 canaries were right):
    the claim does not hold.
    """
    values, coins = _check_scores(scores, included)
    share = integer("share", share, owner=_OWNER, low=1)
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        refuse("confidence", _OWNER, "a number above 0 and below 1", confidence)
    chance = exact(delta, name="delta", owner=_OWNER, least=0, most=1)
    epsilon = None if claimed is None else exact(claimed, name="claimed", owner=_OWNER, least=0)
    numbers = _guesses(guesses, len(values))
    error = (1 - confidence) / share / len(numbers)
    order = np.argsort(values, kind="stable")
    results = []
    for number in numbers:
        right = int(coins[order[len(order) - number // 2 :]].sum())
        right += int((~coins[order[: number - number // 2]]).sum())
        bound = least_epsilon(right, number, canaries=len(values), delta=float(chance), error=error)
        results.append((bound, number, right))
    bound, number, right = max(results, key=lambda result: (result[0], result[2] / result[1]))
    return CanaryAudit(
        measured_epsilon=bound,
        claimed_epsilon=epsilon,
        delta=chance,
        confidence=confidence,
        share=share,
        canaries=len(values),
        guesses=number,
        correct=right,
    )


def chance_of_guesses(
    correct: int, guesses: int, *, canaries: int, epsilon: float, delta: float = 0.0
) -> float:
    """Return a bound on the chance of so many right guesses, or more, where (epsilon, delta) holds.

    Examples
    --------
    >>> chance_of_guesses(75, 100, canaries=1_000, epsilon=0.0, delta=1e-4) < 0.05
    True
    >>> chance_of_guesses(75, 100, canaries=1_000, epsilon=1.0, delta=1e-4) < 0.05
    False
    """
    right = 1 / (1 + np.exp(-epsilon))
    chance = float(binom.sf(correct - 1, guesses, right))
    if delta and correct:
        below = np.cumsum(binom.pmf(np.arange(correct - 1, -1, -1), guesses, right))
        chance += 2 * canaries * delta * float((below / np.arange(1, correct + 1)).max())
    return min(1.0, chance)


def least_epsilon(correct: int, guesses: int, *, canaries: int, delta: float = 0.0, error: float) -> float:
    """Return the largest epsilon that so many right guesses contradict, or 0 if they contradict none.

    Parameters
    ----------
    correct, guesses, canaries : int
        How many guesses were right, out of how many, about how many canaries.
    delta : float
        The delta that the epsilon is for.
    error : float
        The chance with which the result may exceed the true epsilon.

    Examples
    --------
    >>> f"{least_epsilon(75, 100, canaries=1_000, delta=1e-4, error=0.05):.3f}"    # as published
    '0.673'
    """

    def contradicted(epsilon: float) -> bool:
        return chance_of_guesses(correct, guesses, canaries=canaries, epsilon=epsilon, delta=delta) < error

    low, high = 0.0, _LARGEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if contradicted(middle) else (low, middle)
    return low


def _check_scores(scores: Any, included: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, coins = np.asarray(scores, dtype=np.float64), np.asarray(included)
    if values.ndim != 1 or not 1 <= len(values) <= _MOST_CANARIES or not np.isfinite(values).all():
        refuse("scores", _OWNER, "a list of finite numbers, one for each canary", "something else")
    if coins.dtype != np.bool_ or coins.shape != values.shape:
        refuse("included", _OWNER, "a list of truth values, one for each score", "something else")
    return values, coins


def _guesses(given: int | Sequence[int] | None, canaries: int) -> list[int]:
    if given is None:
        usual = [canaries // share for share in _SHARES]
        return [number for number in usual if number >= _FEWEST_GUESSES] or [canaries]
    listed = given if isinstance(given, list | tuple) else [given]
    if not listed:
        refuse("guesses", _OWNER, "a whole number or a list of them", "an empty list")
    return [integer("guesses", count, owner=_OWNER, low=1, high=canaries) for count in listed]
