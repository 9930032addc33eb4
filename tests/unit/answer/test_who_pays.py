"""Who pays, on tables whose answer a person sees at once."""

import math

import numpy as np
import pytest

from evenhand.answer.choice import choose_remedy, list_steps, smallest_epsilon
from evenhand.answer.effects import EVERYBODY, EffectTable, Observation, Option, read_matters
from evenhand.answer.harm import find_payers, find_trouble, sample_difference
from evenhand.answer.status import judge, limit_samples
from evenhand.errors import InvalidParameterError

PLAIN, PAGE = "plain", "noise"
WIGGLE = np.array([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 0.5, 1.0, 1.0, 0.5])


def see(group, effect, after, due, *, option=PAGE, people=1_000.0, basis="repeats", **more):
    """Return an observation: ten repeats near a value, which are not those of another, or one."""
    turn = sum(map(ord, f"{option}{group}{effect}"))
    noise = np.roll(WIGGLE, turn) if basis == "repeats" else np.zeros(1)
    return Observation(option, group, effect, after + noise, due + 0 * noise, people, basis, **more)


def table(*seen, options=(), **more):
    """Return a table of some observations of the page's option, and of others that are named."""
    known = (Option(PLAIN), Option(PAGE, PLAIN, epsilon=1.0, method="noise"), *options)
    return EffectTable(known, seen, PAGE, **more)


def remedy(name="cure", **more):
    """Return a remedy at the page's epsilon."""
    return Option(name, PAGE, **{"epsilon": 1.0, "is_remedy": True, **more})


def payers(of):
    """Return the groups that are named."""
    return [payer.row.group for payer in find_payers(of).payers]


# --- the payer ----------------------------------------------------------------------------------


def test_fewer_selected_is_a_harm_though_accuracy_hardly_falls():
    """If not, a group of whom two in three are no longer hired would be said to lose 0.4 points."""
    made = table(
        see("women", "selected", 53, 173), see("women", "wrong", 304, 300),
        see("men", "selected", 610, 600), see("men", "wrong", 340, 300),
    )  # fmt: skip

    verdict = find_payers(made)
    assert (verdict.state, payers(made)) == ("pays", ["women"])
    assert verdict.payers[0].amount == pytest.approx(120)
    assert [row.group for row in judge(made) if row.status == "clear" and row.effect == "selected"] == [
        "women",
        "men",
    ]


def test_to_lose_a_windfall_is_no_harm():
    """If it were, less noise would hurt those whom noise favoured."""
    made = table(
        see("a", "selected", 100, 300), see("b", "selected", 466, 300),
        see("a", "selected", 290, 300, option="cure"), see("b", "selected", 302, 300, option="cure"),
        options=(remedy(),),
    )  # fmt: skip

    [trial] = choose_remedy(made, find_payers(made)).trials
    assert (trial.tag, trial.harmed) == ("recommended", ())


def test_equal_groups_are_named_together_and_different_ones_are_not():
    made = table(
        see("a", "selected", 200, 300), see("b", "selected", 201, 300), see("c", "selected", 240, 300)
    )

    assert set(payers(made)) == {"a", "b"}
    assert find_payers(made).is_everybody


def test_nobody_pays_where_every_harm_is_bounded():
    """If small groups forbade it, no file with a rare group would ever be fine."""
    made = table(
        see("a", "selected", 300, 300),
        see("b", "selected", 302, 300),
        see("few", "selected", 0, 300, people=4.0),
    )

    verdict = find_payers(made)
    assert verdict.state == "nobody"
    assert verdict.worst.bound < 10
    assert [row.group for row in verdict.unjudged] == ["few"]


def test_it_cannot_be_said_where_a_harm_is_open():
    wide = Observation(PAGE, "a", "selected", 300 + 40 * WIGGLE, np.full(10, 310.0), 1_000.0)
    made = table(wide, see("b", "selected", 300, 300))

    verdict = find_payers(made)
    assert (verdict.state, [row.group for row in verdict.open]) == ("unsure", ["a"])


def test_a_payer_beside_an_open_group_is_not_named_without_a_caveat():
    wide = Observation(PAGE, "small", "selected", 250 + 90 * WIGGLE, np.full(10, 310.0), 40.0)
    made = table(see("large", "selected", 280, 300), wide)

    verdict = find_payers(made)
    assert payers(made) == ["large"]
    assert [row.group for row in verdict.maybe_worse] == ["small"]


