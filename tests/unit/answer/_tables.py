"""Made-up cases: a table of effects with what a page says around it, each in a few lines."""

from dataclasses import replace

import numpy as np

from evenhand.answer.case import Case, Name, OptionName
from evenhand.answer.effects import EVERYBODY, EffectTable, Observation, Option

PLAIN, PAGE = "plain", "noise"
_WIGGLE = np.array([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 0.5, 1.0, 1.0, 0.5])
_GERMAN = {
    "women": "Frauen", "men": "Männer", "nonbinary people": "Nichtbinäre", "Black women": "schwarze Frauen",
    "Black people": "Schwarze", "white people": "Weiße", "Asian people": "Asiaten",
    "white men": "weiße Männer", "Black men": "schwarze Männer", "white women": "weiße Frauen",
    "Ash County": "Kreis Ash",
    "Oak County": "Kreis Oak", "small counties": "kleine Kreise", "large counties": "große Kreise",
    "hired": "eingestellt", "stopped": "angehalten", "child": "Kind", "children": "Kinder", "voter": "Wähler",
    "voters": "Wähler", "Privacy": "Datenschutz", "Noise": "Rauschen", "noise": "Rauschen",
    "Use Optimal at the same ε": "Optimal beim selben ε nutzen", "parity": "Parität",
    "takes a tenth of ε": "braucht ein Zehntel von ε", "old people": "Ältere",
    "Publish totals taken before the clamp": "Summen vor dem Abschneiden veröffentlichen",
    "Lower the threshold": "Die Schwelle senken", "Smooth counts first": "Zahlen zuerst glätten",
}  # fmt: skip


# --- rows ---------------------------------------------------------------------------------------


def see(group, effect, after, due, *, option=PAGE, people=1_000.0, basis="repeats", wiggle=1.0, **more):
    """Return an observation: ten repeats near a value, which are not those of another, or a single one."""
    order = np.random.default_rng(sum(map(ord, f"{option}{group}{effect}"))).permutation(len(_WIGGLE))
    noise = wiggle * _WIGGLE[order] if basis == "repeats" else np.zeros(1)
    return Observation(option, group, effect, after + noise, due + 0 * noise, people, basis, **more)


def rows(effect, *, option=PAGE, **groups):
    """Return a sampled row for each group, from what it gets and what is due to it."""
    named = {group.replace("_", " "): values for group, values in groups.items()}
    return [see(group, effect, *values, option=option) for group, values in named.items()]


def exact(effect, *, option=PAGE, **groups):
    """Return an exact row for each group: what it gets, what is due, and its people if they are not that."""
    named = {group.replace("_", " "): (*values, values[1])[:3] for group, values in groups.items()}
    return [
        see(group, effect, after, due, people=float(people), option=option, basis="exact")
        for group, (after, due, people) in named.items()
    ]


def runs(group, effect, values, due, **more):
    """Return an observation of the repeats that are given."""
    values, people = np.array(values, dtype=float), more.pop("people", 1_000.0)
    return Observation(PAGE, group, effect, values, np.full(len(values), float(due)), people, **more)


def unknown(*groups):
    """Return rows that a folder does not hold."""
    return [Observation(PAGE, group, "selected", np.array([]), np.array([]), 200.0) for group in groups]


def qualified(group, after, due, *, base, **more):
    """Return wrongful refusals of 1,000 who qualify, of whom there are `base` in 1,000 of the group."""
    seen = see(group, "wrongly_refused", after * base / 1000, due * base / 1000, wiggle=0.3, **more)
    return replace(seen, rate=float(after), due_rate=float(due))


def in_rows(group, effect, after, due, *, error, people=500.0):
    """Return a rate with its standard error, over rows."""
    return see(group, effect, after, due, basis="rows", error=error, people=people)


def in_all(effect, due, **options):
    """Return what everybody has in all: without protection, and under the options that are named."""
    values = {PLAIN: due, **options}
    more = {"people": 2_000.0, "basis": "exact"}
    return [see(EVERYBODY, effect, value, due, option=name, **more) for name, value in values.items()]


