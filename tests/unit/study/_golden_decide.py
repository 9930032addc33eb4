"""Made-up studies of decisions, one for each thing that a report can have to say."""

import math

from evenhand._notes import Note
from evenhand.study.page.page import answers
from unit.study._decide_studies import (
    MONEY,
    RIGHTS,
    always,
    done_besides,
    entity,
    made,
    money,
    money_task,
    rule_task,
)

NOBODY = {"moved": 0.001, "cost_of_privacy": 0.001, "mean_error": 4.2, "largest_error": 9.5}


def changed(said, **parts):
    """Return made-up numbers with other measures, groups or entities."""
    measures = {**said["measures"], **parts.pop("measures", {})}
    return {**said, "measures": measures, **parts}


def people(young, old):
    """Return what people of two groups gain per head."""
    heads = {"young": (1_000.0, young), "old": (4_000.0, old)}
    return {
        group: {"people": size, "due": 100 * size, "gain": size * head, "gain_per_head": head}
        for group, (size, head) in heads.items()
    }


def refused(young, old):
    """Return how many of two groups, of 1,000 entitled people each, are refused by error."""
    return {
        group: {"people": 2_000.0, "due": 1_000.0, "refused": number, "granted": 0.0}
        for group, number in (("young", young), ("old", old))
    }


def small(**parts):
    """Return an allotment in which nobody gains or loses a cent on average."""
    tiny = [entity("Elm", 12_000, 0.6, -3e-10), entity("Ash", 2, 0.1, 2e-10)]
    return changed(MONEY, measures=NOBODY, entities=tiny, gains={1: 2e-4, 7: -3e-4}, **parts)


def risks(*chances, granted=(), **measures):
    """Return a rule by which towns that have the right lose it with these chances."""
    have = [entity(f"Town {'ABCDEFGHIJ'[place]}", 900, 1.0, -chance) for place, chance in enumerate(chances)]
    not_have = [entity(f"Town {'UVWXYZ'[place]}", 90, 0.0, chance) for place, chance in enumerate(granted)]
    every = [*chances, *granted]
    found = {
        "expected_refused": math.fsum(chances),
        "expected_granted": math.fsum(granted),
        "expected_wrong": math.fsum(every),
        "largest_flip": max(every, default=0.0),
        "at_risk": float(sum(chance >= 0.05 for chance in every)),
        "at_risk_of_loss": float(sum(chance >= 0.05 for chance in chances)),
    }
    order = sorted([*have, *not_have], key=lambda each: -each[1]["flip"])
    return changed(RIGHTS, measures={**found, **measures}, entities=order)


def beside(said, *, post=(), chosen="laplace 1", rule=False, epsilons=(1,), **others):
    """Return what is said of a study in which other methods come to other measures."""
    names = [name.replace("_", "-") for name in others if name != "nonnegative"]

    def given(setting):
        return changed(said, measures=others.get(done_besides(setting).replace("-", "_"), {}))

    task = (rule_task if rule else money_task)(post=post, mitigations=names, epsilons=list(epsilons))
    return answers(made(task, given), chosen=chosen)


def counties(said, *, exact=True, **parts):
    """Return a study of a right in 2,196 places."""
    drawn = {} if exact else {"exact": 0.0, "error_bound": 0.003}
    return made(rule_task(**parts), always(said, **drawn), people=2_196)


def by_epsilon(said, measure, values, *, rule=False):
    """Return a study in which a measure depends on epsilon."""

    def given(setting):
        return changed(said, measures={measure: values[float(setting.epsilon)]})

    return made((rule_task if rule else money_task)(epsilons=list(values)), given)


def larger_epsilon_helps():
    """Return what is said where epsilon alone lowers the losses."""

    def given(setting):
        return changed(MONEY, measures={"cost_of_privacy": 400.0 / float(setting.epsilon)})

    results = made(money_task(mitigations=["shrink", "linear-proxy"], epsilons=[1, 4]), given)
    return answers(results)


