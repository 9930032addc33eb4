"""Sixty cases and some more, each with a table whose answer a person sees at once."""

from dataclasses import replace

from evenhand.answer.case import OptionName
from evenhand.answer.effects import EVERYBODY, Option
from unit.answer._tables import (
    PAGE,
    PLAIN,
    exact,
    in_all,
    in_rows,
    make,
    measure,
    money,
    qualified,
    release,
    remedy,
    right,
    rows,
    runs,
    see,
    unknown,
)

CURE, PARITY = remedy(), remedy("parity")
COUNTIES = frozenset({"Ash County", "Oak County", "Elm County"})
WOMEN = rows("selected", women=(52, 173), men=(231, 231))


def hiring():
    """Yield cases of a classifier in which one group pays."""
    more = rows("selected", women=(52, 173), men=(240, 231))
    yield "one group pays, and most of it can be undone", make(
        more, qualified("women", 580, 359, base=300), in_all("in_all", 300, noise=290, cure=298),
        rows("selected", option="cure", women=(139, 173), men=(233, 231)), options=(CURE,),
    )  # fmt: skip
    yield (
        "one group pays, and a third can be undone",
        make(more, rows("selected", option="cure", women=(92, 173), men=(233, 231)), options=(CURE,)),
    )
    yield (
        "with the remedy the group lacks nothing",
        make(more, rows("selected", option="cure", women=(176, 173), men=(233, 231)), options=(CURE,)),
    )
    yield (
        "two remedies tie",
        make(
            more,
            rows("selected", option="cure", women=(139, 173), men=(233, 231)),
            rows("selected", option="parity", women=(139, 173), men=(232, 231)),
            options=(CURE, remedy("parity", simplicity=1)),
        ),
    )
    cured = [more, rows("selected", option="cure", women=(139, 173), men=(233, 231))]
    yield (
        "a remedy is confirmed on fresh repeats",
        make(
            *cured,
            fresh=(
                rows("selected", women=(50, 170), men=(238, 230)),
                rows("selected", option="cure", women=(125, 170), men=(232, 230)),
            ),
            options=(CURE,),
        ),
    )
    yield (
        "the first look misled",
        make(
            *cured,
            fresh=(
                rows("selected", women=(50, 170), men=(238, 230)),
                rows("selected", option="cure", women=(54, 170), men=(232, 230)),
            ),
            options=(CURE,),
        ),
    )
    yield (
        "the first look misled, and another remedy was not run again",
        make(
            *cured,
            rows("selected", option="parity", women=(135, 173), men=(232, 231)),
            fresh=(
                rows("selected", women=(50, 170), men=(238, 230)),
                rows("selected", option="cure", women=(54, 170), men=(232, 230)),
            ),
            options=(CURE, PARITY),
        ),
    )
    yield (
        "on fresh repeats a remedy harms somebody",
        make(
            *cured,
            fresh=(
                rows("selected", women=(50, 170), men=(238, 230)),
                rows("selected", option="cure", women=(125, 170), men=(190, 230)),
            ),
            options=(CURE,),
        ),
    )
    yield (
        "no remedy helps",
        make(WOMEN, rows("selected", option="cure", women=(56, 173), men=(231, 231)), options=(CURE,)),
    )
    yield "a remedy is not usable", make(
        WOMEN, rows("selected", option="cure", women=(2, 173), men=(2, 231)),
        see(EVERYBODY, "selected", 2, 200, option="cure"), see(EVERYBODY, "auc", 50, 80, option="cure"),
        options=(CURE,),
    )  # fmt: skip
    yield "no remedy was tried", make(WOMEN)
    yield "a remedy needs the true group", make(
        WOMEN, rows("selected", option="parity", women=(170, 173), men=(231, 231)),
        options=(remedy("parity", needs_group=True),),
    )  # fmt: skip
    yield "a single group pays", make(rows("selected", women=(52, 173)))
    yield "one of 1,000 is selected", make(rows("selected", women=(1, 60), men=(60, 60)))
    yield "rounded numbers agree", make(rows("selected", women=(52.4, 173.6), men=(60, 60)))
    yield "qualified people are refused", make(
        qualified("women", 580, 359, base=300), qualified("men", 220, 219, base=400),
        rows("selected", women=(168, 173), men=(231, 231)),
    )  # fmt: skip
    yield "qualified people are refused, and a remedy helps", make(
        qualified("women", 580, 359, base=300), qualified("women", 400, 359, base=300, option="cure"),
        qualified("men", 220, 219, base=400), qualified("men", 221, 219, base=400, option="cure"),
        options=(CURE,),
    )  # fmt: skip


