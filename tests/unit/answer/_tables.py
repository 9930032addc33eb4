"""Sixty made-up cases, each a table whose answer a person sees at once, for reading what is said of it."""

import math
from dataclasses import replace

import numpy as np

from evenhand.answer.case import Case, Name, OptionName
from evenhand.answer.effects import EVERYBODY, EffectTable, Observation, Option

PLAIN, PAGE = "plain", "noise"
_WIGGLE = np.array([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 0.5, 1.0, 1.0, 0.5])
GERMAN = {
    "women": "Frauen", "men": "Männer", "others": "Übrige", "Black women": "schwarze Frauen",
    "Black people": "Schwarze", "white people": "Weiße", "Asian people": "Asiaten", "white men": "weiße Männer",
    "Black men": "schwarze Männer", "white women": "weiße Frauen", "young people": "Jüngere",
    "old people": "Ältere", "Ash County": "Kreis Ash", "Oak County": "Kreis Oak", "Elm County": "Kreis Elm",
    "small counties": "kleine Kreise", "large counties": "große Kreise",
}  # fmt: skip


# --- rows ---------------------------------------------------------------------------------------


def see(group, effect, after, due, *, option=PAGE, people=1_000.0, basis="repeats", wiggle=1.0, **more):
    """Return an observation: ten repeats near a value, which are not those of another, or a single one."""
    order = np.random.default_rng(sum(map(ord, f"{option}{group}{effect}"))).permutation(len(_WIGGLE))
    noise = wiggle * _WIGGLE[order] if basis == "repeats" else np.zeros(1)
    return Observation(option, group, effect, after + noise, due + 0 * noise, people, basis, **more)


def exact(group, effect, after, due, *, people=None, **more):
    """Return an exact observation; by default of as many people as are due."""
    people = due if people is None else people
    return see(group, effect, after, due, basis="exact", people=float(people), **more)


def runs(group, effect, values, due, **more):
    """Return an observation of the repeats that are given."""
    values = np.array(values, dtype=float)
    people = more.pop("people", 1_000.0)
    return Observation(PAGE, group, effect, values, np.full(len(values), float(due)), people, **more)


def qualified(group, after, due, *, base, **more):
    """Return wrongful refusals of 1,000 who qualify, of whom there are `base` in 1,000 of the group."""
    seen = see(group, "wrongly_refused", after * base / 1000, due * base / 1000, wiggle=0.3, **more)
    return replace(seen, rate=float(after), due_rate=float(due))


def cured(name, *rows):
    """Return the rows of a remedy, each as (group, effect, after, due) and options of `see`."""
    return [see(*row[:4], option=name, **(row[4] if len(row) > 4 else {})) for row in rows]


def in_all(effect, after, due=None, *, people=2_000.0, **options):
    """Return what everybody has in all: under the page's option `after`, under others as they are named."""
    due = after if due is None else due
    values = {PLAIN: due, PAGE: after, **options}
    return [see(EVERYBODY, effect, value, due, option=name, people=people) for name, value in values.items()]


def remedy(name="cure", **more):
    """Return a remedy at the page's epsilon."""
    return Option(name, PAGE, **{"epsilon": 1.0, "is_remedy": True, **more})


# --- cases --------------------------------------------------------------------------------------


def make(*seen, options=(), page=None, called="hired", names=None, remedies=None, **more):
    """Return a case of a classifier; rows may be lists of rows, and `names` are added to what is known."""
    rows = tuple(row for part in seen for row in (part if isinstance(part, list) else [part]))
    in_table = {key: more.pop(key) for key in ("margins", "entities", "unwanted", "matters") if key in more}
    known = (Option(PLAIN), page or Option(PAGE, PLAIN, epsilon=1.0, method="noise"), *options)
    table = EffectTable(known, rows, PAGE, **in_table)
    entities = table.entities
    groups = {
        group: Name(group, f"{group[:1].upper()}{group[1:]}", is_one=group in entities)
        for group in dict.fromkeys(row.group for row in rows)
        if group
    }
    titles = {
        PLAIN: OptionName("no privacy", "without privacy"),
        PAGE: OptionName("GRR", "by GRR"),
        "cure": OptionName("Optimal", "by Optimal", "Use Optimal at the same ε"),
        "parity": OptionName("parity", "with parity", "Use parity", "takes a tenth of ε"),
        **(remedies or {}),
    }
    sampled = any(row.basis == "repeats" and len(row.after) > 1 for row in rows)
    return Case(
        table,
        **{
            "kind": "Collect answers, then decide with a model",
            "question": "If people's answers are randomised before a model decides, who pays?",
            "groups": groups | (names or {}),
            "options": titles,
            "protection": "Privacy",
            "called": called,
            "repeats": 10 if sampled else 1,
            **more,
        },
    )


