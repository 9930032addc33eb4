"""Limits that somebody sets, on made-up tables; each claim has a broken twin that must fail it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from evenhand.answer.effects import EVERYBODY, EffectTable, Option
from evenhand.answer.limits import AskedLimits, smallest_passing, try_limits
from evenhand.answer.status import judge
from evenhand.errors import InvalidParameterError
from property.answer._tables import PAGE, PLAIN, draw_table, observe

EPSILONS = (0.5, 1.0, 2.0, 4.0)
ALPHA = 1e-9
STUDIES = 200
SEEDS = range(200)
LIMITS = st.builds(
    AskedLimits,
    gap=st.sampled_from([50.0, 150.0, 250.0, 400.0, math.inf]),
    wrong=st.sampled_from([2.0, 8.0, 14.0, math.inf]),
    epsilon=st.sampled_from([*EPSILONS, math.inf]),
)


def spread_table(seed):
    """Return a table whose options have several epsilons."""
    table = draw_table(seed, n_groups=2 + seed % 2, n_remedies=5, basis="repeats" if seed % 3 else "exact")
    rng = np.random.default_rng(seed)
    options = [
        replace(option, epsilon=float(rng.choice(EPSILONS))) if option.reference else option
        for option in table.options
    ]
    return replace(table, options=tuple(options))


TABLES = st.builds(spread_table, st.integers(0, 2**32 - 1))


def chosen_epsilon(table, limits):
    """Return the epsilon that is answered; infinite if none passes."""
    kept = smallest_passing(try_limits(table, judge(table), limits))
    return math.inf if kept is None else kept.option.epsilon


def loosen(limits, name, factor):
    """Return limits of which one is looser; an infinite one stays."""
    return replace(limits, **{name: getattr(limits, name) * factor})


@given(TABLES, LIMITS, st.sampled_from(["gap", "wrong", "epsilon"]), st.sampled_from([1.1, 2.0, 10.0]))
def test_a_stricter_limit_never_gives_a_smaller_epsilon(table, limits, name, factor):
    """If it did, somebody who asks for more would be told to protect more."""
    looser = loosen(limits, name, factor)
    if limits.are_set:
        assert chosen_epsilon(table, looser) <= chosen_epsilon(table, limits)


def test_a_correction_for_the_options_within_epsilon_alone_would_break_it():
    """If this passed, the claim above could not see a correction that depends on the limit."""

    def correct_within(table, limits):
        options = tuple(
            option
            for option in table.options
            if not option.reference or option.name == PAGE or option.epsilon <= limits.epsilon
        )
        names = {option.name for option in options}
        seen = tuple(each for each in table.observations if each.option in names)
        return chosen_epsilon(replace(table, options=options, observations=seen), limits)

    pairs = [
        (spread_table(seed), AskedLimits(gap=gap, epsilon=epsilon))
        for seed in SEEDS for gap in (150.0, 250.0) for epsilon in (0.5, 1.0)
    ]  # fmt: skip
    assert any(
        correct_within(table, replace(limits, epsilon=math.inf)) > correct_within(table, limits)
        for table, limits in pairs
    )


@given(TABLES, LIMITS, st.sampled_from(["gap", "wrong", "epsilon"]))
def test_what_passes_keeps_passing_when_limits_loosen(table, limits, name):
    """If not, the order of two questions would decide the answer."""
    if not limits.are_set:
        return
    rows = judge(table)
    before, after = (
        {each.option.name for each in try_limits(table, rows, asked) if not each.broken}
        for asked in (limits, loosen(limits, name, 1.5))
    )
    assert before <= after


@given(TABLES, LIMITS)
def test_the_answer_keeps_every_limit_and_nothing_smaller_does(table, limits):
    """If not, the sentence that it keeps your limits would be false."""
    kept = try_limits(table, judge(table), limits)
    found = smallest_passing(kept)
    passing = [each for each in kept if not each.broken]

    assert (found is None) == (not passing)
    if found is not None and limits.are_set:
        assert math.isinf(limits.gap) or found.gap <= limits.gap
        assert math.isinf(limits.wrong) or found.wrong <= limits.wrong
        assert found.option.epsilon == min(each.option.epsilon for each in passing) <= limits.epsilon
        same = [each.lack for each in passing if each.option.epsilon == found.option.epsilon]
        assert round(found.lack, 1) == round(min(same), 1)


def test_without_limits_it_is_the_smallest_epsilon_at_which_nobody_pays():
    """If not, advice without limits would differ from the page's own answer."""
    options = tuple(Option(f"noise {each:g}", PLAIN, epsilon=each, method="noise") for each in EPSILONS)
    losses = dict(zip(options, (80, 30, 4, 1), strict=True))
    table = EffectTable(
        (Option(PLAIN), *options),
        tuple(
            observe(option.name, group, "selected", 300 - loss, 300, basis="exact")
            for option, loss in losses.items()
            for group in ("a", "b")
        ),
        "noise 1",
    )

    assert chosen_epsilon(table, AskedLimits()) == 2.0
    assert chosen_epsilon(table, AskedLimits(epsilon=1.0)) == math.inf


