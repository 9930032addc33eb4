"""Where each protocol is loaded from: a protocol is one file with its class, and one line here.

Everything else asks for the class by its name, so this list is the only one. It costs no import of numpy, so
that help texts can read it; a class is loaded when it is first asked for.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

HOMES = {
    "grr": "evenhand.collect.protocols.grr:GRR",
    "blh": "evenhand.collect.protocols.hashing:BLH",
    "olh": "evenhand.collect.protocols.hashing:OLH",
    "rappor": "evenhand.collect.protocols.unary:RAPPOR",
    "oue": "evenhand.collect.protocols.unary:OUE",
    "ss": "evenhand.collect.protocols.subset:SS",
    "the": "evenhand.collect.protocols.thresholded:THE",
    "optimal": "evenhand.collect.protocols.optimal:Optimal",
}
"""The module and the class of each protocol, by the protocol's name."""


class _Classes(Mapping[str, type[Any]]):
    """The classes of :data:`HOMES`, each loaded when it is asked for."""

    def __getitem__(self, name: str) -> type[Any]:
        module, _, kind = HOMES[name].partition(":")
        loaded: type[Any] = getattr(import_module(module), kind)
        return loaded

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)

    def __repr__(self) -> str:
        return f"<protocols {', '.join(HOMES)}>"


CLASSES = _Classes()
"""Every protocol class by its name."""