def several():
    """Yield cases of several groups."""
    yield (
        "three groups, two of them alike",
        make(rows("selected", Black_people=(200, 300), Asian_people=(201, 300), white_people=(301, 300))),
    )
    yield (
        "three groups pay, one most",
        make(
            rows("selected", Black_people=(200, 300), Asian_people=(260, 300)),
            rows("selected", nonbinary_people=(262, 300), white_people=(300, 300)),
        ),
    )
    alike = {f"people_of_{letter}": (200, 300) for letter in "ABCDE"}
    yield "five groups pay alike, one does not", make(rows("selected", people_of_F=(300, 300), **alike))
    eight = {f"people_of_{letter}": (200 if letter == "C" else 300, 300) for letter in "ABCDEFGH"}
    yield "eight groups, one pays", make(rows("selected", **eight))
    forty = {f"people_in_district_{n}": (300 - 60 * (n in (7, 21, 33)), 300) for n in range(1, 41)}
    yield "forty groups, three pay", make(rows("selected", **forty))
    yield "everybody pays, one group most", make(rows("selected", women=(52, 173), men=(201, 231)))
    yield "everybody pays alike", make(rows("selected", women=(120, 173), men=(178, 231)))
    margins = {"Black women": ("women", "Black people")}
    crossed = rows("selected", women=(250, 300), Black_people=(245, 300), men=(300, 300))
    yield (
        "a crossing is clearly worse than its margins",
        make(crossed, rows("selected", Black_women=(150, 300)), margins=margins),
    )
    yield (
        "a crossing pays, but not clearly more than its margins",
        make(
            rows("selected", women=(292, 300), Black_people=(292, 300), Black_women=(287, 300)),
            margins=margins,
        ),
    )
    yield (
        "a crossing pays, and one of its margins is open",
        make(
            rows("selected", Black_people=(295, 300), Black_women=(287, 300)),
            see("women", "selected", 291, 300, wiggle=4),
            margins=margins,
        ),
    )
    yield (
        "a crossing is like its margins",
        make(crossed, rows("selected", Black_women=(243, 300)), margins=margins),
    )
    yield "one group pays and one gains", make(rows("selected", women=(100, 300), men=(466, 300)))
    yield (
        "a small group may pay more",
        make(
            rows("selected", white_people=(280, 300)),
            see("Asian people", "selected", 250, 300, wiggle=90, people=40.0),
        ),
    )
    yield (
        "for one group nothing clear is seen",
        make(rows("selected", women=(52, 173)), see("men", "selected", 228, 231, wiggle=15)),
    )
    yield (
        "one group is too small to judge",
        make(WOMEN, see("nonbinary people", "selected", 10, 200, people=12.0)),
    )
    yield "one group was not stored", make(WOMEN, unknown("nonbinary people"))


def prices():
    """Yield cases in which remedies have a price."""
    yield (
        "the remedy would cost others more",
        make(
            rows("selected", women=(150, 173), men=(231, 231)),
            rows("selected", option="parity", women=(173, 173), men=(176, 231)),
            options=(PARITY,),
        ),
    )
    yield (
        "the remedy would cost others less",
        make(WOMEN, rows("selected", option="parity", women=(150, 173), men=(205, 231)), options=(PARITY,)),
    )
    yield "the remedy selects too many", make(
        WOMEN, rows("selected", option="parity", women=(170, 173), men=(400, 231)),
        in_all("in_all", 300, noise=290, parity=460), options=(PARITY,),
    )  # fmt: skip
    yield "the remedy makes more decisions wrong", make(
        WOMEN, rows("selected", option="parity", women=(170, 173), men=(231, 231)),
        in_all("wrong", 200, noise=210, parity=236), options=(PARITY,),
    )  # fmt: skip
    yield "privacy costs little, parity much", make(
        rows("selected", Black_people=(285, 300), white_people=(301, 300)),
        rows("selected", option="parity", Black_people=(174, 300), white_people=(300, 300)),
        options=(PARITY,), question="If a model is trained with privacy, who pays?",
    )  # fmt: skip


