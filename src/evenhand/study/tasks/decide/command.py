"""The command line that studies a decision with certain mitigations."""

from __future__ import annotations

import shlex
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.decide.language.parse import parse_weight
from evenhand.decide.mitigate.registry import mitigation_kind
from evenhand.privacy.rational import as_text
from evenhand.release.mechanisms.registry import TableMechanism
from evenhand.study.tasks.shared.fields import typed_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.study.tasks.base import StudyPlan
    from evenhand.study.tasks.decide.methods import Method


def audit_command(
    plan: StudyPlan, *, epsilons: Iterable[Fraction], mitigations: Sequence[Method], post: Sequence[str] = ()
) -> str:
    """Return the command that studies the rows of a plan; an empty text where the command line has none.

    Parameters
    ----------
    plan : Plan
        One whose task is a decision.
    epsilons : iterable of Fraction
    mitigations : sequence of Method
        Those that are compared; none leaves all out.
    post : sequence of str
        The steps of post-processing.
    """
    task: Any = plan.task
    source = plan.data
    rows = None if source is None or source.options or source.rows else source.path or source.dataset
    names = [_mitigation(mitigation) for mitigation in mitigations]
    own = {name: value for mechanism in task.mechanisms for name, value in mechanism.parameters.items()}
    if rows is None or None in names or not own.keys() <= {"delta"}:
        return ""
    options: dict[str, object] = {
        **_question(task),
        "name": task.name,
        "groups": typed_list(task.groups),
        "epsilon": ",".join(map(_epsilon, epsilons)),
        **own,
        "mechanism": ",".join(mechanism.name for mechanism in task.mechanisms),
        **{field: getattr(task, field) for field in ("touches", "unit", "draws", "currency")},
        "smallest": f"{task.smallest:g}",
        "post": ",".join(post),
        "mitigate": ",".join(map(str, names)) or "none",
    }
    default = type(task)(count="count")
    usual = {"mechanism": "laplace", "smallest": f"{default.smallest:g}"}
    usual |= TableMechanism("discrete-gaussian").parameters
    words = ["evenhand", "audit", "decide", str(rows), *(source.format_options if source else ())]
    for name, value in options.items():
        if value and value != usual.get(name, getattr(default, name, None)):
            words += [f"--{name}", str(value)]
    for word in plan.matters:
        words += ["--matters", word]
    return shlex.join(words)


def _epsilon(epsilon: Fraction) -> str:
    written = f"{float(epsilon):g}"
    return written if Fraction(written) == epsilon else as_text(epsilon)


def _question(task: Any) -> dict[str, object]:
    if task.is_rule:
        return {"rule": task.rule}
    if task.weight is None:
        return {"count": task.count, "budget": _budget(task)}
    weight = parse_weight(task.weight, parameter="weight", owner="DecideTask")
    if len(weight.names) == 1 and task.weight.strip("`") == weight.names[0]:
        return {"count": task.count, "weight": weight.names[0], "budget": _budget(task)}
    return {"allot": f"`{task.count}` * ({task.weight})", "count": task.count, "budget": _budget(task)}


def _budget(task: Any) -> str:
    return "" if task.budget is None else f"{task.budget:.15g}"


def _mitigation(mitigation: Method) -> str | None:
    """Return a mitigation as it is typed; None if it has parameters for which there is no place."""
    if not mitigation.parameters:
        return mitigation.name
    first = mitigation_kind(mitigation.name).parameters[0].name
    if set(mitigation.parameters) != {first}:
        return None
    value = mitigation.parameters[first]
    return f"{mitigation.name}={value:.15g}" if isinstance(value, float) else f"{mitigation.name}={value}"
