"""The answer of advice: which setting to use, or that none can be named and what it would take.

Code here decides which sentence is true; the words stand in the catalogue beside this module.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.report.page import Answer
from evenhand.report.words import epsilon_of, epsilon_words, plain
from evenhand.study.advise.recommend import SAYS_NOTHING, message_bits, paired
from evenhand.study.advise.takes import nearest, what_it_takes
from evenhand.study.advise.verdicts import full_settings
from evenhand.study.advise.wording import answer_of, limit_word, name_of, say
from evenhand.study.page.comparing import ENOUGH_REPEATS, FEWEST_PEOPLE, TIGHTER, repeats_for
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP, mean_of
from evenhand.study.page.wording import is_exactly_zero
from evenhand.study.tasks.collect.prepare import telling_columns
from evenhand.study.tasks.collect.wording import protocol_name, way_name
from evenhand.study.tasks.shared.classifier import LITTLE
from evenhand.study.tasks.shared.fields import typed_list
from evenhand.study.tasks.shared.optimal_setting import NAME as OPTIMAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.advise.recommend import Candidate, Choice, Limits
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.collect.reading import CollectReading

_FEW_REPEATS = 10  # what a study of too few repeats is told to run
Said = tuple[str, dict[str, Any], int | None]


def answer(reading: CollectReading, limits: Limits, choice: Choice, *, folder: str | None) -> Answer:
    """Return what to use or what it would take, with the command for it.

    Parameters
    ----------
    reading : CollectReading
    limits : Limits
    choice : Choice
    folder : str, optional
        Of the study, as it is typed; without one there is no command.
    """
    said = _choice_answer(reading, limits, choice, folder=folder)
    names = telling_columns(reading.full_leaks, reading.results.facts.schema)
    if not names:
        return said
    leak = answer_of(
        f"leak_{'one' if len(names) == 1 else 'many'}",
        by=[plain(name) for name in names],
        columns=list(dict.fromkeys(plain(leak.column) for leak in reading.full_leaks)),
        guessed=min(leak.guessed for leak in reading.full_leaks),
        more=say("leak_parts.more") if len(reading.full_leaks) > 1 else "",
        choice=f"{said.finding} {said.evidence}".strip(),
    )
    return Answer(leak.finding, leak.evidence, _without(reading, limits, names, folder))


def _choice_answer(reading: CollectReading, limits: Limits, choice: Choice, *, folder: str | None) -> Answer:
    """Return the same for the columns as they are, whatever those in the clear give away."""
    if choice.picked is not None and choice.outcome != "too-wide":
        key, slots = _use(reading, limits, choice, choice.picked)
        said = answer_of(f"use.{key}", **slots)
        action = "" if folder is None else _privatize(reading, choice.picked.setting, folder)
        return Answer(
            said.finding, f"{said.evidence}{_open_loss(reading, choice.picked.setting)}".strip(), action
        )
    key, slots, repeats = _NONE[choice.outcome](reading, limits, choice)
    said = answer_of(f"none.{key}", **slots)
    more = "" if folder is None or repeats is None else _go_on(limits, folder, repeats)
    return Answer(said.finding, said.evidence.strip(), more)


# --- commands -------------------------------------------------------------------------------------


def _privatize(reading: CollectReading, setting: Setting, folder: str) -> str:
    data = _typed_path(reading)
    file, schema = f"{folder}/schema.toml", reading.results.facts.schema
    return str(reading.task.next_command(setting, schema, data=data, file=file)) if data else ""


def _without(reading: CollectReading, limits: Limits, names: Sequence[str], folder: str | None) -> str:
    """Return the command that asks for advice again without some columns."""
    data = _typed_path(reading)
    if folder is None or not data:
        return ""
    dropped = typed_list(names)
    words = ["evenhand", "advise", data, "--schema", f"{folder}/schema.toml", "--drop", dropped]
    return f"{shlex.join([*words, '--out', f'{folder}-again'])}{limits.typed}"


def _typed_path(reading: CollectReading) -> str:
    """Return the file of the study as it is typed from here; an empty text if there is none."""
    source = reading.results.plan.data
    if source is None or source.path is None:
        return ""
    data = os.path.relpath(source.path)
    return str(Path(source.path).resolve()) if data.startswith(os.pardir) else data


def _go_on(limits: Limits, folder: str, repeats: int) -> str:
    return f"evenhand advise --resume --out {shlex.quote(folder)}{limits.typed} --repeats {repeats}"


# --- a setting to use -----------------------------------------------------------------------------


def _use(
    reading: CollectReading, limits: Limits, choice: Choice, picked: Candidate
) -> tuple[str, dict[str, Any]]:
    """Return which sentence recommends the setting, and its slots."""
    slots: dict[str, Any] = {
        "name": name_of(picked.setting, reading.results.facts.schema),
        "at": epsilon_words(picked.setting.epsilon),
        "public": say("use.parts.public") if picked.setting.mechanism == OPTIMAL else "",
        "limit": limit_word(limits.which),
    }
    beaten = [each for each in choice.beside if each.meets] if choice.outcome == "chosen" else []
    slots["why"] = _leads(reading, choice, picked, beaten)
    slots["rest"] = _rest(reading, choice, picked, named=not limits.are_set)
    if limits.are_set:
        return _describe_within_limits(reading, limits, choice, picked, slots, beaten)
    return _cheap(reading, choice, picked, slots)


def _describe_within_limits(
    reading: CollectReading,
    limits: Limits,
    choice: Choice,
    picked: Candidate,
    slots: dict[str, Any],
    beaten: Sequence[Candidate],
) -> tuple[str, dict[str, Any]]:
    """Return which sentence says how far a setting is within the limits, and its slots."""
    loss = max(0.0, -(picked.change.low or 0.0))
    shown = {"gap": picked.gap.high or 0.0, "loss": loss, **_limits(limits)}
    slots["far"] = say(f"use.parts.far_{limits.which}", **shown)
    if choice.equal or beaten:
        kind, others = ("others", choice.equal) if choice.equal else ("better", tuple(beaten))
        key = f"use.parts.{kind}_{_number(others)}"
        name = name_of(others[0].setting, reading.results.facts.schema)
        slots["others"] = say(key, other=name, count=len(others))
        return ("kept_alike" if choice.equal else "kept_better"), slots
    return ("kept_alone" if choice.outcome == "chosen" and choice.beside else "kept"), slots


def _cheap(
    reading: CollectReading, choice: Choice, picked: Candidate, slots: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return what the smallest epsilon costs against the largest, or what the next smaller one would."""
    useful = max(each.setting.epsilon or 0 for each in choice.candidates if each.is_useful)
    epsilon = picked.setting.epsilon or 0
    if epsilon < useful:
        return "cheap", slots | {"largest": epsilon_words(useful), "change": picked.against_largest}
    smaller = [each for each in choice.candidates if (each.setting.epsilon or 0) < epsilon]
    if not smaller:
        return "one_epsilon", slots
    next_smaller = max(each.setting.epsilon or 0 for each in smaller)
    slots["smaller"] = epsilon_words(next_smaller)
    if not any(each.is_useful for each in smaller):
        best = max(
            reading.mean(ACCURACY, each.setting) for each in smaller if each.setting.epsilon == next_smaller
        )
        return "largest_dead", slots | {"after": best, "base": mean_of(reading.same_answer_runs)}
    names = protocol_name(picked.setting), way_name(picked.setting)
    other = next(
        (
            each
            for each in smaller
            if each.setting.epsilon == next_smaller
            and (protocol_name(each.setting), way_name(each.setting)) == names
        ),
        None,
    )
    if other is None or other.against_largest is None:
        return "largest_other", slots
    if is_exactly_zero(other.against_largest):
        return "largest_same", slots
    room = LITTLE + other.against_largest.value
    repeats = repeats_for([(TIGHTER * room, other.against_largest)]) if room > 0 else None
    takes = f" {say('takes.repeats', repeats=repeats)}" if repeats else ""
    return "largest", slots | {"change": other.against_largest, "takes": takes}


