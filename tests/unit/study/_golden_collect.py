"""Made-up studies of collection, one for each thing that a report can have to say."""

from evenhand.study.page.page import answers
from evenhand.study.plan.facts import Leak
from evenhand.study.tasks.collect.task import CollectTask
from unit.study._page_studies import (
    BEFORE,
    MEN,
    NOTHING,
    WOMEN,
    against,
    by_setting,
    crossed,
    made,
    schema_of,
    setting,
    two,
)

ONE = CollectTask(["grr", "oue", "ss"], 1, splits=["uniform", "k-based"])
SERIES = CollectTask("grr", [0.5, 1, 4])
REGIONS = ("north", "south", "west", "islands")


def with_base_rate(results, base, *, auc=(0.92, 0.61)):
    """Return results of which so many people have the outcome, with areas under the ROC curve."""
    for outcome in results.outcomes:
        for rates in outcome.groups.values():
            rates["base_rate"] = base + 1e-5 * outcome.cell.repeat  # equal repeats have no interval
        outcome.measures["auc"] = auc[outcome.cell.setting.is_protected]
    return type(results)(results.plan, results.facts, results.outcomes)


def with_people(results, sizes):
    """Return results of which a test has so many people of each group named."""
    for outcome in results.outcomes:
        for group, size in sizes.items():
            outcome.groups[group]["people"] = size
    return type(results)(results.plan, results.facts, results.outcomes)


def costs(women, men, **options):
    """Return a study in which accuracy becomes this."""
    return made(against(BEFORE, two(0.3, 0.6, accuracy=(women, men))), **{"repeats": 10, **options})


def selects(women, men, *, before=BEFORE, **options):
    """Return a study in which so many are selected."""
    return made(against(before, two(women, men)), **{"repeats": 10, **options})


def regions(before, after, lost=(0.0, 0.0, 0.0, 0.0), **options):
    """Return a study of four regions: how often they are selected, and what accuracy each loses."""

    def rates(where):
        shares, loss = (after, lost) if where.is_protected else (before, (0.0,) * 4)
        return {
            group: (share, 0.5, 0.8 - less) for group, share, less in zip(REGIONS, shares, loss, strict=True)
        }

    return made(rates, groups=REGIONS, **{"repeats": 10, **options})


def alike(noise):
    """Return a study in which every setting leaves everything as it is, up to chance."""
    return made(lambda _: BEFORE, collect=ONE, repeats=10, noise=noise)


def epsilons(table):
    """Return a study in which epsilon alone varies."""
    cells = {(None, None, epsilon): (0.28, accuracy) for epsilon, accuracy in table.items()}
    return made(by_setting(cells), collect=SERIES, repeats=10)


def works_from(epsilon):
    """Return a study whose model is of use from this epsilon on."""

    def rates(where):
        works = not where.is_protected or where.epsilon >= epsilon
        return two(0.3, 0.6, accuracy=(0.8, 0.8)) if works else two(0.99, 0.995, accuracy=(0.6, 0.6))

    return with_base_rate(made(rates, repeats=10, collect=CollectTask(["grr", "oue"], [1, 2, 4])), 0.6)


