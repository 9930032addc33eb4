"""The rule of harm on made-up tables, each property with a broken twin that must fail it."""

from collections import deque
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.answer import choice, effects, harm, status
from evenhand.answer.choice import choose_remedy, list_steps, smallest_epsilon
from evenhand.answer.effects import EFFECTS, EVERYBODY, EffectTable, Option, per_head
from evenhand.answer.harm import find_payers
from evenhand.answer.status import judge
from property.answer._tables import PAGE, PLAIN, change_observations, draw_table, observe

TABLES = st.builds(
    draw_table,
    st.integers(0, 2**32 - 1),
    n_groups=st.integers(1, 5),
    n_remedies=st.integers(0, 3),
    basis=st.sampled_from(["exact", "repeats"]),
)
SEEDS = range(300)


def answer(table):
    """Return the verdict and the choice as plain facts."""
    verdict = find_payers(table)
    chosen = choose_remedy(table, verdict)
    return (
        verdict.state,
        verdict.trouble,
        {payer.row.group for payer in verdict.payers},
        verdict.is_everybody,
        {trial.option.name for trial in chosen.recommended},
        {(trial.option.name, trial.tag) for trial in chosen.trials},
    )


def assert_fails(claim, monkeypatch, *patches):
    """Run a claim on seeded tables with a broken rule, and see that it fails for some of them."""
    for owner, name, broken in patches:
        monkeypatch.setattr(owner, name, broken)
    with pytest.raises(AssertionError):
        deque(map(claim, SEEDS), maxlen=0)


# --- names and order ----------------------------------------------------------------------------


def _check_names(table, seed):
    rng = np.random.default_rng(seed)
    new = {f"group {place}": f"z{9 - place}" for place in range(9)} | {EVERYBODY: EVERYBODY}
    moved = change_observations(table, lambda seen: replace(seen, group=new[seen.group]))
    order = rng.permutation(len(moved.observations))
    moved = replace(
        moved,
        observations=tuple(moved.observations[place] for place in order),
        options=tuple(moved.options[place] for place in rng.permutation(len(moved.options))),
    )
    state, trouble, payers, *rest = answer(table)

    assert answer(moved) == (state, trouble, {new[group] for group in payers}, *rest)


@given(TABLES, st.integers(0, 1_000))
def test_names_and_order_change_nothing(table, seed):
    """If they did, who pays would depend on the alphabet."""
    _check_names(table, seed)


def test_a_rule_that_takes_the_first_in_the_alphabet_is_found(monkeypatch):
    broken = lambda table, payers, level: sorted(payers, key=lambda payer: payer.row.group)[:1]  # noqa: E731
    assert_fails(
        lambda seed: _check_names(draw_table(seed), seed), monkeypatch, (harm, "_name_equals", broken)
    )


# --- a larger harm ------------------------------------------------------------------------------


def _check_larger(table, more):
    payers = find_payers(table).payers
    if not payers:
        return
    for payer in payers:
        sign = -1 if payer.row.change < 0 else 1
        key = (PAGE, payer.row.group, payer.row.effect)
        worse = change_observations(
            table,
            lambda seen, key=key, sign=sign: (
                replace(seen, after=seen.after + sign * more)
                if (seen.option, seen.group, seen.effect) == key
                else seen
            ),
        )

        assert payer.row.group in {each.row.group for each in find_payers(worse).payers}


@given(TABLES, st.floats(0, 500))
def test_a_larger_harm_never_removes_its_group(table, more):
    """If it did, one could hide a group by hurting it more."""
    _check_larger(table, more)


def test_a_rule_that_drops_what_is_far_off_is_found(monkeypatch):
    whole = harm._name_equals
    broken = lambda table, payers, level: whole(table, [p for p in payers if p.amount < 150], level)  # noqa: E731
    assert_fails(
        lambda seed: _check_larger(draw_table(seed), 100.0), monkeypatch, (harm, "_name_equals", broken)
    )


# --- a further option ---------------------------------------------------------------------------


def _check_further(table):
    worse = [
        replace(
            seen, option="worse", after=seen.after + 50 * (-1 if EFFECTS[seen.effect].harm == "less" else 1)
        )
        for seen in table.observations
        if seen.option == PAGE
    ]
    more = replace(
        table,
        options=(*table.options, Option("worse", PLAIN, epsilon=0.5)),
        observations=(*table.observations, *worse),
    )
    rows, others = ([row for row in judge(each) if row.setting == PAGE] for each in (table, more))

    assert answer(more)[:4] == answer(table)[:4]
    assert repr(others) == repr(rows)


@given(TABLES)
def test_a_worse_option_changes_nothing_about_the_page(table):
    """If it did, trying more would hide who pays."""
    _check_further(table)


