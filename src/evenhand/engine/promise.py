"""What the makers of reports promise, and the schema that stands beside their output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.collect.fairest.group_outcomes import GroupOutcomes
from evenhand.collect.protocols.law import VALUES_PUBLIC
from evenhand.collect.protocols.optimal import Optimal
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.in_clear import leak_of_domains, state_inferred

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.collect.joint.strategy import Strategy
    from evenhand.engine.choices import Choice
    from evenhand.privacy.ledger import Entry, Ledger
    from evenhand.privacy.randomness import Source
    from evenhand.schema import Schema

_HELD_BACK = "the true values stay with whoever made the reports from them"


def prepare_strategy(strategy: Strategy, solving: Any) -> None:
    """Refuse reports that cannot be drawn, and solve what optimal protocols need, before any charge."""
    for sender in strategy.senders:
        sender.check_drawable()
    for protocol in strategy.protocols.values():
        if isinstance(protocol, Optimal):
            protocol.solve(solving)


def state_guarantee(strategy: Strategy, choice: Choice, protocol: Any, inferred: Sequence[str]) -> Guarantee:
    """Return what one person is promised, whose row is their only report.

    With what an optimal channel was made from, what learning that cost, and which domains were inferred.
    """
    whole = strategy.guarantee_for(in_clear=choice.in_clear).as_unit("one person")
    if isinstance(protocol, GroupOutcomes):
        whole = protocol.guarantee_with(whole, epsilon=strategy.epsilon)
    whole = state_inferred(whole, inferred, instead_of=VALUES_PUBLIC)
    return Guarantee.from_dict(whole.to_dict() | {"assumptions": [*whole.assumptions, _HELD_BACK]})


def add_in_clear(promise: Guarantee, more: Sequence[str]) -> Guarantee:
    """Return the guarantee with more that is in the clear."""
    return Guarantee.from_dict(promise.to_dict() | {"in_clear": [*promise.in_clear, *more]})


def charge_once(
    ledger: Ledger,
    guarantee: Guarantee,
    *,
    purpose: str,
    run: str,
    source: Source,
    check: Callable[[], object] | None = None,
) -> Entry:
    """Charge a ledger with a run, or find the charge of the same run that was begun before.

    Parameters
    ----------
    ledger : Ledger
    guarantee : Guarantee
    purpose : str
        What the ledger is told.
    run : str
        The random name of a run that may be taken up again, which the purpose then ends with; empty for one
        that may not.
    source : Source
        What will be drawn from.
    check : callable, optional
        What is done before a charge, such as to refuse rows that cannot be reported.
    """
    told = f"{purpose} (run {run})" if run else purpose
    if run:
        for entry in ledger.history():
            if entry.terms.get("purpose") == told:
                return entry
    if check is not None:
        check()
    return ledger.spend(guarantee, purpose=told, source=source)


def schema_text(schema: Schema, *, simulated: bool, inferred: Sequence[str]) -> bytes:
    """Return the file of the schema beside reports, with a warning where there is something to warn of."""
    note = "# Beside simulated reports, which were drawn with a seed: no guarantee holds for them.\n"
    leak = f"# A warning: {leak_of_domains(inferred)}.\n" if inferred else ""
    return ((note if simulated else "") + leak + schema.to_toml()).encode("utf-8")