def release(*seen, **more):
    """Return a case of a published table."""
    return make(
        *seen,
        **{
            "kind": "Publish a table",
            "question": "If noise is added to the table, who is miscounted?",
            "protection": "Noise",
            "remedies": {
                PAGE: OptionName("noise", "with noise"),
                "cure": OptionName("unclamped totals", "with totals", "Publish totals taken before the clamp"),
            },
            **more,
        },
    )


def money(*seen, **more):
    """Return a case of money that is shared out by noisy counts."""
    return make(
        *seen,
        **{
            "kind": "Share out money by a published table",
            "question": "If counts are noisy, which districts are paid too little?",
            "protection": "Noise",
            "heads": ("child", "children"),
            "remedies": {PAGE: OptionName("noise", "with noise"), "cure": OptionName("smoothing", "smoothed", "Smooth counts first")},
            **more,
        },
    )  # fmt: skip


def right(*seen, **more):
    """Return a case of a right that depends on a noisy count."""
    return make(
        *seen,
        **{
            "kind": "Grant a right by a published table",
            "question": "If counts are noisy, who loses help in their language?",
            "protection": "Noise",
            "heads": ("voter", "voters"),
            "remedies": {PAGE: OptionName("noise", "with noise"), "cure": OptionName("a lower threshold", "lowered", "Lower the threshold")},
            **more,
        },
    )  # fmt: skip


def measure(*seen, **more):
    """Return a case of predictions that are given: groups are compared with everybody else."""
    return make(
        *seen,
        **{
            "kind": "Measure predictions",
            "question": "Do these decisions treat groups alike?",
            "is_between_groups": True,
            "page": Option(PAGE, PLAIN),
            "remedies": {PAGE: OptionName("these decisions", "now")},
            "protection": "The model",
            **more,
        },
    )


def in_rows(group, effect, after, due, *, error, people=500.0):
    """Return a rate with its standard error, over rows."""
    return see(group, effect, after, due, basis="rows", error=error, people=people)


WOMEN = [see("women", "selected", 52, 173), see("men", "selected", 240, 231)]
WOMEN_LESS = [see("women", "selected", 52, 173), see("men", "selected", 231, 231)]