def allotments():
    """Yield what is the case where money follows."""
    up = [entity("Elm", 12_000, 0.6, 3e-4), entity("Ash", 2, 0.1, 2e-4)]
    turned = [(name, {**numbers, "bias": -numbers["bias"]}) for name, numbers in MONEY["entities"]]
    mixed = [*MONEY["entities"], entity("Fen", 2, 0.1, -1e-4)]
    never = dict.fromkeys((*MONEY["measures"], "largest_misallocation"), 0.0)
    beyond = {"moved": 250.0, "cost_of_privacy": 0.0, "overspent": 500.0}
    yield "Nobody gains or loses a cent", money(small(), groups=())
    yield "Nobody gains or loses a cent, with groups", money(small(groups=people(-1e-6, 1e-7)))
    yield "Nobody ever gains or loses", money(changed(MONEY, measures=never), groups=())
    yield (
        "The error of one release is not known",
        money(changed(MONEY, measures={"mean_error": math.nan, "largest_error": math.nan}), groups=()),
    )
    yield "Small towns gain from large ones", money()
    yield "Small towns gain because negatives are set to 0", money(post="nonnegative")
    yield "Small towns lose to large ones", money({**MONEY, "gains": {1: -5.0, 7: 5.0}, "entities": turned})
    yield "Small towns gain on the whole", money({**MONEY, "entities": mixed})
    fen = entity("Fen", 2, 0.1, 1e-4)
    yield (
        "Small towns lose on the whole",
        money({**MONEY, "gains": {1: -5.0, 7: 5.0}, "entities": [*turned, fen]}),
    )
    yield "Some towns gain, and no loss is clear", money({**MONEY, "gains": {}, "entities": up})
    down = [entity("Elm", 12_000, 0.6, -3e-4)]
    yield "Some towns lose, and no gain is clear", money({**MONEY, "gains": {}, "entities": down})
    yield "No line between sizes", money({**MONEY, "gains": {1: 5.0, 3: -5.0, 7: 5.0}})
    yield (
        "Nobody loses, and more is paid",
        money(changed(MONEY, measures=beyond, entities=up, gains={1: 200.0, 7: 300.0})),
    )
    yield "Draws cannot tell", made(money_task(), always(MONEY, exact=0.0, error_bound=400.0))
    yield "Drawn, and still clear", made(money_task(), always(MONEY, exact=0.0, error_bound=5.0))
    yield (
        "Shares without a budget",
        made(
            money_task(budget=None, groups=()),
            always(MONEY, moved=1e-4, cost_of_privacy=1e-4, mean_error=5e-3),
        ),
    )
    yield "Amounts in euros, at least 100", money(smallest=100, currency="EUR", groups=())
    yield "One group gains, the other loses", money({**MONEY, "groups": people(-0.2, 0.05)})
    yield "Both groups lose", money({**MONEY, "groups": people(-0.2, -0.05)})
    yield "One group alone loses money", money({**MONEY, "groups": people(-0.3, 0.0001)})
    yield "One group alone gains", money({**MONEY, "groups": people(0.3, 0.0001)})
    yield "Groups without people", money({**MONEY, "groups": people(math.nan, math.nan)})
    yield (
        "The total may be 0",
        money({**MONEY, "notes": [Note("method", "series"), Note("total", "The noisy total may be 0.")]}),
    )
    yield "A larger epsilon costs less", by_epsilon(MONEY, "cost_of_privacy", {0.1: 4_000.0, 1: 400.0})
    yield "All runs failed", made(money_task(), always(MONEY), failures=range(3))