def _rest(reading: CollectReading, choice: Choice, picked: Candidate, *, named: bool) -> str:
    """Return which others do as well, which may, and that its reports are the shortest, if they are."""
    schema = reading.results.facts.schema
    said = [_names(reading, "alike", choice.equal)] if named and choice.equal else []
    lengths = [message_bits(each.setting, schema) for each in choice.equal]
    bits = message_bits(picked.setting, schema)
    if lengths and bits < max(lengths):
        key = "among_shortest" if bits in lengths else "shortest"
        said.append(say(f"use.parts.{key}", bits=bits))
    unsure = [each for each in choice.alike if not each.meets]
    if useful := [each for each in unsure if each.is_useful]:
        said.append(_names(reading, "open", useful))
    if dead := [name_of(each.setting, schema) for each in unsure if not each.is_useful]:
        said.append(say("use.parts.dead", others=dead))
    return "".join(said)


def _names(reading: CollectReading, part: str, others: Sequence[Candidate]) -> str:
    key = f"use.parts.{part}_{_number(others)}"
    return say(key, others=[name_of(each.setting, reading.results.facts.schema) for each in others])


def _number(others: Sequence[object]) -> str:
    return "one" if len(others) == 1 else "many"


def _leads(reading: CollectReading, choice: Choice, picked: Candidate, beaten: Sequence[Candidate]) -> str:
    """Return by how much it is ahead of those that it beats: by gap where that is clear, else by accuracy."""
    said = []
    for measure, part in ((GAP, "gap"), (ACCURACY, "accuracy")):
        ahead = {
            each.setting: paired(reading, picked.setting, each.setting, measure, level=choice.level)
            for each in beaten
        }
        clear = {setting: found for setting, found in ahead.items() if found.is_clear}
        if clear:
            least = min(clear.values(), key=lambda each: abs(each.value))
            names = [name_of(setting, reading.results.facts.schema) for setting in clear]
            said.append(say(f"use.parts.{part}_{_number(names)}", others=names, difference=least))
            beaten = [each for each in beaten if each.setting not in clear]
    return "".join(said)


