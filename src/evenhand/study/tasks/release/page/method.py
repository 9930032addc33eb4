"""The foot of a report on releases: how it was done, and what it does not cover."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report.words import epsilon_of
from evenhand.study.page.method import is_warning
from evenhand.study.page.wording import counted, listed, outcome_name, plain
from evenhand.study.tasks.collect.page.reading import LEVEL
from evenhand.study.tasks.release.execute import STATED

if TYPE_CHECKING:
    from evenhand.study.tasks.release.reading import ReleaseReading

__all__ = ["release_limits", "release_method"]


def release_method(reading: ReleaseReading) -> tuple[str, ...]:
    """Return how the study was done."""
    results = reading.results
    plan, facts = results.plan, results.facts
    task: Any = plan.task
    pairs = zip(facts.groups, facts.sizes, strict=True)
    sizes = listed([f"{reading.named(group)}: {size:,}" for group, size in pairs])
    dropped = f" {counted(facts.dropped, 'row')} left out by the schema's rules." if facts.dropped else ""
    columns = listed([plain(each) for each in facts.schema.names], most=8)
    known = facts.schema.quasi_identifiers
    quasi = f" Quasi-identifiers: {listed([plain(each) for each in known])}." if known else ""
    bound = f" Counts are bounded by {task.bound:,}, a public number." if task.bound else ""
    seeds = f"{plan.seed}" if plan.repeats == 1 else f"{plan.seed} to {plan.seed + plan.repeats - 1}"
    post = listed([plain(each) for each in task.post]) if task.post else "none"
    said = [f"{plain(facts.label)}: {counted(facts.rows, 'person', 'people')} ({sizes}).{dropped}"]
    said.append(f"The table: {columns}, every declared cell, empty ones too.{quasi}{bound}")
    said.append(f"Unit of privacy: {task.unit}, where a mechanism has a choice. Post-processing: {post}.")
    if task.classify:
        said.append(
            f"{task.validation[:1].upper()}{task.validation[1:]}, stratified by the outcome. The model, "
            f"logistic regression with one feature for each value, learns {outcome_name(facts.schema)} from "
            "the people that a table stands for; counts below 0 stand for nobody."
        )
    else:
        said.append("Every row is counted in the table; no model was trained.")
    said.append(
        f"{counted(plan.repeats, 'repeat').capitalize()}, with seeds {seeds}. What is drawn depends on the "
        "seed, the setting and the repeat; these draws are simulated and publish nothing."
    )
    said.append(
        "δ is claimed, by the mechanism's proof at the setting's ε; where a mechanism has no ε, at ε = "
        f"{STATED}. Where nothing is promised δ is 1. The largest over repeats is shown."
    )
    if any(each.mechanism == "generalized-sampling" for each in reading.protected):
        said.append("Counts of a sample are divided by its rate, as whoever reads them would do.")
    said.append(
        "A cell of which nothing is published counts as published empty. Bias and α are exact where the "
        f"mechanism has a formula, otherwise means of {task.draws:,} releases of the same table."
    )
    said += [plain(note, longest=600) for note in facts.notes if not is_warning(note)]
    return tuple(said)


def release_limits(reading: ReleaseReading) -> tuple[str, ...]:
    """Return what the numbers do not cover."""
    plan = reading.results.plan
    task: Any = plan.task
    tested = sorted({float(each.epsilon) for each in reading.protected if each.epsilon is not None})
    said = []
    if plan.repeats == 1:
        said.append("There is one repeat, so nothing is known of how much the numbers vary.")
    else:
        cover = "which rows are counted and what is drawn" if task.classify else "what is drawn"
        said.append(
            f"Intervals are for the mean over repeats on these rows, {LEVEL:.0%} each, longer where repeats "
            f"have a tail. They cover {cover}; they do not cover which people are in the data."
        )
        said.append(
            "Each interval holds on its own, except that groups and comparisons between mechanisms are "
            "widened for how many there are."
        )
    at = f", ε of {listed([epsilon_of(each) for each in tested], most=10)}" if tested else ""
    said.append(f"One data set, one table{at}. Nothing is said about others.")
    said.append("That a difference is not clear does not mean that there is none.")
    said.append(
        "Choosing a mechanism by this page uses the true data, which the guarantee of the release does not "
        "cover: use public or pilot data where you can."
    )
    if min(reading.results.facts.sizes, default=0) < 100:
        said.append("A group has fewer than 100 people, so that its shares vary much.")
    return tuple(said)