def situations(language="en"):
    """Yield what is the case, and what is said of it."""
    small = with_people(regions((0.3, 0.5, 0.4, 0.1), (0.3, 0.5, 0.4, 0.9), (0, 0, 0, 0.4)), {"islands": 6.0})
    tiny = with_people(made(against(BEFORE, BEFORE), repeats=10), {WOMEN: 12.0, MEN: 12.0})
    same, dead = two(1.0, 1.0, accuracy=(0.967, 0.967)), two(0.995, 0.999, accuracy=(0.967, 0.967))
    rare = two(0.90, 0.97, accuracy=(0.98, 0.98))
    cases = {
        "One group loses": costs(0.76, 0.82),
        "Both lose, one more": costs(0.74, 0.81),
        "Both lose as much": costs(0.77, 0.79),
        "One loses, the other gains": costs(0.76, 0.84),
        "Accuracy rises": costs(0.82, 0.84),
        "Nobody clearly loses": costs(0.80, 0.82),
        "Nobody loses at all": with_base_rate(made(against(BEFORE, BEFORE), noise=0, repeats=10), 0.6),
        "All lose the same in every repeat": with_base_rate(costs(0.79, 0.81, noise=0), 0.6),
        "A loss cannot be ruled out": costs(0.79, 0.81, noise=0.03),
        "Five repeats: accuracy falls": costs(0.74, 0.77, repeats=5),
        "Five repeats: it cannot be ruled out": costs(0.79, 0.81, repeats=5, noise=0.015),
        "One repeat": costs(0.74, 0.77, repeats=1),
        "No value": made(against(BEFORE, BEFORE), undefined=("acc", "sp_gap")),
        "Some runs failed": costs(0.76, 0.82, failed={(setting(), 0), (setting(), 1)}),
        "All runs failed": made(
            against(BEFORE, BEFORE),
            failed={(where, repeat) for where in (NOTHING, setting()) for repeat in range(5)},
        ),
        "Everyone gets the same answer": with_base_rate(
            made(against(rare, same), noise=0, repeats=10), 0.967
        ),
        "Almost everyone gets the same answer": with_base_rate(
            made(against(rare, dead), noise=0.0005, repeats=10), 0.967, auc=(0.92, 0.84)
        ),
        "Worse than one answer for everyone": with_base_rate(costs(0.55, 0.6), 0.7),
        "No better than one answer for everyone": with_base_rate(costs(0.7, 0.7), 0.7),
        "Too noisy to be better than one answer": made(against(BEFORE, BEFORE), noise=0.08),
        "Too noisy with ten repeats": made(against(BEFORE, BEFORE), noise=0.35, repeats=10),
        "No model even without protection": with_base_rate(costs(0.8, 0.82), 0.1),
        "It works from a larger epsilon on": works_from(2),
        "It works at no epsilon": works_from(99),
        "The gap grows because women are selected less often": selects(0.25, 0.60),
        "The gap grows because men are selected more often": selects(0.30, 0.66),
        "The gap narrows because men are selected less often": selects(0.30, 0.52),
        "The gap narrows from both sides": selects(0.36, 0.54),
        "The gap closes": selects(0.45, 0.4501),
        "The gap turns round": selects(0.55, 0.40),
        "A gap opens": selects(0.40, 0.50, before=two(0.45, 0.4501)),
        "There is no gap": selects(0.4502, 0.45, before=two(0.45, 0.4501)),
        "The privileged group is selected less often": selects(
            0.32, 0.58, schema=schema_of(privileged=WOMEN)
        ),
        "Four groups, the gap grows": regions((0.3, 0.5, 0.4, 0.35), (0.3, 0.6, 0.4, 0.35), (0.05, 0, 0, 0)),
        "Four groups, all lose": regions(
            (0.3, 0.5, 0.4, 0.35), (0.3, 0.5, 0.4, 0.35), (0.05, 0.04, 0.03, 0.06)
        ),
        "A group of six people": small,
        "Every group is small": tiny,
        "The split decides": made(by_setting({(None, "k-based", 1): (0.31, 0.78)}), collect=ONE, repeats=10),
        "The protocol decides": made(
            by_setting({("oue", None, 1): (0.28, 0.77), ("ss", None, 1): (0.28, 0.77)}),
            collect=ONE,
            repeats=10,
        ),
        "Less gap for less accuracy": made(
            by_setting({("oue", "k-based", 1): (0.22, 0.78)}), collect=ONE, repeats=10
        ),
        "Settings are alike": made(by_setting({}), collect=ONE, repeats=10),
        "Settings are alike, and a loss cannot be ruled out": alike(0.06),
        "No group loses more than little, and one may gain more": alike(0.03),
        "A smaller epsilon costs no more": epsilons({0.5: 0.82, 1: 0.82, 4: 0.82}),
        "Every epsilon costs": epsilons({0.5: 0.75, 1: 0.78, 4: 0.80}),
        "Columns in the clear give the secret away": costs(
            0.76, 0.82, leaks=(Leak("sex", ("job", "hours"), 1.0, 0.8), Leak("region", ("job",), 0.97, 0.5))
        ),
        "A column in the clear gives the secret away": costs(
            0.76, 0.82, collect=ONE, leaks=(Leak("sex", ("job",), 0.998, 0.52),)
        ),
        "The protocol is chosen by size": made(
            by_setting({}), collect=CollectTask(["auto", "oue"], 1), repeats=10
        ),
        "The largest epsilon costs nothing": epsilons({0.5: 0.75, 1: 0.79, 4: 0.82}),
        "Two columns hide the gap where they cross": crossed(
            (0.8, 0.2, 0.2, 0.8), (0.7, 0.2, 0.2, 0.8), repeats=10
        ),
        "A column shows the gap of crossed groups": crossed(
            (0.2, 0.2, 0.7, 0.7), (0.3, 0.3, 0.7, 0.7), repeats=10
        ),
        "A crossed group is too small": crossed(
            (0.8, 0.2, 0.2, 0.8), (0.7, 0.2, 0.2, 0.8), people=(200.0, 8.0, 200.0, 200.0), repeats=10
        ),
    }
    for title, results in cases.items():
        yield title, answers(results, language=language)
