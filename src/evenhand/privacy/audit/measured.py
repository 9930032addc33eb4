"""Measuring a mechanism from outside, by how well two inputs can be told apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand._notebook import figures_html
from evenhand._validate import integer
from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy.audit.draws import MechanismDraws
from evenhand.privacy.audit.events import (
    FEWEST,
    MOST,
    Event,
    Search,
    enough_draws,
    least_draws,
    smallest_overrun,
    surely_at_least,
)
from evenhand.privacy.randomness import AuditSource, source_from
from evenhand.privacy.rational import (
    Number,
    as_text,
    decimal_text,
    exact,
    round_down,
    round_up,
    text_above,
    text_below,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import Generator

    from evenhand.privacy.randomness import Source

_LEAST_TARGET = 0.1  # the epsilon that an audit is sized for where no epsilon, or zero, is claimed
_LARGEST_TARGET = 1_000_000
_WEAK = 0.105
_MOST_DIGITS = 15


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What an audit found: a measured epsilon beside the claimed one.

    The measured epsilon is a lower bound: with `confidence`, no smaller epsilon holds for the pair that was
    audited. It says nothing about other pairs, and a small one does not prove privacy.

    Attributes
    ----------
    measured_epsilon : float
        With `confidence`, the mechanism has no smaller epsilon. 0 when nothing is shown.
    claimed_epsilon : Fraction or None
        What the mechanism's guarantee, or the caller, says.
    delta : Fraction
        The delta that both are for.
    confidence : float
        How sure the bound is: for all `share` audits together.
    share : int
        Among how many audits the error is shared.
    event : str
        The outputs that tell the inputs apart, in words.
    likely : int
        Which input of the pair makes the event more likely, 0 or 1.
    counts : tuple of int
        How many of the measuring draws of each input were in the event.
    draws : int
        Measuring draws of each input.
    size : int
        All draws of each input; those not used to measure were used to choose the event.
    smallest_overrun : float or None
        The share by which a tight mechanism must overrun its claim so that an audit of this size and event
        sees it 99 times in 100. None where no epsilon above zero is claimed, or delta is not 0.
    rng : {"secure", "seeded"}
        Which kind of randomness was audited.
    """

    measured_epsilon: float
    claimed_epsilon: Fraction | None
    delta: Fraction
    confidence: float
    share: int
    event: str
    likely: int
    counts: tuple[int, int]
    draws: int
    size: int
    smallest_overrun: float | None
    rng: str

    @property
    def exceeds(self) -> bool:
        """Whether more was measured than is claimed: at the confidence, the claim does not hold."""
        return self.claimed_epsilon is not None and self.measured_epsilon > self.claimed_epsilon

    @property
    def weak(self) -> bool:
        """Whether an overrun of 10 % could well have gone unseen."""
        return self.smallest_overrun is not None and self.smallest_overrun > _WEAK

    def check(self) -> Audit:
        """Return the audit itself.

        Raises
        ------
        GuaranteeError
            If more was measured than is claimed.
        """
        if self.exceeds:
            raise GuaranteeError(f"{self} The event: {self.event}. Hint: do not release with this mechanism.")
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON file."""
        return {
            "measured_epsilon": self.measured_epsilon,
            "claimed_epsilon": None if self.claimed_epsilon is None else as_text(self.claimed_epsilon),
            "delta": as_text(self.delta),
            "confidence": self.confidence,
            "share": self.share,
            "exceeds": self.exceeds,
            "event": self.event,
            "likely": self.likely,
            "counts": list(self.counts),
            "draws": self.draws,
            "size": self.size,
            "smallest_overrun": self.smallest_overrun,
            "rng": self.rng,
        }

    def __str__(self) -> str:
        claim, shown = "nothing claimed", "0"
        if self.claimed_epsilon is not None:
            shown = self._claimed_text(self.claimed_epsilon)
            claim = f"claimed {shown}"
        at = f"{100 * self.confidence:.10g} %" + (
            f" for {self.share} audits together" if self.share > 1 else ""
        )
        delta = f" (delta {text_above(self.delta)})" if self.delta else ""
        said = f"{claim}, measured at least {self._measured_text(Fraction(shown))}{delta} at {at}: "
        if self.exceeds:
            return f"{said}the claim does not hold."
        seen = "an audit cannot prove privacy."
        if self.claimed_epsilon is not None:
            seen = f"no violation seen; {seen}"
        if self.smallest_overrun is not None and self.weak:
            seen += (
                f" Weak: only an overrun of {100 * self.smallest_overrun:.0f} % or more would surely be seen."
            )
        return said + seen

    def _repr_html_(self) -> str:
        claimed = "none" if self.claimed_epsilon is None else decimal_text(self.claimed_epsilon)
        figures = [
            ("claimed epsilon", claimed),
            ("measured epsilon, at least", text_below(self._measured)),
            ("confidence", f"{100 * self.confidence:.10g} %"),
            ("event", self.event),
            ("draws of each input", f"{self.size:,}"),
        ]
        return figures_html("Audit of epsilon", [*figures, ("in words", str(self))])

    def _claimed_text(self, claimed: Fraction) -> str:
        """Write the claim rounded up, and never so far that an overrun disappears."""
        for digits in range(6, _MOST_DIGITS + 1):
            if not self.exceeds or round_up(claimed, digits=digits) < self._measured:
                return text_above(claimed, digits=digits)
        return as_text(claimed)

    def _measured_text(self, claim: Fraction) -> str:
        """Write the bound rounded down, and never so far that an overrun of the claim shown disappears."""
        for digits in range(3, _MOST_DIGITS + 1):
            if not self.exceeds or round_down(self._measured, digits=digits) > claim:
                return text_below(self._measured, digits=digits)
        return repr(float(self.measured_epsilon))

    @property
    def _measured(self) -> Fraction:
        """The measured epsilon as the decimal that it prints."""
        return Fraction(repr(float(self.measured_epsilon)))


def audit_epsilon(
    mechanism: Any,
    pair: Sequence[Any],
    *,
    confidence: float = 0.999,
    size: int | None = None,
    rng: Source | int | Generator | None = None,
    claimed: Number | None = None,
    features: Callable[[Any], Any] | None = None,
    delta: Number | None = None,
    share: int = 1,
    progress: Callable[[int, int], object] | None = None,
) -> Audit:
    r"""Measure from outside how well two neighbouring inputs can be told apart.

    One half of the draws chooses an event :math:`S` and which input makes it likely, :math:`x`. With the
    other half

    .. math:: \hat\varepsilon = \ln \frac{\underline{\Pr}[M(x) \in S] - \delta}{\overline{\Pr}[M(x') \in S]}

    where the probability above is a lower and the one below an upper Clopper-Pearson bound, each at half
    the error. If the mechanism has :math:`(\varepsilon, \delta)`, then :math:`\hat\varepsilon > \varepsilon`
    happens with probability ``1 - confidence`` at most, whatever the mechanism is.

    Parameters
    ----------
    mechanism : callable or protocol
        ``mechanism(value, size, rng)`` returns `size` independent outputs for one value of the pair, as an
        array or list whose first axis has that length: numbers, rows, records, texts or bytes. ``rng`` is a
        :class:`~evenhand.privacy.randomness.Source`, to be passed on or used; it moves on from call to call.
        Or an object with ``privatize(codes, rng=)``, such as a protocol of local collection or a strategy
        for several attributes: the pair is then two codes, or two mappings from attributes to codes, and
        ``indicators``, where it exists, shows which values a report supports.
    pair : sequence of two
        Two neighbouring inputs.
    confidence : float
        Above 0 and below 1.
    size : int, optional
        Draws of each input, half of them for choosing the event. By default so many that an overrun of 10 %
        is seen 99 times in 100, at least 2,000,000 and at most 67,108,864.
    rng : None, int, Generator or Source
        Nothing for the operating system's secure source, which audits what is really released.
    claimed : number, optional
        The claimed epsilon. By default that of ``mechanism.guarantee``, if there is one.
    features : callable, optional
        Turns what the mechanism returned into whole numbers, one or a row of them for each output; the
        audit then sees only these. By default outputs are read column by column.
    delta : number, optional
        The claimed delta. By default that of ``mechanism.guarantee``, else 0.
    share : int
        Among how many audits the error is shared, so that `confidence` holds for all of them together.
    progress : callable, optional
        Called with the draws done and those planned.

    Returns
    -------
    Audit
        An overrun is a result, not an error; :meth:`Audit.check` makes it one.

    Raises
    ------
    InvalidParameterError
        If the pair is equal, the mechanism returns another number of outputs than asked for, `size` is too
        small to show anything, or a number is out of range.

    Notes
    -----
    The event is chosen among sets of categories in the order of their likelihood ratio, as the
    Neyman-Pearson lemma suggests. Categories are single values where they are few, quantile intervals where
    numbers are many, combinations of columns, and the sum of the logarithms of their likelihood ratios.

    References
    ----------
    .. [1] Clopper, Pearson (1934). The use of confidence or fiducial limits illustrated in the case of the
           binomial. Biometrika.
    .. [2] Bichsel, Steffen, Bogunovic, Vechev (2021). DP-Sniper: black-box discovery of differential privacy
           violations using classifiers. IEEE Symposium on Security and Privacy.
    .. [3] Arcolezi, Gambs (2024). Revealing the true cost of locally differentially private protocols: an
           auditing perspective. Proceedings on Privacy Enhancing Technologies.

    Examples
    --------
    >>> from evenhand.privacy.sampling import bernoulli
    >>> def says_it_or_not(value, size, rng):
    ...     return bernoulli("3/4", size=size, source=rng) == value
    >>> found = audit_epsilon(says_it_or_not, (True, False), claimed=1, size=100_000, rng=7)
    >>> found.exceeds, found.event
    (True, 'the output is ...')
    >>> print(found)
    claimed 1, measured at least 1.0... at 99.9 %: the claim does not hold.
    """
    share = integer("share", share, owner="audit_epsilon", low=1)
    error = _checked_confidence(confidence, share)
    epsilon, chance = _claim(mechanism, claimed, delta)
    target = float(min(epsilon or 0, _LARGEST_TARGET))
    if size is not None:
        size = _checked_size(size, least_draws(target, error, float(chance)))
    source = source_from(rng)
    source = source if source.simulated else AuditSource()
    draws = MechanismDraws(mechanism, pair, source, features=features, progress=progress)
    event, half = _chosen(draws, size, target=target, error=error, delta=float(chance))
    counts = [sum(event.count(chunk) for chunk in draws.draw(which, half)) for which in (0, 1)]
    hits, misses = counts[event.likely], counts[1 - event.likely]
    bound = surely_at_least(hits, misses, half, error=error, delta=float(chance))
    sized = target > 0 and not chance
    return Audit(
        measured_epsilon=max(0.0, float(bound)),
        claimed_epsilon=epsilon,
        delta=chance,
        confidence=float(confidence),
        share=share,
        event=event.words(),
        likely=event.likely,
        counts=(counts[0], counts[1]),
        draws=half,
        size=2 * half,
        smallest_overrun=smallest_overrun(target, (misses + 1) / half, half, error) if sized else None,
        rng=source.kind,
    )


def _chosen(
    draws: MechanismDraws, size: int | None, *, target: float, error: float, delta: float
) -> tuple[Event, int]:
    """Choose the event on the first half of the draws; return it and how many draws each half has."""
    half = FEWEST if size is None else size // 2
    draws.planned = 4 * half
    batch = min(draws.rows, half // 2)
    search = Search(draws.draw, batch, error=error, delta=delta, together=draws.together)
    search.extend(half)
    event = search.best()
    while size is None:
        wanted = min(MOST, enough_draws(target or max(event.log_ratio, _LEAST_TARGET), event.rare, error))
        if wanted <= half:
            break
        half = min(wanted, 2 * half)  # the event may still change, and with it what is wanted
        draws.planned = 4 * half
        search.extend(half)
        event = search.best()
    return event, half


def _checked_confidence(confidence: float, share: int) -> float:
    """Return the error that one audit may make."""
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        must_be = "a number above 0 and below 1"
        raise InvalidParameterError("confidence", owner="audit_epsilon", must_be=must_be, got=confidence)
    return (1 - confidence) / share


def _checked_size(size: object, half: float) -> int:
    """Return the size if it can show anything: `half` draws show as much as is claimed, if all are hits."""
    number = integer("size", size, owner="audit_epsilon", low=4)
    if number // 2 <= half:
        least = "left out: no number of draws can"
        if math.isfinite(half):
            least = f"at least {2 * math.floor(half) + 2:,}: fewer draws cannot"
        must_be = f"{least} show more than is claimed at this confidence"
        raise InvalidParameterError("size", owner="audit_epsilon", must_be=must_be, got=size)
    return number


def _claim(mechanism: Any, claimed: Number | None, delta: Number | None) -> tuple[Fraction | None, Fraction]:
    """Return the claimed epsilon, if there is one, and delta."""
    chance = None if delta is None else exact(delta, name="delta", owner="audit_epsilon", least=0)
    guarantee: Any = getattr(mechanism, "guarantee", None)
    nothing = guarantee is None or guarantee.delta == 1
    if claimed is not None or nothing:
        if chance is None:
            chance = Fraction(0) if nothing else guarantee.delta
        _check_delta(chance, 0, delta)
        return None if claimed is None else exact(
            claimed, name="claimed", owner="audit_epsilon", least=0
        ), chance
    chance = guarantee.delta if chance is None else chance
    _check_delta(chance, guarantee.delta, delta)
    if guarantee.epsilon is not None:
        return guarantee.epsilon, chance
    if not chance:
        raise InvalidParameterError(
            "delta", owner="audit_epsilon", must_be="a number > 0 where the guarantee is in rho", got=delta
        )
    return guarantee.to_approximate(delta=chance).epsilon, chance


def _check_delta(chance: Fraction, least: Fraction | int, given: object) -> None:
    if not least <= chance < 1:
        must_be = f"a number >= {least} and < 1"
        hint = "the guarantee of the mechanism says no more for a smaller delta." if least else ""
        raise InvalidParameterError("delta", owner="audit_epsilon", must_be=must_be, got=given, hint=hint)