def epsilons():
    """Yield cases of several epsilons."""
    options = {e: Option(f"noise {e:g}", PLAIN, epsilon=e, method="noise") for e in (0.5, 4.0)}
    titles = {option.name: OptionName(f"GRR at ε = {e:g}") for e, option in options.items()}

    def at(half, one, four):
        return make(
            rows("selected", option="noise 0.5", women=(half, 173), men=(231, 231)),
            rows("selected", women=(one, 173), men=(231, 231)),
            rows("selected", option="noise 4", women=(four, 173), men=(231, 231)),
            options=tuple(options.values()),
            remedies=titles,
        )

    yield "a larger epsilon would spare everybody", at(20, 52, 170)
    yield "at each epsilon somebody pays", at(20, 52, 140)
    yield "the page's epsilon is the smallest at which nobody pays", at(90, 170, 172)
    yield "a smaller epsilon would do", at(169, 171, 172)


def quiet():
    """Yield cases in which nobody pays, or nothing can be said."""
    yield "nobody pays", make(rows("selected", women=(170, 173), men=(231, 231)))
    yield (
        "nobody pays, and small groups cannot be judged",
        make(
            rows("selected", women=(172, 173), men=(231, 231)),
            see("nonbinary people", "selected", 0, 100, people=4.0),
            see("old people", "selected", 0, 100, people=1.0),
        ),
    )
    men, settled = see("men", "selected", 231, 231), [231.5, 232, 230, 230.8, 231.2]
    yield (
        "equal repeats without a change",
        make(
            runs("women", "selected", [173] * 10, 173, people=2_000.0),
            runs("men", "selected", [231] * 10, 231, people=3_000.0),
        ),
    )
    yield "equal repeats with a change", make(runs("women", "selected", [150] * 10, 173), men)
    yield "a loss is possible, and so is none", make(see("women", "selected", 169, 173, wiggle=25), men)
    yield "a loss is clear, but perhaps too small", make(see("women", "selected", 164, 173, wiggle=6), men)
    yield (
        "a loss is likely, but not clear",
        make(
            runs("women", "selected", [100, 175, 110, 170, 120], 173), runs("men", "selected", settled, 231)
        ),
    )
    yield (
        "all repeats on one side",
        make(
            runs("women", "selected", [168.9, 171.6, 172.6, 171.1, 170.3], 173, spread="selection, change"),
            runs("men", "selected", settled, 231),
        ),
    )
    yield (
        "fewer flags in every repeat",
        make(
            runs("women", "selected", [150, 169, 170], 173, spread="none"),
            runs("men", "selected", [90, 120, 200], 231, spread="none"),
            unwanted=True,
            called="stopped",
        ),
    )
    yield "one repeat", make(runs("women", "selected", [100], 173), runs("men", "selected", [231], 231))
    yield (
        "every group is too small",
        make(see("women", "selected", 100, 173, people=12.0), see("men", "selected", 231, 231, people=21.0)),
    )
    yield "an older folder does not hold it", make(unknown("women", "men"))
    yield (
        "no limits are calibrated",
        make(
            see("women", "selected", 100, 173, spread="none"), see("men", "selected", 231, 231, spread="none")
        ),
    )


