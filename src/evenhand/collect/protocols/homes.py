"""Where each protocol is loaded from: a protocol is one file with its class, and one line here.

Everything else asks for the class by its name, so this list is the only one. It costs no import of numpy, so
that help texts can read it; a class is loaded when it is first asked for. Other packages add protocols by the
entry points ``evenhand.protocols``.
"""

from typing import Any

from evenhand._registry import PluginRules, Registry

CLASSES: Registry[type[Any]] = Registry(
    {
        "grr": "evenhand.collect.protocols.grr:GRR",
        "blh": "evenhand.collect.protocols.hashing:BLH",
        "olh": "evenhand.collect.protocols.hashing:OLH",
        "rappor": "evenhand.collect.protocols.unary:RAPPOR",
        "oue": "evenhand.collect.protocols.unary:OUE",
        "ss": "evenhand.collect.protocols.subset:SS",
        "the": "evenhand.collect.protocols.thresholded:THE",
        "optimal": "evenhand.collect.protocols.optimal:Optimal",
    },
    PluginRules(
        "evenhand.protocols",
        "protocol",
        "a class derived from evenhand.collect.Protocol, with all of its abstract methods",
        base="evenhand.collect.protocols.base:Protocol",
        needs=("title",),
        taken=("auto", "none"),
    ),
)
"""Every protocol class by its name."""