def hiring():
    """Return cases of a classifier in which one group pays."""
    cure = remedy()
    yield "one group pays, and most of it can be undone", make(
        WOMEN, qualified("women", 580, 359, base=300), in_all("in_all", 290, 300), in_all("wrong", 210),
        cured("cure", ("women", "selected", 139, 173), ("men", "selected", 233, 231)), options=(cure,),
    )  # fmt: skip
    yield "one group pays, and a third can be undone", make(
        WOMEN, cured("cure", ("women", "selected", 92, 173), ("men", "selected", 233, 231)), options=(cure,)
    )
    yield "with the remedy the group lacks nothing", make(
        WOMEN, cured("cure", ("women", "selected", 176, 173), ("men", "selected", 233, 231)), options=(cure,)
    )
    yield "two remedies tie", make(
        WOMEN,
        cured("cure", ("women", "selected", 139, 173), ("men", "selected", 233, 231)),
        cured("parity", ("women", "selected", 139, 173), ("men", "selected", 232, 231)),
        options=(cure, remedy("parity", simplicity=1)),
    )
    yield "no remedy helps", make(
        WOMEN_LESS, cured("cure", ("women", "selected", 56, 173), ("men", "selected", 231, 231)), options=(cure,)
    )
    yield "a remedy is not usable", make(
        WOMEN_LESS,
        cured("cure", ("women", "selected", 2, 173), ("men", "selected", 2, 231)),
        see(EVERYBODY, "selected", 2, 200, option="cure"), see(EVERYBODY, "auc", 50, 80, option="cure"),
        options=(cure,),
    )  # fmt: skip
    yield "no remedy was tried", make(WOMEN_LESS)
    yield "a remedy needs the true group", make(
        WOMEN_LESS, cured("parity", ("women", "selected", 170, 173), ("men", "selected", 231, 231)),
        options=(remedy("parity", needs_group=True),),
    )  # fmt: skip
    yield "a single group pays", make(see("women", "selected", 52, 173))
    yield "one of 1,000 is selected, and nobody", make(see("women", "selected", 1, 60), see("men", "selected", 60, 60))
    yield "nobody of a group is selected", make(
        runs("women", "selected", [0.0] * 9 + [0.2], 60), see("men", "selected", 60, 60)
    )
    yield "rounded numbers agree", make(see("women", "selected", 52.4, 173.6), see("men", "selected", 60, 60))
    yield "qualified people are refused", make(
        qualified("women", 580, 359, base=300), see("women", "selected", 168, 173),
        qualified("men", 220, 219, base=400), see("men", "selected", 231, 231),
    )  # fmt: skip
    yield "qualified people are refused, and a remedy helps", make(
        qualified("women", 580, 359, base=300), qualified("men", 220, 219, base=400),
        qualified("women", 400, 359, base=300, option="cure"), qualified("men", 221, 219, base=400, option="cure"),
        options=(cure,),
    )  # fmt: skip


def several():
    """Return cases of several groups."""
    yield "three groups, two of them alike", make(
        see("Black people", "selected", 200, 300), see("Asian people", "selected", 201, 300),
        see("white people", "selected", 301, 300),
    )  # fmt: skip
    yield "three groups pay, one most", make(
        see("Black people", "selected", 200, 300), see("Asian people", "selected", 260, 300),
        see("others", "selected", 262, 300), see("white people", "selected", 300, 300),
    )  # fmt: skip
    yield "five groups pay alike and one does not", make(
        [see(f"people of {letter}", "selected", 200, 300) for letter in "ABCDE"], see("people of F", "selected", 300, 300)
    )
    yield "eight groups, one pays", make(
        [see(f"people of {letter}", "selected", 200 if letter == "C" else 300, 300) for letter in "ABCDEFGH"]
    )
    yield "forty groups, three pay", make(
        [see(f"people in district {n}", "selected", 300 - 60 * (n in (7, 21, 33)), 300) for n in range(1, 41)]
    )
    yield "everybody pays, one group most", make(see("women", "selected", 52, 173), see("men", "selected", 201, 231))
    yield "everybody pays alike", make(see("women", "selected", 120, 173), see("men", "selected", 178, 231))
    margins = {"Black women": ("women", "Black people")}
    crossed = [see("women", "selected", 250, 300), see("Black people", "selected", 245, 300)]
    yield "a crossing is clearly worse than its margins", make(
        crossed, see("Black women", "selected", 150, 300), see("men", "selected", 300, 300), margins=margins
    )
    yield "a crossing is like its margins", make(
        crossed, see("Black women", "selected", 243, 300), see("men", "selected", 300, 300), margins=margins
    )
    yield "one group pays and one gains", make(see("women", "selected", 100, 300), see("men", "selected", 466, 300))
    yield "a small group may pay more", make(
        see("white people", "selected", 280, 300), see("Asian people", "selected", 250, 300, wiggle=90, people=40.0)
    )
    yield "for one group nothing clear is seen", make(
        see("women", "selected", 52, 173), see("men", "selected", 228, 231, wiggle=15),
    )  # fmt: skip
    yield "one group is too small to judge", make(WOMEN_LESS, see("others", "selected", 10, 200, people=12.0))
    yield "one group was not stored", make(
        WOMEN_LESS, Observation(PAGE, "others", "selected", np.array([]), np.array([]), 200.0)
    )