def test_a_group_that_differs_in_a_few_repeats_is_bounded_below_the_payer():
    """If not, a group that lost nothing in 26 of 30 repeats would be said to lose perhaps as much or more."""
    lost, rare = 120 + np.tile(3 * WIGGLE, 3), np.array([0.0] * 26 + [146, 152, 145, 148])
    payer = Observation(PAGE, "payer", "selected", 173 - lost, np.full(30, 173.0), 15_000.0)
    beside = {
        factor: Observation(PAGE, "rare", "selected", 795 - factor * rare, np.full(30, 795.0), 25_000.0)
        for factor in (1, 5)
    }

    found = {factor: find_payers(table(payer, each)) for factor, each in beside.items()}
    assert [row.group for row in found[1].open] == ["rare"]
    assert (found[1].maybe_worse, payers(table(payer, beside[1]))) == ((), ["payer"])
    assert 90 < found[1].open[0].bound < 100
    assert [row.group for row in found[5].maybe_worse] == ["rare"]


def test_a_remedy_is_not_preferred_because_its_worst_repeats_are_rare():
    """If its mean stood for its limit, a remedy that rarely hits a group hard would come first."""
    due = np.full(10, 800.0)
    rare = due - np.array([0.0] * 8 + [40, 40])
    cures = (remedy("a"), remedy("b", simplicity=1))
    rows = [see("payer", "selected", 100, 300), Observation(PAGE, "other", "selected", due - 9, due, 900.0)]
    for name, others in {"a": rare, "b": due - 9 + WIGGLE}.items():
        rows.append(see("payer", "selected", 290, 300, option=name))
        rows.append(Observation(name, "other", "selected", others, due, 900.0))
    made = table(*rows, options=cures)

    chosen = choose_remedy(made, find_payers(made))
    left = {trial.option.name: trial.left for trial in chosen.trials}
    assert left["a"] > 100 > 20 > left["b"]


def test_a_group_cannot_lack_more_than_it_had():
    """If not, a group of which four of 1,000 are selected would forbid that nobody pays."""
    rare = Observation(PAGE, "a", "selected", 4 - np.array([0.0] * 26 + [2] * 4), np.full(30, 4.0), 9_000.0)

    assert find_payers(table(rare)).state == "nobody"


def test_unwanted_selection_hurts_who_is_flagged():
    """If not, more people stopped by the police would be called a benefit."""
    made = table(see("a", "selected", 300, 200), see("b", "selected", 200, 200), unwanted=True)

    assert payers(made) == ["a"]
    assert made.harm_of("wrongly_refused") == "cost"


def test_a_crossing_is_named_only_if_it_is_worse_than_its_margins():
    """If not, the smallest crossing would lead every page."""
    margins = {"black women": ("women", "black")}
    rows = [see(name, "selected", after, 300) for name, after in (("women", 250), ("black", 245))]

    alike = table(*rows, see("black women", "selected", 243, 300), margins=margins)
    worse = table(*rows, see("black women", "selected", 150, 300), margins=margins)
    unknown = table(rows[0], see("black women", "selected", 150, 300), margins=margins)
    assert "black women" not in payers(alike)
    assert payers(worse) == ["black women"]
    assert "black women" not in payers(unknown)


def test_an_entity_is_named_only_if_its_row_is_exact():
    exact, drawn = (
        table(see("Ash", "refused", 400, 0, basis=basis, error=5.0), entities=frozenset({"Ash"}))
        for basis in ("exact", "draws")
    )

    assert (payers(exact), payers(drawn)) == (["Ash"], [])


def test_an_entity_is_named_only_if_it_is_worse_than_every_harmed_group():
    """If not, thirty places that lack what their class lacks would stand where the class should."""
    entities = frozenset({"Ash"})
    rows = [
        see("small places", "refused", 300, 0, basis="exact"),
        see("large", "refused", 0, 0, basis="exact"),
    ]
    alike = table(*rows, see("Ash", "refused", 305, 0, basis="exact"), entities=entities)
    worse = table(*rows, see("Ash", "refused", 400, 0, basis="exact"), entities=entities)

    assert payers(alike) == ["small places"]
    assert payers(worse) == ["Ash"]


