"""The terms of a guarantee as they are given: checked, made exact, and written for a file."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.compose import MOST_PEOPLE, NO_GUARANTEE, OWN_PART, unique, without_guarantee
from evenhand.privacy.guarantees.loss import Loss
from evenhand.privacy.guarantees.units import Trust, Unit
from evenhand.privacy.rational import Number, as_text, exact

if TYPE_CHECKING:
    from evenhand.privacy.guarantees.loss import Statement

_OWNER = "Guarantee"
_READER = "Guarantee.from_dict"
_LEFT_OUT: dict[str, Any] = {  # what a record may leave out, and what that means
    "measure": None,
    "epsilon": None,
    "delta": "0",
    "rho": None,
    "protects": [],
    "in_clear": [],
    "tight": False,
    "proof": "",
    "assumptions": [],
    "people": None,
    "group_size": 1,
    "blocks": [],
}
_NEEDED = {"unit", "trust"}
_MOST_TEXTS = 100_000  # an iterable may have no end


def checked_terms(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every field of a guarantee from its parameters, or refuse what cannot be."""
    trust = one_of("trust", given["trust"], tuple(Trust), owner=_OWNER)
    people = given["people"]
    terms: dict[str, Any] = {
        "unit": one_of("unit", given["unit"], tuple(Unit), owner=_OWNER),
        "trust": trust,
        "protects": _texts("protects", given["protects"]),
        "in_clear": _texts("in_clear", given["in_clear"]),
        "tight": _of_type("tight", given["tight"], bool),
        "proof": _of_type("proof", given["proof"], str),
        "assumptions": _texts("assumptions", given["assumptions"]),
        "people": None if people is None else _count("people", people),
        "group_size": _count("group_size", given["group_size"]),
        "blocks": (),
    }
    if set(terms["protects"]) & set(terms["in_clear"]):
        must_be = "other columns than those in_clear"
        raise InvalidParameterError("protects", owner=_OWNER, must_be=must_be, got=given["protects"])
    if trust is Trust.NONE:  # whatever is said besides, no guarantee is made
        words = without_guarantee(terms["protects"], terms["in_clear"])
        return terms | NO_GUARANTEE.amounts() | words | {"tight": False}
    return terms | _read_loss(given["epsilon"], given["delta"], given["rho"]).amounts()


def written_terms(guarantee: Statement) -> dict[str, Any]:
    """Return plain values, amounts as text."""
    return {
        "measure": str(guarantee.measure),
        "epsilon": None if guarantee.epsilon is None else as_text(guarantee.epsilon),
        "delta": as_text(guarantee.delta),
        "rho": None if guarantee.rho is None else as_text(guarantee.rho),
        "unit": str(guarantee.unit),
        "trust": str(guarantee.trust),
        "protects": list(guarantee.protects),
        "in_clear": list(guarantee.in_clear),
        "tight": guarantee.tight,
        "proof": guarantee.proof,
        "assumptions": list(guarantee.assumptions),
        "people": guarantee.people,
        "group_size": guarantee.group_size,
        "blocks": [[as_text(block.amount), as_text(block.delta)] for block in guarantee.blocks],
    }


def shown_terms(guarantee: Statement) -> str:
    """Return the terms that say something, as they would be given to the class."""
    terms = written_terms(guarantee) | {"measure": None}
    return ", ".join(f"{name}={value!r}" for name, value in terms.items() if value != _LEFT_OUT.get(name))


def read_terms(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return every field of a guarantee from what :func:`written_terms` made of it."""
    keys = set(record) if isinstance(record, Mapping) else set()
    if not keys >= _NEEDED or keys - _NEEDED - set(_LEFT_OUT):
        must_be = f"a mapping with the keys unit and trust, and any of {', '.join(_LEFT_OUT)}"
        got = f"the keys {', '.join(sorted(map(str, keys)))}" if keys else type(record).__name__
        raise InvalidParameterError("record", owner=_READER, must_be=must_be, got=got)
    given = _LEFT_OUT | dict(record)
    terms = checked_terms(given)
    loss = _read_loss(terms["epsilon"], terms["delta"], terms["rho"])
    measure = given["measure"]
    if measure is not None and not (isinstance(measure, str) and measure == loss.measure):
        must_be = f"'{loss.measure}', as its amounts are"
        raise InvalidParameterError("measure", owner=_READER, must_be=must_be, got=measure)
    return terms | {"blocks": _read_blocks(given["blocks"], loss, terms)}


def _read_blocks(written: Any, total: Loss, terms: Mapping[str, Any]) -> tuple[Loss, ...]:
    """Return the two heaviest parts, which must make up the total."""
    try:
        blocks = tuple(
            Loss(
                exact(amount, name="blocks", owner=_READER, least=0),
                exact(delta, name="blocks", owner=_READER, least=0, most=1),
                total.concentrated,
            )
            for amount, delta in islice(written, 3)
        )
        whole = len(blocks) == 2 and _make_up(blocks, total, terms)
    except (TypeError, ValueError):
        blocks, whole = (total,), False
    if blocks and not whole:
        must_be = "empty, or two pairs of an amount and a delta that make up the whole"
        raise InvalidParameterError("blocks", owner=_READER, must_be=must_be, got=written)
    return blocks


def _make_up(blocks: tuple[Loss, ...], total: Loss, terms: Mapping[str, Any]) -> bool:
    """Whether the two parts sum to the total, or are kept beside it because a person answers in one part."""
    moved = blocks[0].plus(blocks[1])
    if terms["unit"] is Unit.ADD_OR_REMOVE_ONE or terms["trust"] is Trust.NONE:
        return False
    if terms["unit"] is Unit.REPLACE_ONE or OWN_PART not in terms["assumptions"]:
        return moved == total
    return blocks[0].within(total) and total.within(moved)


def _read_loss(epsilon: Number | None, delta: Number, rho: Number | None) -> Loss:
    if (epsilon is None) == (rho is None):
        raise InvalidParameterError(
            "epsilon", owner=_OWNER, must_be="given, or rho, but not both", got=epsilon, hint="epsilon='1/10'"
        )
    stray = exact(delta, name="delta", owner=_OWNER, least=0, most=1)
    if rho is None:
        return Loss(exact(epsilon, name="epsilon", owner=_OWNER, least=0), stray)
    if stray:
        raise InvalidParameterError(
            "delta", owner=_OWNER, must_be="0 when rho is given", got=delta, hint=".to_approximate(delta=...)"
        )
    return Loss(exact(rho, name="rho", owner=_OWNER, least=0), concentrated=True)


def _count(name: str, given: object) -> int:
    return integer(name, given, owner=_OWNER, low=1, high=MOST_PEOPLE)


def _texts(name: str, given: object) -> tuple[str, ...]:
    """Return the texts, each once; a single text is a list of one."""
    try:
        texts = [given] if isinstance(given, str) else list(islice(given, _MOST_TEXTS + 1))  # type: ignore[call-overload]
    except TypeError:  # not iterable, whatever its class says
        texts = [None]
    if len(texts) > _MOST_TEXTS or not all(isinstance(text, str) and text for text in texts):
        must_be = f"a sequence of texts, {_MOST_TEXTS:,} at most"
        raise InvalidParameterError(name, owner=_OWNER, must_be=must_be, got=given)
    return unique(map(str, texts))


def _of_type(name: str, given: object, kind: type) -> object:
    if not isinstance(given, kind):
        raise InvalidParameterError(name, owner=_OWNER, must_be=f"a {kind.__name__}", got=given)
    return given