def prices():
    """Return cases in which remedies have a price."""
    parity, base = remedy("parity"), [see("women", "selected", 150, 173), see("men", "selected", 231, 231)]
    yield "the remedy would cost others more", make(
        base, cured("parity", ("women", "selected", 173, 173), ("men", "selected", 176, 231)), options=(parity,)
    )
    yield "the remedy would cost others less", make(
        WOMEN_LESS, cured("parity", ("women", "selected", 150, 173), ("men", "selected", 205, 231)), options=(parity,)
    )
    yield "the remedy selects too many", make(
        WOMEN_LESS, cured("parity", ("women", "selected", 170, 173), ("men", "selected", 400, 231)),
        in_all("in_all", 290, 300, parity=460), options=(parity,),
    )  # fmt: skip
    yield "the remedy makes more decisions wrong", make(
        WOMEN_LESS, cured("parity", ("women", "selected", 170, 173), ("men", "selected", 231, 231)),
        in_all("wrong", 210, 200, parity=236), options=(parity,),
    )  # fmt: skip
    learn = (Option("private", PLAIN, epsilon=1.0, method="noise"), Option("fair", PAGE, epsilon=1.0, is_remedy=True))
    yield "privacy costs little, parity much", make(
        see("Black people", "selected", 285, 300), see("white people", "selected", 301, 300),
        cured("fair", ("Black people", "selected", 174, 300), ("white people", "selected", 300, 300)),
        options=learn[1:], remedies={"fair": OptionName("parity", "with parity", "Use parity")},
        kind="Train a model privately", question="If a model is trained with privacy, who pays?",
    )  # fmt: skip


def epsilons():
    """Return cases of several epsilons."""
    options = [Option(f"noise {e:g}", PLAIN, epsilon=e, method="noise") for e in (0.5, 4.0)]
    names = {f"noise {e:g}": OptionName(f"GRR at ε = {e:g}") for e in (0.5, 4.0)}

    def at(half, one, four, **more):
        rows = zip(("noise 0.5", PAGE, "noise 4"), (half, one, four), strict=True)
        seen = [
            see(group, "selected", after, due, option=name)
            for name, women in rows
            for group, after, due in (("women", women, 173), ("men", 231, 231))
        ]
        return make(seen, options=tuple(options), remedies=names, **more)

    yield "a larger epsilon would spare everybody", at(20, 52, 170)
    yield "at each epsilon somebody pays", at(20, 52, 140)
    yield "the page's epsilon is the smallest at which nobody pays", at(90, 170, 172)
    yield "a smaller epsilon would do", at(169, 171, 172)


def quiet():
    """Return cases in which nobody pays, or nothing can be said."""
    yield "nobody pays", make(see("women", "selected", 170, 173), see("men", "selected", 231, 231))
    yield "nobody pays, and small groups cannot be judged", make(
        see("women", "selected", 172, 173), see("men", "selected", 231, 231),
        see("others", "selected", 0, 100, people=4.0), see("old people", "selected", 0, 100, people=1.0),
    )  # fmt: skip
    yield "equal repeats without a change", make(
        runs("women", "selected", [173] * 10, 173, people=2_000.0), runs("men", "selected", [231] * 10, 231, people=3_000.0)
    )
    yield "equal repeats with a change", make(
        runs("women", "selected", [150] * 10, 173), see("men", "selected", 231, 231)
    )
    yield "a loss is possible, and so is none", make(
        see("women", "selected", 169, 173, wiggle=25), see("men", "selected", 231, 231)
    )
    yield "a loss is likely, but not clear", make(
        runs("women", "selected", [100, 175, 110, 170, 120], 173), runs("men", "selected", [231.5, 232, 230, 230.8, 231.2], 231),
        repeats=5,
    )  # fmt: skip
    yield "all repeats on one side", make(
        runs("women", "selected", [168.9, 171.6, 172.6, 171.1, 170.3], 173, spread="selection, change"),
        runs("men", "selected", [231.5, 232, 230, 230.8, 231.2], 231), repeats=5,
    )  # fmt: skip
    yield "one repeat", make(
        runs("women", "selected", [100], 173), runs("men", "selected", [231], 231), repeats=1
    )
    yield "every group is too small", make(
        see("women", "selected", 100, 173, people=12.0), see("men", "selected", 231, 231, people=21.0)
    )
    yield "an older folder does not hold it", make(
        *(Observation(PAGE, group, "selected", np.array([]), np.array([]), 200.0) for group in ("women", "men"))
    )
    yield "nothing is calibrated", make(
        see("women", "selected", 100, 173, spread="none"), see("men", "selected", 231, 231, spread="none")
    )


