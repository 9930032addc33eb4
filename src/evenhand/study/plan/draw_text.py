"""The text from which everything derives that a cell draws to protect the data.

It is frozen. Fields of settings may be renamed; the text keeps the names that it had when the first studies
were run, so that a study that is run again draws the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.privacy.rational import as_text
from evenhand.study.plan.cells import canonical

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Cell

_NONE = "none"
_STRATEGIES = ("strategy", "post", "mitigation")
_MITIGATION = "mitigation_parameters"


def draw_text(cell: Cell) -> str:
    """Return canonical JSON of the cell: what the draws of :class:`SeededSource` are named by.

    An option ``strategy``, ``post`` or ``mitigation`` is its strategy, ``split`` its split, the parameters of
    a mitigation are the parameter ``mitigation``, and all other options are parameters by their names.

    Examples
    --------
    >>> from evenhand.study.plan.cells import Cell, Setting
    >>> draw_text(Cell(Setting("suppression", options={"threshold": 6}), 1))
    '{"epsilon":null,"parameters":{"threshold":6},"protocol":"suppression","repeat":1,"split":"none","strategy":"none"}'
    """
    setting = cell.setting
    options = dict(setting.options)
    named = next((name for name in _STRATEGIES if name in options), "")
    strategy, split = options.pop(named, _NONE), options.pop("split", _NONE)
    if _MITIGATION in options:
        options["mitigation"] = options.pop(_MITIGATION)
    key = {
        "protocol": setting.mechanism,
        "parameters": options,
        "strategy": strategy,
        "split": split,
        "epsilon": None if setting.epsilon is None else as_text(setting.epsilon),
        "repeat": cell.repeat,
    }
    return canonical(key)