def test_nobody_is_not_said_beside_a_clear_harm_that_is_not_named():
    """If it were, a crossing that is a little worse than its margins would be passed over."""
    margins = {"black women": ("women", "black")}
    made = table(
        see("women", "selected", 292, 300), see("black", "selected", 292, 300),
        see("black women", "selected", 287, 300), margins=margins,
    )  # fmt: skip

    assert [row.group for row in judge(made) if row.is_harm] == ["black women"]
    assert find_payers(made).state == "unsure"


def test_nobody_lacks_more_money_per_head_than_is_said():
    """If the bound were the largest beside what is due, another place could lack more dollars."""
    made = table(
        see("poor", "short", 9_950, 10_000, basis="exact", people=1_000.0),
        see("rich", "short", 999_900, 1_000_000, basis="exact", people=1_000.0),
    )
    verdict = find_payers(made)

    assert verdict.state == "nobody"
    assert (verdict.worst.group, verdict.worst.bound) == ("rich", 100)


def test_a_group_that_is_wholly_missing_stops():
    made = table(
        see("black men", "counted", 0, 2_616, basis="exact", people=2_616.0),
        see("white men", "counted", 10_000, 20_000, basis="exact", people=20_000.0),
        see("blank", "hidden", 40, 0, basis="exact", people=40.0),
    )

    verdict = find_payers(made)
    assert (verdict.state, verdict.trouble) == ("stop", ("missing",))
    assert set(payers(made)) <= {"black men", "blank"}


def test_people_lost_come_before_people_invented_and_errors():
    made = table(
        see("a", "off", 80, 0, basis="exact"),
        see("b", "counted", 1_400, 1_000, basis="exact"),
        see("c", "counted", 950, 1_000, basis="exact"),
    )

    assert payers(made) == ["c"]


# --- what makes a result useless ------------------------------------------------------------------


def test_a_large_delta_and_a_bill_stop_before_all_else():
    options = (Option("loose", PLAIN, epsilon=1.0, delta=0.02),)
    made = table(see("a", "billed", 3.7, 0, basis="exact"), options=options)

    assert find_trouble(made, "loose") == ("no guarantee",)
    assert find_payers(made).trouble == ("below zero",)


@pytest.mark.parametrize(
    ("selected", "more", "dead"),
    [
        (995, [("auc", 52)], True),
        (995, [("auc", 78)], False),  # as LSAC: nearly everybody passes, and the model still ranks
        (5, [("separation", 1)], True),
        (5, [("separation", 30)], False),
        (500, [("auc", 50)], False),
        (1_000, [], True),
    ],
)
def test_a_model_is_dead_if_it_tells_nobody_apart(selected, more, dead):
    rows = [see(EVERYBODY, "selected", selected, 300)]
    rows += [see(EVERYBODY, effect, value, 70) for effect, value in more]

    assert find_trouble(table(*rows), PAGE) == (("dead",) if dead else ())


def test_a_model_that_was_dead_before_is_said_to_be():
    rows = [see(EVERYBODY, "selected", 999, 999, option=option) for option in (PLAIN, PAGE)]

    assert find_trouble(table(*rows), PAGE) == ("dead without protection",)


# --- what to do -----------------------------------------------------------------------------------


def _tried(cure, *, other=300, given=300.0, wrong=200.0, error=5.0, **option):
    everybody = {"people": 1_000.0, "basis": "exact"}
    rows = [
        see("a", "selected", 200, 300), see("b", "selected", 300, 300),
        see("a", "selected", cure, 300, option="cure"), see("b", "selected", other, 300, option="cure"),
    ]  # fmt: skip
    for name, numbers in ((PLAIN, (300, 200, 0)), (PAGE, (250, 200, 5)), ("cure", (given, wrong, error))):
        for effect, value in zip(("in_all", "wrong", "off"), numbers, strict=True):
            rows.append(see(EVERYBODY, effect, value, value, option=name, **everybody))
    made = table(*rows, options=(remedy(**option),))
    [trial] = choose_remedy(made, find_payers(made)).trials
    return trial


def test_a_remedy_that_passes_every_test_is_recommended():
    trial = _tried(290)

    assert (trial.tag, trial.failed) == ("recommended", ())
    assert trial.relief.mean == pytest.approx(90)
    assert trial.left == pytest.approx(10, abs=2)


