"""Word what several kinds of study share: mechanisms that publish a table."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from evenhand.answer.case import Promise
from evenhand.answer.harm import MEANINGLESS_DELTA
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.release.postprocess.registry import steps_of
from evenhand.report.words import epsilon_words, plain
from evenhand.study.page.around import state_facts
from evenhand.study.page.wording import delta_text, odds_factor
from evenhand.study.tasks.shared.table_mechanisms import JOIN, NO_STEPS, UNITS, title_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from evenhand.answer.words import Words
    from evenhand.study.plan.cells import Setting

FILL_WORDS = {"blank": "0", "zero": "0", "half-threshold": "half of the threshold"}
"""How suppressed cells are read with each fill, in words."""

_SHORT = {"threshold": "threshold", "fraction": "", "k": "k =", "delta": None, "noise": None, "rho": "ρ ="}


def mechanism_name(setting: Setting) -> str:
    """Return the mechanism with the parameters that tell it from others of its kind.

    >>> from evenhand.study.plan.cells import Setting
    >>> mechanism_name(Setting("suppression", options={"threshold": 6}))
    'Suppression (threshold 6)'
    >>> mechanism_name(Setting("laplace"))
    'Laplace noise'
    """
    if not setting.is_protected:
        return "True table"
    said = []
    for name, value in sorted(setting.options.items()):
        if name == "fraction":
            said.append(f"{100 * float(value):.3g}% of the records")
        elif name == "noise":
            said.append(f"noise on the {value}")
        elif name == "delta":
            said.append(f"δ = {delta_text(float(value))}")
        elif name == "fill":
            said.append(f"blanks read as {FILL_WORDS[value]}")
        elif name == "post":
            labels = [step.label for step in steps_of(value.split(JOIN) if value != NO_STEPS else ())]
            said.append(", ".join(labels) or "no post-processing")
        elif isinstance(value, bool):
            said.append(name.replace("_", " ") if value else f"no {name.replace('_', ' ')}")
        else:
            said.append(f"{_SHORT.get(name) or name.replace('_', ' ')} {value}")
    title = title_of(setting.mechanism)
    return f"{title} ({plain(', '.join(said), longest=80)})" if said else title


def name_mechanism(
    words: Words, setting: Setting, steps: Sequence[str] = (), *, was: Sequence[str] = ()
) -> str:
    """Return a mechanism in a sentence, with its post-processing where counts may be negative.

    That there is none is said where the page's setting raises counts below 0, which `was` tells.
    """
    key = f"mechanism.{setting.mechanism}"
    name = words.say(key, **setting.options) if words.has(key) else title_of(setting.mechanism)
    if not MECHANISMS[setting.mechanism].may_be_negative:
        return name
    if tuple(steps) == ("nonnegative",):
        return words.say("release.raised", name=name)
    form, _, amount = steps[0].partition("=") if len(steps) == 1 else ("", "", "")
    if form and words.has(f"release.{form}"):
        return words.say(f"release.{form}", name=name, amount=amount)
    if steps:
        return f"{name}, {', '.join(step.label for step in steps_of(steps))}"
    return words.say("release.kept", name=name) if tuple(was) == ("nonnegative",) else name


def say_promise(
    words: Words, *, epsilon: Fraction | float, delta: float, unit: str, mechanism: str, assumes: str
) -> Promise:
    """Return what the publication of counts promises to one person, and that it is nothing where it is."""
    shown = delta_text(delta)
    if delta >= MEANINGLESS_DELTA or not math.isfinite(epsilon):
        return Promise(words.say("release.promise_none", delta=shown))
    changed = words.say("release.changes").split("|")[UNITS.index(unit)]
    fails = words.say("release.promise_delta", delta=shown) if delta else ""
    stated = f"{epsilon_words(epsilon)}, δ = {shown}"
    facts = state_facts(words, stated, unit=changed, mechanism=mechanism, assumes=assumes)
    slots = {"unit": changed, "factor": odds_factor(float(epsilon)), "delta": fails}
    return Promise(words.say("release.promise", **slots), facts)


def tell_apart(names: Mapping[Setting, str], page: Setting) -> dict[Setting, str]:
    """Return names of settings of which no two are alike: by parameters, and by epsilon if not the page's."""
    times = Counter((name, setting.epsilon) for setting, name in names.items())
    apart = {}
    for setting, name in names.items():
        apart[setting] = name if times[name, setting.epsilon] == 1 else mechanism_name(setting)
        if setting.epsilon not in (None, page.epsilon):
            apart[setting] += f", {epsilon_words(setting.epsilon)}"
    return apart
