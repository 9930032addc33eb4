"""The canonical table of a study: the same bytes however, and however often, the study was run."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from evenhand.study.store.outcome_json import canonical, result_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.study.store.outcome import Outcome

__all__ = ["canonical_table", "table_hash"]


def canonical_table(outcomes: Iterable[Outcome]) -> bytes:
    r"""Return the outcomes as lines of canonical JSON, in the order of the cells' names.

    Times are left out, for they differ from run to run. Everything else is the same to the byte for any
    number of workers, for a study that was stopped and resumed, and in every process.

    Examples
    --------
    >>> from evenhand.study import Cell, Outcome, Setting
    >>> canonical_table([Outcome(Cell(Setting(), 0), measures={"accuracy": 0.75})])
    b'{"cell":{"epsilon":null,"mechanism":"none","options":{},"repeat":0},...
    """
    named = {outcome.cell.id: outcome for outcome in outcomes}
    lines = (canonical({"cell": json.loads(name), **result_of(named[name])}) for name in sorted(named))
    return b"".join(f"{line}\n".encode("ascii") for line in lines)


def table_hash(outcomes: Iterable[Outcome]) -> str:
    """Return the SHA-256 of the canonical table, in hexadecimal.

    >>> table_hash([])
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    """
    return hashlib.sha256(canonical_table(outcomes)).hexdigest()