def _open_loss(reading: CollectReading, setting: Setting) -> str:
    """Return which group may lose much all the same, and what would tell; an empty text if none may."""
    loss = reading.open_loss(setting)
    if loss is None:
        return ""
    key = f"use.parts.open_loss{'' if loss.repeats else '_people'}"
    return say(key, group=reading.named(loss.group), repeats=loss.repeats)


# --- nothing to use -------------------------------------------------------------------------------


def _no_candidates(reading: CollectReading, limits: Limits, choice: Choice) -> Said:  # noqa: ARG001 - one form
    tried = [each.epsilon for each in full_settings(reading.results) if each.epsilon is not None]
    if not tried or limits.epsilon is None:
        return "columns", {}, None
    return "epsilon", {"most": epsilon_words(limits.epsilon), "least": epsilon_words(min(tried))}, None


def _no_intervals(reading: CollectReading, limits: Limits, choice: Choice) -> Said:  # noqa: ARG001 - one form
    if choice.candidates:
        return "equal", {"repeats": reading.repeats}, None
    if reading.repeats > 1:
        return "no_pairs", {}, None
    return "single", {"takes": say("takes.repeats", repeats=_FEW_REPEATS)}, _FEW_REPEATS


def _few_repeats(reading: CollectReading, limits: Limits, choice: Choice) -> Said:  # noqa: ARG001 - one form
    repeats = max(each.change.runs for each in choice.candidates)
    return "few_repeats", {"repeats": repeats, "enough": ENOUGH_REPEATS}, max(_FEW_REPEATS, reading.repeats)


def _no_model(reading: CollectReading, limits: Limits, choice: Choice) -> Said:  # noqa: ARG001 - one form
    slots = {"answer": reading.same_answer, "base": mean_of(reading.same_answer_runs)}
    slots["before"] = reading.mean(ACCURACY, BASELINE)
    if reading.usefulness(BASELINE) == "useless":
        return "no_model", slots, None
    takes, repeats = _to_prove(reading, BASELINE)
    return "no_proof", slots | {"takes": takes}, repeats


