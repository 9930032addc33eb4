"""The first line and the foot of a page: how it was done, what it leaves out, and what it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report.words import epsilon_of
from evenhand.study.page.wording import counted, listed, outcome_name, plain
from evenhand.study.tasks.collect.page.reading import LEVEL

if TYPE_CHECKING:
    from evenhand.study.results.results import Results
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["is_warning", "limits", "method", "sources", "sources_of", "study_line"]

_ENCODERS = {
    "narrow": "reported columns as indicators, ordered columns in the clear as their code, others one-hot",
    "one-hot": "every column with one feature per value",
    "codes": "every column as its code",
}
_INTERVALS = (
    (
        f"Intervals are for the mean over repeats on these rows, {LEVEL:.0%} each, longer where repeats have "
        "a tail. They cover which rows train and test, the model's own draws and those of protection. They "
        "do not cover which people are in the data; repeats share rows, so that for other people they are "
        "too short."
    ),
    (
        "Each interval holds on its own, except that changes of groups and comparisons between settings are "
        "widened for how many there are. Among the many numbers of the table some are bold by chance."
    ),
)
_LEAKS = ("leak", "read from the rows", "inferred")


def is_warning(note: str) -> bool:
    """Return whether a note on the data warns of a domain that was read from the rows.

    >>> is_warning("The domain of 'race' was read from the rows, and that is a leak.")
    True
    >>> is_warning("The study uses 500 of the rows.")
    False
    """
    return any(word in note for word in _LEAKS)


def method(reading: Reading) -> tuple[str, ...]:
    """Return how the study was done."""
    results = reading.results
    plan, facts = results.plan, results.facts
    task: Any = plan.task
    sizes = listed(
        [f"{reading.named(group)}: {size:,}" for group, size in zip(facts.groups, facts.sizes, strict=True)]
    )
    dropped = f" {counted(facts.dropped, 'row')} left out by the schema's rules." if facts.dropped else ""
    seeds = f"{plan.seed}" if plan.repeats == 1 else f"{plan.seed} to {plan.seed + plan.repeats - 1}"
    parameters = ", ".join(f"{name} = {value}" for name, value in task.parameters.items())
    model = f"{plain(task.model_name)}{f', {plain(parameters, longest=200)}' if parameters else ''}"
    privileged = reading.named(facts.groups[facts.privileged])
    said = [f"{plain(facts.label)}: {counted(facts.rows, 'person', 'people')} ({sizes}).{dropped}"]
    said.append(
        f"The model ({model}) learns {outcome_name(facts.schema)} from protected rows and predicts for "
        f"clean ones: {task.validation.replace(' %', '%')}."
    )
    said.append(f"Features: {_ENCODERS.get(task.encoder, task.encoder)}.")
    said.append(
        f"{counted(plan.repeats, 'repeat').capitalize()}, with seeds {seeds} for rows and model; what is "
        "drawn to protect depends on the seed, the setting and the repeat. Settings of one repeat share "
        "rows, so they are compared in pairs."
    )
    said.append(
        "Selection gap: the largest difference between two groups in the share predicted to have the "
        f"outcome. Gaps with a sign: {privileged} minus everybody else."
    )
    said.append(
        "The page is about the setting named in it. Unless one is asked for, it has the ε nearest to 1 and "
        "is the first of the plan that no other clearly beats."
    )
    said += [plain(note, longest=600) for note in facts.notes if not is_warning(note)]
    return tuple(said)


def limits(reading: Reading) -> tuple[str, ...]:
    """Return what the numbers do not cover."""
    tested = sorted({float(each.epsilon) for each in reading.protected if each.epsilon is not None})
    said = list(_INTERVALS)
    if reading.results.plan.repeats == 1:
        said = ["There is one repeat, so nothing is known of how much the numbers vary."]
    said.append(
        f"One data set, one model, ε of {listed([epsilon_of(each) for each in tested], most=10)}. Nothing "
        "is said about others."
    )
    said.append("That a difference is not clear does not mean that there is none.")
    if any(each.left_out for each in (reading.change("acc"), reading.change("sp_gap"))):
        said.append("Some repeats of the setting have no value and are left out of its means.")
    small = min(reading.results.facts.sizes, default=0)
    if small < 100:
        said.append("A group has fewer than 100 people, so that its rates vary much between repeats.")
    return tuple(said)


def sources(reading: Reading) -> tuple[str, ...]:
    """Return what the page was made from."""
    return sources_of(reading.results)


def sources_of(results: Results) -> tuple[str, ...]:
    """Return from which rows, versions and outcomes a page was made."""
    versions = listed([f"{name} {number}" for name, number in results.facts.versions.items()], most=12)
    said = [f"Rows: SHA-256 {results.facts.fingerprint[:16]}… of the encoded columns."]
    if versions:
        said.append(f"Versions: {plain(versions, longest=400)}.")
    said.append(f"Results: SHA-256 {results.digest[:16]}… of the canonical table of outcomes.")
    return tuple(said)


def study_line(results: Results) -> str:
    """Return the line at the head of a page: which study, how many cells, and how many failed."""
    name = plain(results.plan.name or results.facts.label)
    total = len(results.outcomes) + len(results.missing)
    not_run = f", {len(results.missing):,} not run" if results.missing else ""
    return f"Study: {name}. {counted(total, 'cell')}, {len(results.failures):,} failed{not_run}"