def useless():
    """Return cases whose result nobody should use."""
    yield "a delta that promises nothing", make(WOMEN, page=Option(PAGE, PLAIN, epsilon=1.0, delta=0.05))
    yield "a dead model", make(
        WOMEN, see(EVERYBODY, "selected", 3, 200), see(EVERYBODY, "auc", 51, 80),
    )  # fmt: skip
    yield "a model that was dead before", make(
        WOMEN, see(EVERYBODY, "selected", 995, 995), see(EVERYBODY, "auc", 51, 52),
        see(EVERYBODY, "selected", 995, 995, option=PLAIN), see(EVERYBODY, "auc", 52, 52, option=PLAIN),
    )  # fmt: skip
    yield "districts are paid below zero", money(
        exact("Ash County", "billed", 31, 0, people=40), exact("Oak County", "billed", 2, 0, people=200),
        exact("Ash County", "short", 40_100, 40_000, people=40), exact("Oak County", "short", 199_000, 200_000, people=200),
        entities=frozenset({"Ash County", "Oak County"}),
    )  # fmt: skip
    yield "a group is wholly missing", release(
        exact("Black men", "counted", 0, 2_616), exact("white men", "counted", 20_004, 20_000)
    )
    yield "one person is hidden", release(
        exact("old people", "hidden", 1, 0, people=1), exact("young people", "hidden", 0, 0, people=100)
    )


def flagged():
    """Return cases in which to be selected is a harm."""
    unwanted = {"unwanted": True, "called": "stopped"}
    yield "people are stopped more often", make(
        see("Black people", "selected", 300, 200), see("white people", "selected", 200, 200), **unwanted
    )
    yield "people are stopped wrongly", make(
        see("Black people", "wrongly_selected", 90, 40), see("Black people", "selected", 205, 200),
        see("white people", "wrongly_selected", 41, 40), see("white people", "selected", 200, 200), **unwanted,
    )  # fmt: skip
    yield "estimates of shares are off", make(
        see("women", "share_error", 420, 480), see("men", "share_error", 521, 520),
        kind="Collect answers", question="If answers are randomised, whose share is estimated wrongly?",
    )  # fmt: skip


def tables():
    """Return cases of published tables."""
    cure = remedy()
    yield "two people are counted as nine", release(
        exact("Asian people", "counted", 9.1, 2), exact("white people", "counted", 14_003, 14_000),
        exact("Black people", "counted", 25.5, 26),
    )  # fmt: skip
    yield "people are lost, and totals would repair it", release(
        exact("Black women", "counted", 212, 250), exact("white women", "counted", 3_031, 3_000),
        exact("Black women", "counted", 249, 250, option="cure"), exact("white women", "counted", 3_001, 3_000, option="cure"),
        [exact(EVERYBODY, "off", value, 0, people=3_250, option=name) for name, value in ((PAGE, 4), ("cure", 4.4))],
        options=(cure,),
    )  # fmt: skip
    yield "the remedy makes cells less exact", release(
        exact("Black women", "counted", 212, 250), exact("white women", "counted", 3_001, 3_000),
        exact("Black women", "counted", 249, 250, option="cure"), exact("white women", "counted", 3_001, 3_000, option="cure"),
        [exact(EVERYBODY, "off", value, 0, people=3_250, option=name) for name, value in ((PAGE, 4), ("cure", 7))],
        options=(cure,),
    )  # fmt: skip
    yield "some people are hidden", release(
        exact("Black women", "hidden", 42, 0, people=250), exact("white women", "hidden", 12, 0, people=3_000)
    )
    yield "people are made up", release(
        exact("Asian people", "invented", 12.4, 0, people=20), exact("white people", "invented", 3, 0, people=14_000)
    )
    yield "cells are off", release(
        exact("Asian people", "off", 64.3, 0, people=20), exact("white people", "off", 0.4, 0, people=14_000)
    )
    yield "nobody is miscounted", release(
        exact("women", "counted", 3_000.4, 3_000), exact("men", "counted", 2_905, 2_900)
    )