def _useless(reading: CollectReading, limits: Limits, choice: Choice) -> Said:  # noqa: ARG001 - one form
    best = max(choice.candidates, key=lambda each: reading.mean(ACCURACY, each.setting)).setting
    tried = {each: each.epsilon for each in full_settings(reading.results) if each.epsilon is not None}
    works = [epsilon for each, epsilon in tried.items() if reading.is_useful(each)]
    slots: dict[str, Any] = {"at": epsilon_words(best.epsilon), "before": reading.mean(ACCURACY, BASELINE)}
    slots |= {"after": reading.mean(ACCURACY, best), "base": mean_of(reading.same_answer_runs)}
    if works:
        return "useless_here", slots | {"starts": epsilon_words(min(works))}, None
    if reading.usefulness(best) == "useless":
        return "useless", slots | {"largest": epsilon_of(max(tried.values()))}, None
    takes, repeats = _to_prove(reading, best)
    return "unproved", slots | {"takes": takes}, repeats


def _to_prove(reading: CollectReading, setting: Setting) -> tuple[str, int | None]:
    """Return how many repeats would show that a model is better than one answer for everybody."""
    ahead = reading.ahead_of_same_answer(setting)
    repeats = repeats_for([(TIGHTER * ahead.value, ahead)])
    return say("takes.repeats" if repeats else "takes.more_people", repeats=repeats), repeats


def _too_few(reading: CollectReading, limits: Limits, choice: Choice) -> Said:  # noqa: ARG001 - one form
    groups = [reading.named(group) for group in reading.too_few]
    slots = {"fewest": FEWEST_PEOPLE, "groups": groups, "people": reading.people_for_two_groups}
    return "too_few", slots, None


def _too_wide(reading: CollectReading, limits: Limits, choice: Choice) -> Said:  # noqa: ARG001 - one form
    picked = choice.picked or choice.candidates[0]
    gap, change = reading.value(GAP, picked.setting), reading.change(ACCURACY, picked.setting)
    repeats = repeats_for((SAYS_NOTHING / 2, found) for found in (gap, change))
    takes = say("takes.repeats" if repeats else "takes.more_people", repeats=repeats)
    slots = {
        "name": name_of(picked.setting, reading.results.facts.schema, epsilon=True),
        "repeats": reading.repeats,
        "gap": gap,
        "change": change,
        "takes": takes,
    }
    return "too_wide", slots, repeats


def _nothing_keeps(reading: CollectReading, limits: Limits, choice: Choice) -> Said:
    near = nearest(choice, limits)
    takes, repeats = what_it_takes(reading, choice, limits)
    dead = sum(each.keeps and not each.is_useful for each in choice.candidates)
    slots: dict[str, Any] = {
        "limits": say(f"none.parts.limits_{limits.which}", **_limits(limits)),
        "name": name_of(near.setting, reading.results.facts.schema, epsilon=True),
        "gap": near.gap,
        "change": near.change,
        "takes": takes,
        "dead": say(f"none.parts.dead_{'one' if dead == 1 else 'many'}", count=dead) if dead else "",
    }
    kind = "breaks" if all(each.breaks or not each.is_useful for each in choice.candidates) else "open"
    prefix = "" if limits.which == "both" else f"{limits.which}_"
    return f"{prefix}{kind}", slots, repeats


def _limits(limits: Limits) -> dict[str, str]:
    """Return the limits that are set in points."""
    asked = {"max_gap": limits.max_gap, "max_loss": limits.max_accuracy_loss}
    shown = {name: f"{100 * value:.6g}" for name, value in asked.items() if value is not None}
    return {
        name: say(f"none.parts.{'point' if number == '1' else 'points'}", number=number)
        for name, number in shown.items()
    }


_NONE = {
    "no-candidates": _no_candidates,
    "no-intervals": _no_intervals,
    "few-repeats": _few_repeats,
    "no-model": _no_model,
    "useless": _useless,
    "too-few": _too_few,
    "too-wide": _too_wide,
    "none": _nothing_keeps,
}