def test_one_family_over_all_options_is_found(monkeypatch):
    whole = status.family_level

    def count_all(table, options):
        return whole(table, [each.name for each in table.options])

    assert_fails(
        lambda seed: _check_further(draw_table(seed)), monkeypatch, (status, "family_level", count_all)
    )


# --- what is recommended ------------------------------------------------------------------------


def _check_least(table, worst_lacks=choice._worst_lacks):
    chosen = choose_remedy(table, find_payers(table))
    names = [trial.option.name for trial in chosen.trials if trial.tag == "recommended"]
    left = worst_lacks(table, names, "of 1,000")

    for trial in chosen.recommended:
        assert left[trial.option.name] <= min(left.values()) + 1.0  # a tenth of what matters


@given(TABLES)
def test_the_worst_off_lack_least_with_what_is_recommended(table):
    """If not, a recommendation would leave somebody worse off than another would."""
    _check_least(table)


def test_a_choice_by_the_largest_relief_is_found(monkeypatch):
    whole = choice._worst_lacks

    def negated(*given):
        return {name: -lack for name, lack in whole(*given).items()}

    patch = (choice, "_worst_lacks", negated)
    assert_fails(lambda seed: _check_least(draw_table(seed, n_remedies=3), whole), monkeypatch, patch)


def _with_remedy(table, after, *, given):
    """Return the table with one remedy that gives each group what a function of its observation says."""
    remedies = [
        replace(seen, option="cure", after=after(seen))
        for seen in table.observations
        if seen.option == PAGE and seen.group != EVERYBODY
    ]
    everybody = [
        replace(
            seen, option="cure", after=seen.due * 0 + given(seen) if seen.effect == "in_all" else seen.after
        )
        for seen in table.observations
        if seen.option == PAGE and seen.group == EVERYBODY
    ]
    return replace(
        table,
        options=(*table.options, Option("cure", PAGE, epsilon=1.0, is_remedy=True)),
        observations=(*table.observations, *remedies, *everybody),
    )


def _check_everybody(seed):
    table = draw_table(seed, n_remedies=0)
    selected = _with_remedy(
        table,
        lambda seen: np.full_like(seen.after, 1_000.0 if seen.effect == "selected" else 0.0),
        given=lambda seen: seen.people,
    )
    refused = _with_remedy(
        table,
        lambda seen: np.zeros_like(seen.after) if seen.effect == "selected" else seen.due * 2,
        given=lambda _: 0.0,
    )

    for worse in (selected, refused):
        assert choose_remedy(worse, find_payers(worse)).recommended == ()


@given(st.integers(0, 2**32 - 1))
def test_to_select_or_refuse_everybody_is_never_recommended(seed):
    """If it were, the cure for noise would be to stop choosing."""
    _check_everybody(seed)


def test_a_choice_without_costs_is_found(monkeypatch):
    assert_fails(_check_everybody, monkeypatch, (choice, "_find_costs", lambda table, name, costs: ()))


def _draw_money(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    districts = [f"district {place}" for place in range(4)]
    people = rng.choice([200.0, 5_000.0, 40_000.0], size=4)
    due = scale * people * rng.uniform(50, 200)
    options = (
        Option(PLAIN),
        Option(PAGE, PLAIN, epsilon=1.0),
        Option("proxy", PAGE, epsilon=1.0, is_remedy=True),
        Option("more for all", PAGE, epsilon=1.0, is_remedy=True),
    )
    seen = []
    share = rng.choice([0.0, 0.005, 0.03, 0.2], size=4) * due
    for name, short in ((PAGE, share), ("proxy", share * rng.uniform(0, 1.2)), ("more for all", share * 0)):
        seen += [
            observe(name, district, "short", due[at] - short[at], due[at], people=people[at], basis="exact")
            for at, district in enumerate(districts)
        ]
    for name, total in ((PLAIN, 1.0), (PAGE, 1.0), ("proxy", 1.0), ("more for all", 1.2)):
        paid = total * due.sum()
        seen.append(observe(name, EVERYBODY, "in_all", paid, due.sum(), people=people.sum(), basis="exact"))
    return EffectTable(options, tuple(seen), PAGE)


def _check_pay_more(seed):
    table = _draw_money(seed)

    names = {trial.option.name for trial in choose_remedy(table, find_payers(table)).recommended}
    assert "more for all" not in names


@given(st.integers(0, 2**32 - 1))
def test_to_pay_everybody_more_is_never_recommended(seed):
    """If it were, the cure for a shortfall would be somebody else's money."""
    _check_pay_more(seed)


def test_a_choice_that_does_not_add_up_money_is_found(monkeypatch):
    assert_fails(_check_pay_more, monkeypatch, (choice, "_find_costs", lambda table, name, costs: ()))


def _check_scale(seed, scale):
    assert answer(_draw_money(seed, scale)) == answer(_draw_money(seed))


@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e6))
def test_dollars_and_what_matters_scale_together(seed, scale):
    """If not, the answer would depend on the currency."""
    _check_scale(seed, scale)