@pytest.mark.parametrize(
    ("changes", "tag", "failed"),
    [
        ({"cure": 203}, "no clear help", ("the right harm",)),
        ({"cure": 290, "other": 280}, "trade-off", ("no new harm",)),
        ({"cure": 290, "given": 370.0}, "trade-off", ("costs",)),
        ({"cure": 290, "given": 990.0}, "trade-off", ("costs",)),
        ({"cure": 290, "wrong": 211.0}, "trade-off", ("costs",)),
        ({"cure": 290, "error": 6.5}, "trade-off", ("costs",)),
        ({"cure": 290, "needs_group": True}, "needs the true group", ()),
    ],
)
def test_a_remedy_that_fails_a_test_is_not_recommended(changes, tag, failed):
    """If it were, following the page would hurt somebody or cost what nobody agreed to."""
    trial = _tried(**changes)

    assert (trial.tag, trial.failed) == (tag, failed)


def test_a_remedy_nearer_to_the_unprotected_result_does_not_fail_on_people_selected():
    assert _tried(290, given=340.0).tag == "recommended"


def test_a_remedy_with_a_weaker_guarantee_is_no_candidate():
    rows = [see("a", "selected", after, 300, option=name) for name, after in ((PAGE, 200), ("cure", 300))]
    made = table(*rows, options=(remedy(epsilon=2.0),))

    assert choose_remedy(made, find_payers(made)).trials == ()


def test_a_remedy_that_was_not_run_yet_is_not_said_to_help_little():
    """After the first stage the page would say that no remedy tried helps, before any was tried."""
    nothing = Observation("cure", "a", "selected", np.array([]), np.array([]), 1_000.0)
    made = table(see("a", "selected", 200, 300), nothing, options=(remedy(),))

    assert choose_remedy(made, find_payers(made)).trials == ()


def test_remedies_that_tie_are_all_named_the_simplest_first():
    rows = [see("a", "selected", 200, 300)]
    rows += [see("a", "selected", 295, 300, option=name) for name in ("gentle", "second")]
    made = table(*rows, options=(remedy("gentle", simplicity=2), remedy("second", simplicity=1)))

    assert [trial.option.name for trial in choose_remedy(made, find_payers(made)).recommended] == [
        "second",
        "gentle",
    ]


def test_nothing_is_recommended_where_nobody_pays():
    made = table(see("a", "selected", 300, 300), options=(remedy(),))

    assert choose_remedy(made, find_payers(made)).trials == ()


def test_money_below_zero_is_not_usable():
    rows = [
        see("a", "short", 80_000, 100_000, basis="exact"),
        see("a", "short", 99_900, 100_000, basis="exact", option="cure"),
        see("a", "billed", 2, 0, basis="exact", option="cure"),
    ]
    made = table(*rows, options=(remedy(),))

    assert [trial.tag for trial in choose_remedy(made, find_payers(made)).trials] == ["not usable"]


def test_a_remedy_of_which_bills_are_not_stored_is_no_candidate():
    """If it were, an older folder would recommend what may pay below zero."""
    rows = [
        see("Ash", "short", after, 1_000, option=option, basis="exact")
        for option, after in ((PAGE, 900), ("cure", 1_000))
    ]
    bills = [see(EVERYBODY, "billed", 0, 0, option=option, basis="exact") for option in (PAGE, "cure")]
    lost = [Observation("cure", EVERYBODY, "billed", np.array([]), np.array([]), 1_000.0, "exact")]
    known, unknown = (table(*rows, *each, options=[remedy()]) for each in (bills, [bills[0], *lost]))

    assert [trial.tag for trial in choose_remedy(known, find_payers(known)).trials] == ["recommended"]
    assert choose_remedy(unknown, find_payers(unknown)).trials == ()


def test_what_nearly_everybody_has_in_truth_is_no_single_answer():
    """If it were, no remedy could help where 99 of 100 people hold a right."""
    rows = [
        see("small", "refused", after, 0, option=option, basis="exact")
        for option, after in ((PAGE, 300), ("cure", 100))
    ]
    in_all = [
        see(EVERYBODY, "in_all", given, 990, option=option, basis="exact")
        for option, given in ((PLAIN, 990), (PAGE, 985), ("cure", 988))
    ]
    made = table(*rows, *in_all, options=[remedy()])

    assert [trial.tag for trial in choose_remedy(made, find_payers(made)).trials] == ["recommended"]