def decisions():
    """Return cases of rights and money."""
    cure, counties = remedy(), frozenset({"Ash County", "Oak County", "Elm County"})
    yield "one county is refused its right", right(
        exact("Ash County", "refused", 438, 0, people=120), exact("Oak County", "refused", 5, 0, people=900),
        exact("Elm County", "granted", 300, 0, people=80), entities=counties,
    )  # fmt: skip
    yield "voters of small counties lose a right", right(
        exact("small counties", "refused", 127, 0, people=1_200), exact("large counties", "refused", 3, 0, people=90_000),
        exact("small counties", "granted", 88, 0, people=2_000),
    )  # fmt: skip
    yield "fewer wrong decisions, but more wrongly refused", right(
        exact("small counties", "refused", 101, 0, people=1_200), exact("Ash County", "refused", 438, 0, people=120),
        exact("small counties", "refused", 127, 0, people=1_200, option="cure"),
        exact("Ash County", "refused", 664, 0, people=120, option="cure"),
        [exact(EVERYBODY, "wrong", value, 0, people=5_000, option=name) for name, value in ((PAGE, 379), ("cure", 348))],
        options=(cure,), entities=counties,
    )  # fmt: skip
    yield "a lower threshold helps", right(
        exact("small counties", "refused", 127, 0, people=1_200), exact("large counties", "refused", 3, 0, people=90_000),
        exact("small counties", "refused", 30, 0, people=1_200, option="cure"),
        exact("large counties", "refused", 1, 0, people=90_000, option="cure"), options=(cure,),
    )  # fmt: skip
    yield "small districts are paid too little", money(
        exact("small counties", "short", 388_000, 400_000, people=400), exact("large counties", "short", 9_012_000, 9_000_000, people=9_000)
    )
    yield "smoothing pays small districts what is due", money(
        exact("small counties", "short", 388_000, 400_000, people=400), exact("large counties", "short", 9_012_000, 9_000_000, people=9_000),
        exact("small counties", "short", 399_600, 400_000, people=400, option="cure"),
        exact("large counties", "short", 9_000_400, 9_000_000, people=9_000, option="cure"), options=(cure,),
    )  # fmt: skip
    yield "a tiny part of the budget", money(
        exact("small counties", "short", 399_990, 400_000, people=400), exact("large counties", "short", 9_000_010, 9_000_000, people=9_000),
        exact("small counties", "short", 400_000, 400_000, people=400, option="cure"),
        exact("large counties", "short", 9_000_000, 9_000_000, people=9_000, option="cure"), options=(cure,),
    )  # fmt: skip
    yield "money from drawn releases", money(
        see("small counties", "short", 388_000, 400_000, people=400, basis="draws", error=900),
        see("large counties", "short", 9_012_000, 9_000_000, people=9_000, basis="draws", error=900),
    )  # fmt: skip


def measured():
    """Return cases of given predictions."""
    yield "qualified people of one group are refused more often", measure(
        in_rows("Black people", "wrongly_refused", 412, 133, error=30), in_rows("white people", "wrongly_refused", 133, 412, error=30),
    )  # fmt: skip
    yield "selected less often, with no outcome", measure(
        in_rows("women", "selected", 100, 240, error=15), in_rows("men", "selected", 240, 100, error=15)
    )
    yield "nobody fares worse", measure(
        in_rows("women", "wrongly_refused", 132, 133, error=2), in_rows("men", "wrongly_refused", 133, 132, error=2)
    )
    yield "a gap is possible, and so is none", measure(
        in_rows("women", "wrongly_refused", 140, 133, error=12, people=60.0), in_rows("men", "wrongly_refused", 133, 140, error=12, people=60.0)
    )


def cases():
    """Return every case by its name."""
    parts = (hiring, several, prices, epsilons, quiet, useless, flagged, tables, decisions, measured)
    found = {name: case for part in parts for name, case in part()}
    assert all(math.isfinite(row.people) for case in found.values() for row in case.table.observations)
    return found


def in_german(case):
    """Return a case in German."""
    groups = {
        group: Name(GERMAN.get(group, group), GERMAN.get(group, group), name.is_one)
        for group, name in case.groups.items()
    }
    return replace(case, groups=groups, language="de")
