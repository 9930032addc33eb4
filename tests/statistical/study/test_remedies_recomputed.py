"""What a page says of payers and remedies is found again on fresh draws, by a few lines of its own."""

import numpy as np
import pytest

from evenhand.answer.telling import Telling
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.prepare import prepare
from evenhand.study.run.stages import add_remedies
from evenhand.study.run.whole import run
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.learn.task import LearnTask

SEED, REPEATS, SURE = 777_000, 20, 3.0  # a seed that no study starts from; so many standard errors
MATTERS = 10.0
RACE = ("gender", "race")


class Fresh:
    """Fresh runs of a study's settings: the rates of each cell, and all else worked out here."""

    def __init__(self, plan, telling, *, unwanted, repeats):
        margins = {margin for margins in telling.table.margins.values() for margin in margins}
        self.page, self.unwanted, self.repeats = telling.table.page, unwanted, range(repeats)
        self.cells = {
            (str(outcome.cell.setting), outcome.cell.repeat): outcome.groups
            for outcome in run(
                plan.with_(seed=SEED, repeats=repeats, confirm=False), workers=1, progress=False
            ).outcomes
        }
        self.people = set(self.cells["unprotected", 0]) - margins

    def rates(self, setting, group):
        """Return how many of 1,000 are selected, wrongly refused and wrongly selected, by repeat."""
        cells = [self.cells[setting, repeat][group] for repeat in self.repeats]
        base, chosen, hit, flagged = (
            np.nan_to_num([cell[name] for cell in cells]) for name in ("base_rate", "selection", "tpr", "fpr")
        )
        return 1000 * np.array([chosen, base * (1 - hit), (1 - base) * flagged])

    def harm(self, setting, group):
        """Return what a group lacks of 1,000, by repeat: by the effect that it lacks most."""
        selected, refused, flagged = self.rates(setting, group) - self.rates("unprotected", group)
        lacks = max((selected, flagged) if self.unwanted else (-selected, refused), key=np.mean)
        return lacks if lacks.mean() > 0 else 0 * lacks

    def rise(self, setting, group):
        """Return by how much more a group lacks than under the page's setting."""
        return _limits(self.harm(setting, group) - self.harm(self.page, group))

    def in_all(self, setting):
        """Return how many of 1,000 people are selected, and how many are judged wrongly."""
        sizes = {
            group: [self.cells[setting, at][group]["people"] for at in self.repeats] for group in self.people
        }
        people = sum(map(np.array, sizes.values()))
        shares = sum(self.rates(setting, group) * np.array(sizes[group]) / people for group in self.people)
        return float(shares[0].mean()), float(shares[1:].sum(axis=0).mean())


def _limits(values):
    """Return the least and the most that a mean may be, beyond what chance explains."""
    error = SURE * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - error), float(values.mean() + error)


def find_wrong(telling, fresh):
    """Return what fresh draws say against who pays, and against what is recommended."""
    found, wrong = telling.verdict, []
    judged = {row.group for row in telling.harmful if row.status != "unjudged"}
    harms = {group: fresh.harm(fresh.page, group) for group in judged}
    if found.state == "nobody":
        wrong += [f"{group} pays" for group in judged if _limits(harms[group])[0] > MATTERS]
    if found.state == "pays":
        payer = found.payers[0].row.group
        suspected = {row.group for row in (*(each.row for each in found.payers), *found.maybe_worse)}
        margins = telling.table.margins  # who is part of a larger group that is named is named with it
        others = {
            each for each in judged & fresh.people if suspected.isdisjoint((each, *margins.get(each, ())))
        }
        wrong += [f"{group} pays more" for group in others if _limits(harms[group] - harms[payer])[0] > 0]
        wrong += ["who is named does not pay"] * (_limits(harms[payer])[1] < MATTERS)
    use = telling.choice.first
    return wrong if use is None else wrong + failed_tests(telling, fresh, use.option.name)