def rules():
    """Yield what is the case where a right follows."""
    yield "One town of many is at risk", counties(risks(0.07, 0.002), groups=())
    yield "Hardly any town is at risk", counties(risks(0.0004, 0.00002), groups=())
    yield "Several towns are at risk", counties(risks(0.3, 0.25, 0.06), groups=())
    yield "Many towns lose a right", counties(risks(*[0.4] * 9, granted=[0.45] * 4), groups=())
    yield "Many lose, few gain", counties(risks(*[0.4] * 9, granted=[0.03]))
    yield "Few lose, many gain", counties(risks(0.07, 0.02, granted=[0.45] * 4), groups=())
    yield "Towns only gain a right", counties(risks(granted=[0.4, 0.2]), groups=())
    yield "Many towns only gain a right", counties(risks(granted=[0.5] * 5), groups=())
    yield "Nobody is decided wrongly", counties(risks(0.0), groups=())
    yield "Nobody is likely to be decided wrongly", counties(risks(1e-9), groups=())
    yield "Rights that were drawn", counties(risks(0.3, 0.2), exact=False)
    yield "One group loses most", counties(changed(risks(0.3), groups=refused(40.0, 10.0)))
    yield "One group alone loses", counties(changed(risks(0.3), groups=refused(40.0, 0.0)))
    yield "Groups lose alike", counties(changed(risks(0.3), groups=refused(20.0, 20.0)))
    yield (
        "One group was asked about",
        counties(changed(risks(0.3), groups={"young": refused(40.0, 0.0)["young"]}), groups=["young"]),
    )
    yield "People are hardly refused", counties(changed(risks(0.0004), groups=refused(0.04, 0.001)))
    yield "No group is refused", counties(changed(risks(0.0), groups=refused(0.0, 0.0)))
    yield "One epsilon, and hardly any town is at risk", counties(risks(0.0004), groups=(), epsilons=[1])
    yield (
        "A smaller epsilon decides as well",
        by_epsilon(risks(0.0001), "expected_wrong", {0.1: 0.002, 1: 0.0001}, rule=True),
    )
    yield "A larger epsilon is needed", by_epsilon(RIGHTS, "expected_wrong", {1: 3.5, 4: 0.2}, rule=True)


def remedies():
    """Yield what is the case where mitigations were compared, and what is said of it."""
    free, half = {"cost_of_privacy": 0.0}, {"cost_of_privacy": 150.0}
    calm = changed(MONEY, measures={"mean_error": 80.0})
    yield "A mitigation removes losses", beside(MONEY, linear_proxy=free)
    yield "A mitigation lowers losses", beside(MONEY, linear_proxy=half)
    yield "A mitigation at twice the error", beside(calm, linear_proxy={**free, "mean_error": 160.0})
    yield (
        "A mitigation lowers losses at twice the error",
        beside(calm, linear_proxy={**half, "mean_error": 160.0}),
    )
    yield (
        "A mitigation costs more error than it saves",
        beside(MONEY, linear_proxy={**free, "mean_error": 9_000.0}),
    )
    yield "The better of two mitigations", beside(MONEY, shrink=half, linear_proxy=free)
    yield (
        "The plain release is better than the clamp",
        beside(
            MONEY, post="nonnegative", chosen="laplace nonnegative 1", nonnegative={"cost_of_privacy": 900.0}
        ),
    )
    yield "No mitigation helps", beside(MONEY, shrink={"cost_of_privacy": 700.0})
    yield "A larger epsilon helps, and no mitigation does", larger_epsilon_helps()
    yield (
        "Only a payment without a promise helps",
        beside(MONEY, fairness_payment={**free, "claimed_epsilon": math.nan}),
    )
    yield (
        "The page is about a payment without a promise",
        beside(
            MONEY,
            chosen="laplace fairness-payment 1",
            fairness_payment={**half, "claimed_epsilon": math.nan},
        ),
    )
    yield (
        "The page is about the best mitigation",
        beside(MONEY, chosen="laplace linear-proxy 1", linear_proxy=half),
    )
    yield (
        "A mitigation of a rule helps",
        beside(RIGHTS, rule=True, shrink={"expected_wrong": 1.5}, piecewise_proxy={"expected_wrong": 9.0}),
    )
    yield (
        "A mitigation of a rule makes errors rare",
        beside(RIGHTS, rule=True, shrink={"expected_wrong": 0.2, "exact": 0.0, "error_bound": 0.01}),
    )
    yield (
        "No mitigation of a rule helps",
        beside(RIGHTS, rule=True, shrink={"expected_wrong": 4.0}, piecewise_proxy={"expected_wrong": 9.0}),
    )


def situations():
    """Yield what is the case, and what is said of it."""
    for made_up in (allotments, rules):
        for title, results in made_up():
            yield title, answers(results)
    yield from remedies()