def test_a_fixed_number_of_dollars_is_found(monkeypatch):
    broken = {**EFFECTS, "short": EFFECTS["short"]._replace(matters=1_000.0, share=0.0)}
    assert_fails(lambda seed: _check_scale(seed, 1e-3), monkeypatch, (effects, "EFFECTS", broken))


# --- exact rows, halves, less noise ---------------------------------------------------------------


def _check_exact(seed):
    table = draw_table(seed, basis="exact")
    table = change_observations(table, lambda seen: replace(seen, people=2.0) if seen.group else seen)

    assert {row.status for row in judge(table)} <= {"clear", "none", "open"}


@given(st.integers(0, 2**32 - 1))
def test_exact_rows_are_never_unjudged(seed):
    """If they were, a harm that is known exactly would be denied for lack of people."""
    _check_exact(seed)


def test_a_rule_that_asks_exact_rows_for_people_is_found(monkeypatch):
    broken = property(lambda seen: seen.people >= effects.FEWEST_PEOPLE)
    assert_fails(_check_exact, monkeypatch, (effects.Observation, "is_judged", broken))


def _halve(table):
    halves = [
        replace(seen, group=f"{seen.group}{half}", people=seen.people / 2)
        for seen in table.observations
        if seen.group
        for half in "ab"
    ]
    return replace(table, observations=(*halves, *(seen for seen in table.observations if not seen.group)))


def _check_halves(seed):
    table = draw_table(seed, basis="exact")
    whole, halved = find_payers(table), find_payers(_halve(table))

    assert whole.state == halved.state
    assert {payer.row.group for payer in halved.payers} == {
        f"{payer.row.group}{half}" for payer in whole.payers for half in "ab"
    }


@given(st.integers(0, 2**32 - 1))
def test_equal_halves_of_a_group_pay_as_the_whole(seed):
    """If not, one could hide a payer by listing it in parts."""
    _check_halves(seed)


def test_a_rule_that_counts_people_is_found(monkeypatch):
    def count_people(table, seen):
        return 10.0 * 1_000 / seen.people

    assert_fails(_check_halves, monkeypatch, (effects.EffectTable, "threshold", count_people))


@given(st.integers(0, 2**32 - 1))
def test_halves_of_a_sampled_group_are_clear_only_if_the_whole_is(seed):
    """If not, more looks would make more findings."""
    table = change_observations(
        draw_table(seed), lambda seen: replace(seen, people=max(seen.people, 2.0 * effects.FEWEST_PEOPLE))
    )
    clear = {(row.group, row.effect) for row in judge(table) if row.status == "clear" and row.setting == PAGE}
    halves = {
        (row.group[:-1], row.effect)
        for row in judge(_halve(table))
        if row.status == "clear" and row.setting == PAGE and row.group
    }

    assert halves <= clear


def _check_less_noise(seed, part):
    table = draw_table(seed, n_remedies=0)
    quieter = _with_remedy(
        table, lambda seen: seen.due + part * (seen.after - seen.due), given=lambda seen: seen.after
    )
    trials = choose_remedy(quieter, find_payers(quieter)).trials

    for trial in trials:
        assert "no new harm" not in trial.failed


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_less_noise_is_never_called_a_harm(seed, part):
    """If it were, to lose what noise gave by mistake would count as a loss."""
    _check_less_noise(seed, part)


def test_a_rule_that_counts_lost_windfalls_is_found(monkeypatch):
    def harm_of(table, seen):
        lead = next(each for each in seen if each.effect == "selected")
        return np.asarray(per_head(lead, harm.lacks(table, lead))), lead

    assert_fails(lambda seed: _check_less_noise(seed, 0.1), monkeypatch, (choice, "_harm_of", harm_of))


def test_the_smallest_epsilon_is_the_first_at_which_nobody_pays():
    """If not, more protection than needed would be given up."""
    options = [Option(PLAIN)] + [
        Option(f"noise {epsilon}", PLAIN, epsilon=epsilon, method="noise") for epsilon in (0.5, 1.0, 4.0, 8.0)
    ]
    seen = [
        observe(option.name, "women", "selected", 200 - 40 / option.epsilon**2, 200, basis="exact")
        for option in options[1:]
    ]
    table = EffectTable(tuple(options), tuple(seen), "noise 1.0")
    steps = list_steps(table, judge(table))

    assert [step.epsilon for step in steps] == [0.5, 1.0, 4.0, 8.0]
    assert smallest_epsilon(steps).epsilon == 4.0