def failed_tests(telling, fresh, use):
    """Return which of the four tests a remedy fails on fresh draws."""
    judged = {row.group for row in telling.harmful if row.status != "unjudged"}
    wrong = [f"{group} is harmed" for group in judged if fresh.rise(use, group)[0] > MATTERS]
    helped = fresh.rise(use, telling.verdict.payers[0].row.group)
    wrong += ["no clear help"] * (helped[0] > -MATTERS or helped[1] >= 0)
    (due, _), (own, errs), (now, errors) = map(fresh.in_all, ("unprotected", fresh.page, use))
    wrong += ["too many or too few"] * (abs(now - due) > max(0.1 * due, abs(own - due)))
    wrong += ["too many errors"] * (errors - errs > 10)
    return wrong


def audit(task, *, crossed=(), dataset="causal", **options):
    """Return what is said of a study with its remedies, and fresh runs of the same settings."""
    plan = Plan(data=DataSource(dataset=dataset, options=options), task=task, repeats=REPEATS)
    if crossed:
        schema = prepare(plan).facts.schema
        plan = plan.with_(schema=schema.with_roles(protected=list(crossed), privileged=None))
    plan = add_remedies(plan, prepare(plan).facts)
    telling = Telling(plan.task.case(run(plan, workers=1, progress=False)))
    return telling, Fresh(plan, telling, unwanted=dataset == "compas", repeats=REPEATS)


def collect(epsilon, split="uniform"):
    """Return a collection by GRR."""
    return CollectTask("grr", [epsilon], splits=split, model="quick-boosting")


# --- a study of simulated people ------------------------------------------------------------------


@pytest.fixture(scope="module")
def helped():
    return audit(collect(2), n=30_000)


@pytest.fixture(scope="module")
def priced():
    return audit(collect(1), n=30_000)


@pytest.mark.figures
def test_what_is_recommended_passes_the_four_tests_on_fresh_draws(helped):
    """If not, somebody who follows the page would harm people whom nobody mentioned."""
    telling, fresh = helped

    assert telling.choice.first is not None
    assert telling.choice.again == telling.choice.first.option.name
    assert find_wrong(telling, fresh) == []


@pytest.mark.figures
def test_its_figures_are_those_of_fresh_draws(helped):
    telling, fresh = helped
    name, payer = telling.choice.again, telling.verdict.payers[0].row
    least, most = telling.lack_limits(telling.by_key[name, payer.group, payer.effect])
    found = _limits((fresh.rates("unprotected", payer.group) - fresh.rates(name, payer.group))[0])

    assert payer.effect == "selected"
    assert found[0] <= most
    assert found[1] >= least


@pytest.mark.figures
def test_a_price_is_paid_on_fresh_draws_too(priced):
    """If not, the page would warn of what does not happen, and nobody would use what helps."""
    telling, fresh = priced
    trade_off = telling.choice.find_least("trade-off")

    assert telling.choice.first is None
    assert trade_off.harmed
    assert all(fresh.rise(trade_off.option.name, each.lead.group)[1] > MATTERS for each in trade_off.harmed)
    assert find_wrong(telling, fresh) == []


@pytest.mark.figures
def test_a_page_that_names_another_payer_or_remedy_would_be_found_out(helped, priced):
    """The twin of the tests above."""
    telling, fresh = helped
    other = next(each.option.name for each in telling.choice.trials if each.tag == "no clear help")

    assert "no clear help" in failed_tests(telling, fresh, other)
    assert failed_tests(telling, fresh, fresh.page) == ["no clear help"]


# --- data sets ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "more"),
    [
        (collect(1), {"dataset": "compas"}),
        (collect(1), {"dataset": "lsac"}),
        (collect(1), {"dataset": "adult"}),
        (collect(1), {"dataset": "adult", "crossed": RACE}),
        (collect(1), {}),
        (LearnTask("dp", epsilons=[0.05]), {"dataset": "adult"}),
        (LearnTask("dp", epsilons=[0.05]), {"dataset": "adult", "crossed": RACE}),
        (LearnTask("dp", epsilons=[0.1]), {"dataset": "lsac"}),
        (LearnTask("dp", epsilons=[0.1]), {"dataset": "compas"}),
    ],
)
def test_no_page_of_a_data_set_contradicts_fresh_draws(task, more):
    telling, fresh = audit(task, **more)

    assert find_wrong(telling, fresh) == []