def useless():
    """Yield cases whose result nobody should use."""
    yield "a delta that promises nothing", make(WOMEN, page=Option(PAGE, PLAIN, epsilon=1.0, delta=0.05))
    yield "a dead model", make(WOMEN, see(EVERYBODY, "selected", 3, 200), see(EVERYBODY, "auc", 51, 80))
    yield "a model that was dead before", make(
        WOMEN, see(EVERYBODY, "selected", 995, 995), see(EVERYBODY, "auc", 51, 52),
        see(EVERYBODY, "selected", 995, 995, option=PLAIN), see(EVERYBODY, "auc", 52, 52, option=PLAIN),
    )  # fmt: skip
    yield (
        "districts are paid below zero",
        money(
            exact("billed", Ash_County=(31, 0, 40), Oak_County=(2, 0, 200)),
            exact("short", Ash_County=(40_100, 40_000, 40), Oak_County=(199_000, 200_000, 200)),
            entities=COUNTIES,
        ),
    )
    yield (
        "a group is wholly missing",
        release(exact("counted", Black_men=(0, 2_616), white_men=(20_004, 20_000))),
    )
    yield "one person is hidden", release(exact("hidden", old_people=(1, 0, 1), young_people=(0, 0, 100)))


def flagged():
    """Yield cases in which to be selected is a harm, and of shares."""
    unwanted = {"unwanted": True, "called": "stopped"}
    yield (
        "people are stopped more often",
        make(rows("selected", Black_people=(300, 200), white_people=(200, 200)), **unwanted),
    )
    yield "people are stopped more often, and a remedy helps", make(
        rows("selected", Black_people=(300, 200), white_people=(200, 200)),
        rows("selected", option="cure", Black_people=(220, 200), white_people=(200, 200)),
        options=(CURE,), **unwanted,
    )  # fmt: skip
    yield "people are stopped wrongly", make(
        rows("wrongly_selected", Black_people=(90, 40), white_people=(41, 40)),
        rows("selected", Black_people=(205, 200), white_people=(200, 200)), **unwanted,
    )  # fmt: skip
    yield "estimates of shares are off", make(
        rows("share_error", women=(420, 480), men=(521, 520)),
        kind="Collect answers", question="If answers are randomised, whose share is estimated wrongly?",
    )  # fmt: skip


def tables():
    """Yield cases of published tables."""
    yield (
        "two people are counted as nine",
        release(
            exact("counted", Asian_people=(9.1, 2), white_people=(14_003, 14_000), Black_people=(25.5, 26))
        ),
    )
    whole = exact("counted", option="cure", Black_women=(249, 250), white_women=(3_001, 3_000))
    yield "people are lost, and totals would repair it", release(
        exact("counted", Black_women=(212, 250), white_women=(3_031, 3_000)), whole,
        in_all("off", 0, noise=4, cure=4.4), options=(CURE,),
    )  # fmt: skip
    yield "the remedy makes cells less exact", release(
        exact("counted", Black_women=(212, 250), white_women=(3_001, 3_000)), whole,
        in_all("off", 0, noise=4, cure=7), options=(CURE,),
    )  # fmt: skip
    yield (
        "some people are hidden",
        release(exact("hidden", Black_women=(42, 0, 250), white_women=(12, 0, 3_000))),
    )
    yield (
        "people are made up",
        release(exact("invented", Asian_people=(12.4, 0, 20), white_people=(3, 0, 14_000))),
    )
    yield "counts are off", release(exact("off", Asian_people=(64.3, 0, 20), white_people=(0.4, 0, 14_000)))
    yield "nobody is miscounted", release(exact("counted", women=(3_000.4, 3_000), men=(2_905, 2_900)))
    yield "every count is right", release(exact("counted", women=(3_000, 3_000), men=(2_900, 2_900)))