def remedy(name="cure", **more):
    """Return a remedy at the page's epsilon."""
    return Option(name, PAGE, **{"epsilon": 1.0, "is_remedy": True, **more})


# --- cases --------------------------------------------------------------------------------------


def make(*seen, options=(), page=None, called="hired", remedies=None, fresh=(), **more):
    """Return a case of a classifier; rows may be lists of rows. `fresh` are those of fresh repeats."""
    rows = tuple(row for part in seen for row in (part if isinstance(part, list) else [part]))
    in_table = {
        key: more.pop(key) for key in ("margins", "entities", "unwanted", "matters", "context") if key in more
    }
    known = (Option(PLAIN), page or Option(PAGE, PLAIN, epsilon=1.0, method="noise"), *options)
    again = tuple(row for part in fresh for row in (part if isinstance(part, list) else [part]))
    confirmed = EffectTable(known, again, PAGE, **in_table) if again else None
    table = EffectTable(known, rows, PAGE, **in_table, fresh=confirmed)
    groups = {
        group: Name(group, f"{group[:1].upper()}{group[1:]}", is_one=group in table.entities)
        for group in dict.fromkeys(row.group for row in rows if row.group != EVERYBODY)
    }
    titles = {
        PLAIN: OptionName("no privacy", "without privacy"),
        PAGE: OptionName("GRR", "by GRR"),
        "cure": OptionName("Optimal", "by Optimal", "Use Optimal at the same ε"),
        "parity": OptionName("parity", "with parity", "Use parity", "takes a tenth of ε"),
        **(remedies or {}),
    }
    around = {
        "kind": "Collect answers, then decide with a model",
        "question": "If people's answers are randomised before a model decides, who pays?",
        "groups": groups,
        "options": titles,
        "protection": "Privacy",
        "called": called,
        "repeats": max((len(row.after) for row in rows), default=1) or 1,
    }
    return Case(table, **{**around, **more})


def release(*seen, **more):
    """Return a case of a published table."""
    cure = OptionName("unclamped totals", "with totals", "Publish totals taken before the clamp")
    around = {
        "kind": "Publish a table",
        "question": "If noise is added to the table, who is miscounted?",
        "protection": "Noise",
        "remedies": {PAGE: OptionName("noise", "with noise"), "cure": cure},
    }
    return make(*seen, **{**around, **more})


def money(*seen, **more):
    """Return a case of money that is shared out by noisy counts."""
    cure = OptionName("smoothing", "smoothed", "Smooth counts first")
    around = {
        "kind": "Share out money by a published table",
        "question": "If counts are noisy, which districts are paid too little?",
        "protection": "Noise",
        "heads": ("child", "children"),
        "remedies": {PAGE: OptionName("noise", "with noise"), "cure": cure},
    }
    return make(*seen, **{**around, **more})


def right(*seen, **more):
    """Return a case of a right that depends on a noisy count."""
    cure = OptionName("a lower threshold", "lowered", "Lower the threshold")
    around = {
        "kind": "Grant a right by a published table",
        "question": "If counts are noisy, who loses help in their language?",
        "protection": "Noise",
        "heads": ("voter", "voters"),
        "remedies": {PAGE: OptionName("noise", "with noise"), "cure": cure},
    }
    return make(*seen, **{**around, **more})


def measure(*seen, **more):
    """Return a case of predictions that are given: groups are compared with everybody else."""
    around = {
        "kind": "Measure predictions",
        "question": "Do these decisions treat groups alike?",
        "is_between_groups": True,
        "page": Option(PAGE, PLAIN),
        "remedies": {PAGE: OptionName("these decisions", "now")},
        "protection": "The model",
    }
    return make(*seen, **{**around, **more})


def in_german(case):
    """Return a case in German."""

    def german(words):
        return _GERMAN.get(words, words)

    groups = {
        key: Name(german(key), f"{german(key)[:1].upper()}{german(key)[1:]}", name.is_one)
        for key, name in case.groups.items()
    }
    return replace(
        case,
        groups=groups,
        options={key: OptionName(*map(german, option)) for key, option in case.options.items()},
        heads=tuple(map(german, case.heads)),
        called=german(case.called),
        protection=german(case.protection),
        language="de",
    )