@pytest.mark.parametrize("broken", ["dead", "needs", "not among"])
def test_what_cannot_be_used_is_never_the_answer(broken):
    """If it could, a model that selects nobody would keep every limit on gaps."""
    dead = broken == "dead"
    option = Option("noise", PLAIN, epsilon=1.0, needs_group=broken == "needs")
    seen = [observe("noise", group, "selected", 0 if dead else 300, 300, basis="exact") for group in "ab"]
    seen += [
        observe(name, EVERYBODY, "selected", 0 if dead and name == "noise" else 300, 300, basis="exact")
        for name in ("noise", PLAIN)
    ]
    table = EffectTable((Option(PLAIN), option), tuple(seen), "noise")
    kept = try_limits(table, judge(table), AskedLimits(gap=100), among=() if broken == "not among" else None)

    assert smallest_passing(kept) is None
    assert [each.broken for each in kept] == ([("usable",)] if dead else [])


@pytest.mark.parametrize(("given", "broken"), [(300, ()), (275, ()), (200, ("given",)), (5, ("given",))])
def test_a_gap_is_not_narrowed_by_selecting_nearly_nobody(given, broken):
    """If it were, a model that refuses everybody would be advised to whoever wants a small gap."""
    option, everybody = Option("noise", PLAIN, epsilon=1.0), {"people": 1_000.0, "basis": "exact"}
    seen = [observe("noise", group, "selected", given, 300, basis="exact") for group in "ab"]
    seen += [
        observe(name, EVERYBODY, "in_all", given if name == "noise" else 300, 300, **everybody)
        for name in ("noise", PLAIN)
    ]
    table = EffectTable((Option(PLAIN), option), tuple(seen), "noise")

    (kept,) = try_limits(table, judge(table), AskedLimits(gap=100))
    assert kept.broken == broken


@pytest.mark.parametrize("name", ["gap", "wrong", "epsilon"])
def test_a_limit_below_zero_is_refused(name):
    """If it were taken, nothing could ever keep it."""
    with pytest.raises(InvalidParameterError, match=name):
        AskedLimits(**{name: -1})


# --- how often a gap is wrongly said to be kept -----------------------------------------------------


def says_kept(seed, *, corrected=True):
    """Return whether any of eight options seems to keep a limit that all of them break a little."""
    rng = np.random.default_rng(seed)
    options = tuple(Option(f"noise {place}", PLAIN, epsilon=0.5 + place) for place in range(8))
    seen = []
    for option in options:
        shared = rng.normal(0, 10, size=8)
        for group, level in {"a": 400.0, "b": 300.0}.items():
            after = level + shared + rng.normal(0, 15, size=8)
            seen.append(observe(option.name, group, "selected", after, level))
    table = EffectTable((Option(PLAIN), *options), tuple(seen), options[0].name)
    level = 0.95 if corrected else 1 - 0.05 * len(options)  # without the correction for looks
    kept = try_limits(replace(table, level=level), (), AskedLimits(gap=99.9))
    return smallest_passing(kept) is not None


@pytest.mark.statistical
def test_a_gap_is_wrongly_said_to_be_kept_in_at_most_5_of_100_studies():
    """If more often, the smallest of many epsilons would be chosen because it was lucky."""
    wrong = sum(says_kept(seed) for seed in range(STUDIES))

    assert binom.sf(wrong - 1, STUDIES, 0.05) > ALPHA


@pytest.mark.statistical
def test_limits_without_the_correction_would_fail_that():
    """If they passed, the test above could not see a wrong limit."""
    wrong = sum(says_kept(seed, corrected=False) for seed in range(STUDIES))

    assert binom.sf(wrong - 1, STUDIES, 0.05) < ALPHA