def test_the_smallest_epsilon_at_which_nobody_pays_is_found():
    options = tuple(Option(f"noise {each}", PLAIN, epsilon=each, method="noise") for each in (0.5, 4.0, 8.0))
    rows = [see("a", "selected", 300 - 50 / each.epsilon, 300, option=each.name) for each in options]
    made = table(see("a", "selected", 250, 300), *rows, options=options)

    steps = list_steps(made, judge(made))
    assert [(step.epsilon, step.nobody) for step in steps] == [
        (0.5, False),
        (1.0, False),
        (4.0, False),
        (8.0, True),
    ]
    assert smallest_epsilon(steps).epsilon == 8.0
    assert smallest_epsilon(steps[:2]) is None


def test_an_epsilon_at_which_some_are_billed_is_not_one_at_which_nobody_pays():
    """If it were, the page would send people to noise that it calls useless where it is the page's own."""
    options = (Option("more noise", PLAIN, epsilon=0.1, method="noise"),)
    even = [see("Ash", "short", 1_000, 1_000, option=each, basis="exact") for each in (PAGE, "more noise")]
    bills = [
        see(EVERYBODY, "billed", chance, 0, option=each, basis="exact")
        for each, chance in ((PAGE, 0), ("more noise", 5.3))
    ]
    made = table(*even, *bills, options=options)

    assert smallest_epsilon(list_steps(made, judge(made))).epsilon == 1.0


def test_nobody_pays_where_nothing_is_due_to_anybody():
    """If it were not stored, people would run a study again of a right that nobody has."""
    granted = see("small", "granted", 3, 0, basis="exact")

    assert find_payers(table(granted)).state == "nobody"
    assert find_payers(table()).state == "unsure"


# --- limits ---------------------------------------------------------------------------------------


def test_equal_repeats_of_no_change_allow_for_three_people():
    """If not, five runs that agree would prove that nothing ever changes."""
    still = Observation(PAGE, "a", "selected", np.full(5, 300.0), np.full(5, 300.0), 100.0)
    moved = Observation(PAGE, "b", "selected", np.full(5, 290.0), np.full(5, 300.0), 5_000.0)
    [one], [other] = judge(table(still)), judge(table(moved))

    assert (one.low, one.high, one.bound) == pytest.approx((-30, 30, 30))
    assert one.status == "open"
    assert (math.isnan(other.low), other.status) == (True, "open")


def test_what_a_folder_does_not_hold_is_not_stored():
    missing = Observation(PAGE, "a", "hidden", np.array([]), np.array([]), 100.0)
    [row] = judge(table(missing))

    assert (row.status, math.isnan(row.after)) == ("not stored", True)
    assert find_payers(table(missing)).state == "unsure"


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: table(see("a", "selected", 1, 1), see("a", "selected", 2, 1)),
        lambda: table(see("a", "selected", math.nan, 1, basis="exact")),
        lambda: table(see("a", "selected", 1, 1, people=-1.0)),
        lambda: table(see("a", "selected", 1, 1, option="unknown")),
        lambda: table(see("a", "unheard_of", 1, 1)),
        lambda: table(options=(Option(PAGE, PLAIN),)),
        lambda: table(options=(Option("second plain"),)),
        lambda: table(level=1.5),
        lambda: EffectTable((Option(PLAIN),), (), "nowhere"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(make):
    """If not, a plugin's mistake would be printed as somebody's harm."""
    with pytest.raises(InvalidParameterError):
        make()


@pytest.mark.parametrize("word", ["0", "-5", "much", "short=x%", "unheard=3", "nan"])
def test_what_matters_is_an_amount_above_zero(word):
    with pytest.raises(InvalidParameterError, match="'matters'"):
        read_matters((word,), owner="audit")


def test_what_matters_can_be_told():
    made = [see("a", "selected", 285, 300)]

    assert payers(table(*made)) == ["a"]
    assert payers(table(*made, matters=read_matters(("50",), owner="audit"))) == []


def test_a_repeated_row_beside_an_exact_one_keeps_its_own_error():
    """If it were scaled twice, or left out, groups of any size would be called different, or none would."""
    sampled = see("a", "counted", 50, 60, people=60.0)
    exact = see("b", "counted", 50, 60, people=60.0, basis="exact")
    values, others = (1000 / 60 * (10 - WIGGLE), np.array([1000 / 60 * 10]))
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))

    limits = limit_samples([sample_difference(sampled, values, exact, others)], 0.95)[0]
    assert limits.high - limits.mean == pytest.approx(1.959964 * error, rel=1e-5)