def decisions():
    """Yield cases of rights and money."""
    yield "one county is refused its right", right(
        exact("refused", Ash_County=(438, 0, 120), Oak_County=(5, 0, 900)),
        exact("granted", Elm_County=(300, 0, 80)), entities=COUNTIES,
    )  # fmt: skip
    lost = exact("refused", small_counties=(127, 0, 1_200), large_counties=(3, 0, 90_000))
    yield (
        "voters of small counties lose a right",
        right(lost, exact("granted", small_counties=(88, 0, 2_000))),
    )
    yield "fewer wrong decisions, but more wrongly refused", right(
        exact("refused", small_counties=(101, 0, 1_200), Ash_County=(438, 0, 120)),
        exact("refused", option="cure", small_counties=(127, 0, 1_200), Ash_County=(664, 0, 120)),
        in_all("wrong", 0, noise=379, cure=348), options=(CURE,), entities=COUNTIES,
    )  # fmt: skip
    yield "a lower threshold helps", right(
        lost, exact("refused", option="cure", small_counties=(30, 0, 1_200), large_counties=(1, 0, 90_000)),
        options=(CURE,),
    )  # fmt: skip
    short = {"small_counties": (388_000, 400_000, 400), "large_counties": (9_012_000, 9_000_000, 9_000)}
    tiny = {"small_counties": (399_990, 400_000, 400), "large_counties": (9_000_010, 9_000_000, 9_000)}
    even = {"small_counties": (399_600, 400_000, 400), "large_counties": (9_000_400, 9_000_000, 9_000)}
    yield "small districts are paid too little", money(exact("short", **short))
    yield (
        "smoothing pays small districts what is due",
        money(exact("short", **short), exact("short", option="cure", **even), options=(CURE,)),
    )
    yield (
        "a tiny part of the budget",
        money(exact("short", **tiny), exact("short", option="cure", **even), options=(CURE,)),
    )
    drawn = {"basis": "draws", "error": 900}
    yield (
        "money from drawn releases",
        money(
            see("small counties", "short", 388_000, 400_000, people=400, **drawn),
            see("large counties", "short", 9_012_000, 9_000_000, people=9_000, **drawn),
        ),
    )


def measured():
    """Yield cases of given predictions."""
    yield (
        "qualified people of one group are refused more often",
        measure(
            in_rows("Black people", "wrongly_refused", 412, 133, error=30),
            in_rows("white people", "wrongly_refused", 133, 412, error=30),
        ),
    )
    yield (
        "selected less often, with no outcome",
        measure(
            in_rows("women", "selected", 100, 240, error=15), in_rows("men", "selected", 240, 100, error=15)
        ),
    )
    yield (
        "one group pays, and a second effect on it is open",
        make(
            qualified("women", 580, 359, base=300),
            runs("women", "selected", [173 - 90 * each for each in (-2, -1, 0, 0, 0, 1, 1, 2, 2, 1)], 173),
            rows("selected", men=(231, 231)),
        ),
    )
    yield (
        "as planned far fewer are hired, and the remedy changes little",
        make(
            WOMEN,
            rows("selected", option="cure", women=(51, 173), men=(231, 231)),
            in_all("in_all", 400, noise=200, cure=198),
            options=[CURE],
        ),
    )
    yield (
        "one group fares worst, and another one too",
        measure(
            in_rows("Black people", "wrongly_refused", 612, 133, error=30),
            in_rows("Asian people", "wrongly_refused", 290, 210, error=20),
            in_rows("white people", "wrongly_refused", 133, 412, error=30),
        ),
    )
    yield (
        "a cut-off that evens out one group costs another more",
        measure(
            in_rows("Black people", "wrongly_refused", 412, 133, error=30),
            in_rows("white people", "wrongly_refused", 133, 412, error=30),
            replace(in_rows("Black people", "wrongly_refused", 133, 133, error=30), option="cure"),
            replace(in_rows("white people", "wrongly_refused", 812, 133, error=30), option="cure"),
            options=[Option("cure", PLAIN, is_remedy=True)],
            remedies={
                PAGE: OptionName("these decisions", "now"),
                "cure": OptionName("a cut-off per group", "own cut-off"),
            },
        ),
    )
    yield (
        "nobody fares worse",
        measure(
            in_rows("women", "wrongly_refused", 132, 133, error=2),
            in_rows("men", "wrongly_refused", 133, 132, error=2),
        ),
    )
    yield (
        "a gap is possible, and so is none",
        measure(
            in_rows("women", "wrongly_refused", 140, 133, error=12, people=60.0),
            in_rows("men", "wrongly_refused", 133, 140, error=12, people=60.0),
        ),
    )


def cases():
    """Return every case by its name."""
    parts = (hiring, several, prices, epsilons, quiet, useless, flagged, tables, decisions, measured)
    return {name: case for part in parts for name, case in part()}
