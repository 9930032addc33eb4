"""A setting is recommended only if it meets the limits at the far end, and called better only if it is."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.advise.recommend import Limits, choose, message_bits
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimate
from unit.study._advice_cases import grid, results, schema, setting, with_runs

GRR, OUE = setting("grr", 1), setting("oue", 1)
WIDE = setting("grr", 4)
BEFORE = {"sp_gap": 0.3, "acc": 0.8}


def chosen(values, *, level=0.95, collect=None, **limits):
    """Return the choice among GRR and OUE at epsilon 1 and 4."""
    made = results({"all": BEFORE, **values}, collect=collect)
    return choose(made, Limits(**limits), level=level)


def names(candidates):
    """Return the settings of candidates."""
    return [each.setting for each in candidates]


def test_a_clearly_smaller_gap_is_chosen():
    """What the whole machinery is for."""
    found = chosen({GRR: {"sp_gap": 0.1}})

    assert found.outcome == "chosen"
    assert found.chosen.setting == GRR
    assert found.alike == ()


def test_with_gaps_alike_the_clearly_more_accurate_is_chosen():
    """Accuracy decides only where the gaps do not."""
    found = chosen({GRR: {"acc": 0.75}})

    assert found.chosen.setting == OUE


def test_a_smaller_gap_goes_before_accuracy():
    """The order of what is preferred."""
    found = chosen({GRR: {"sp_gap": 0.1, "acc": 0.7}}, max_accuracy_loss=0.2)

    assert found.chosen.setting == GRR


def test_settings_that_are_alike_are_not_told_apart():
    """The best mean of two equal settings is luck."""
    found = chosen({})

    assert (found.outcome, found.chosen) == ("alike", None)
    assert names(found.alike) == [GRR, OUE]


def test_a_smaller_epsilon_goes_before_everything_else():
    """Epsilon is known and not estimated: a wider gap within the limit is accepted for it."""
    found = chosen({WIDE: {"sp_gap": 0.01}, GRR: {"sp_gap": 0.1}}, max_gap=0.2)

    assert found.chosen.setting == GRR


def test_a_larger_epsilon_is_taken_where_the_smaller_breaks_a_limit():
    """Limits come first."""
    found = chosen({WIDE: {"sp_gap": 0.01}, GRR: {"sp_gap": 0.1}}, max_gap=0.05)

    assert found.chosen.setting == WIDE


def test_a_limit_is_met_at_the_far_end_of_the_interval_only():
    """A mean within the limit may be above it in truth."""
    far = estimate(results({"all": BEFORE, GRR: {"sp_gap": 0.1}}), GRR, "sp_gap", level=1 - 0.05 / 12).high
    below, above = (chosen({GRR: {"sp_gap": 0.1}}, max_gap=far + by) for by in (-1e-4, 1e-4))

    assert far > 0.1
    assert (below.outcome, above.outcome) == ("none", "chosen")


def test_lost_accuracy_is_counted_against_the_unprotected_runs():
    """A loss, not the accuracy itself; what is gained is no loss."""
    losing = {setting("grr", 4): {"acc": 0.7}, OUE: {"acc": 0.7}, setting("oue", 4): {"acc": 0.7}}
    found = chosen({**losing, GRR: {"acc": 0.85}}, max_accuracy_loss=0.05)

    assert found.chosen.setting == GRR
    assert [each.meets for each in found.candidates] == [True, False, False, False]
    assert [each.breaks for each in found.candidates] == [False, True, True, True]


def test_a_rival_that_clearly_breaks_a_limit_does_not_stand_in_the_way():
    """Its smaller gap is of no use."""
    found = chosen({GRR: {"sp_gap": 0.1, "acc": 0.6}, OUE: {"sp_gap": 0.2}}, max_accuracy_loss=0.05)

    assert found.chosen.setting == OUE


def test_one_that_alone_seems_to_meet_a_limit_is_not_singled_out_from_its_equals():
    """Which of two equal settings has its far end within the limit is chance."""
    values = {GRR: {"sp_gap": 0.1}, OUE: {"sp_gap": 0.1012}}
    made = results({"all": BEFORE, **values})
    ends = [estimate(made, each, "sp_gap", level=1 - 0.05 / 12).high for each in (GRR, OUE)]
    found = choose(made, Limits(max_gap=sum(ends) / 2))

    assert [each.meets for each in found.candidates if each.setting.epsilon == 1] == [True, False]
    assert found.outcome == "alike"
    assert names(found.alike) == [GRR, OUE]


def test_one_that_is_clearly_other_than_an_open_rival_is_chosen():
    """A rival that is clearly worse in accuracy, and may or may not keep the gap, is not its equal."""
    values = {GRR: {"sp_gap": 0.1}, OUE: {"sp_gap": 0.1012, "acc": 0.7}}
    made = results({"all": BEFORE, **values})
    ends = [estimate(made, each, "sp_gap", level=1 - 0.05 / 12).high for each in (GRR, OUE)]
    found = choose(made, Limits(max_gap=sum(ends) / 2))

    assert found.chosen.setting == GRR


def test_nothing_meets_the_limits():
    """Then there is nothing to choose from."""
    found = chosen({}, max_gap=0.1)

    assert (found.outcome, found.chosen, found.alike) == ("none", None, ())
    assert all(each.breaks for each in found.candidates)


def test_the_limit_of_epsilon_is_exact():
    """A third is not 0.3333."""
    collect = grid(["grr"], ["1/3", 1])

    assert chosen({}, collect=collect, epsilon="1/3").chosen.setting.epsilon == Fraction(1, 3)
    assert chosen({}, collect=collect, epsilon=0.3333).outcome == "no-candidates"


def test_one_repeat_has_no_intervals():
    """A better figure may be luck."""
    found = choose(results({"all": BEFORE, GRR: {"sp_gap": 0.1}}, repeats=1), Limits())

    assert found.outcome == "no-intervals"


def test_without_unprotected_runs_no_loss_is_known():
    """The loss of accuracy has nothing to be counted from."""
    made = results({"all": BEFORE}, leave_out=[Setting()])

    assert choose(made, Limits()).outcome == "no-intervals"


def test_a_setting_that_failed_is_no_rival():
    """It cannot be used, so it cannot stand in the way."""
    made = results({"all": BEFORE}, leave_out=[OUE])

    assert choose(made, Limits()).chosen.setting == GRR


def test_each_interval_is_corrected_for_how_many_candidates_there_are():
    """Bonferroni over candidates, as the module says."""
    found = chosen({}, level=0.9)

    assert found.level == pytest.approx(1 - 0.1 / (3 * 4))
    assert found.candidates[0].gap.level == found.level


def test_of_three_those_that_none_beats_are_named():
    """One that is clearly worse is left out of what cannot be told apart."""
    collect = grid(["grr", "oue", "ss"], [1])
    found = chosen({setting("ss", 1): {"sp_gap": 0.4}}, collect=collect)

    assert names(found.alike) == [GRR, OUE]


def test_settings_that_beat_each_other_in_a_circle_are_all_named():
    """Gap first and accuracy second is no order when some differences cannot be told."""
    made = results({"all": BEFORE}, collect=grid(["grr", "oue", "ss"], [1]))
    tiny = np.resize([0, 1, -1, 2, -2], 10) * 1e-5
    noisy = np.resize([0.1, -0.1, 0.05, -0.05, 0], 10)
    gap = np.stack([0.4 + tiny, 0.3 + tiny, 0.301 - tiny, 0.3005 + noisy])
    accuracy = np.stack([0.8 + tiny, 0.7 - tiny, 0.78 + 2 * tiny, 0.74 - 2 * tiny])
    found = choose(with_runs(made, gap, accuracy), Limits())

    assert found.outcome == "alike"
    assert len(found.alike) == 3
    assert found.equal == ()  # each is better than another, so that none is said to do as well


@pytest.mark.parametrize("seen", [0, 1, 3], ids="far in {}".format)
def test_a_setting_that_leads_by_the_same_in_most_repeats_is_not_called_better(seen):
    """A repeat in which it falls far behind may be rare: ten that agree do not exclude it."""
    made = results({"all": BEFORE}, collect=grid(["grr", "oue"], [1]))
    gap = np.resize([0.0, 0.011, -0.007, 0.004, -0.013], (3, 10)) + 0.3
    gap[2] -= 0.05
    gap[2, :seen] += 0.2
    accuracy = np.resize([0.001, 0.0021, -0.0012, 0.0004, -0.003, 0.0016, 0.0033], (3, 10)) + 0.8
    found = choose(with_runs(made, gap, accuracy), Limits(max_gap=0.9))

    assert (found.outcome, found.chosen) == ("alike", None)
    assert names(found.alike) == [GRR, OUE]
    assert found.equal == ()  # nor is it said that the other does as well


def test_repeats_that_are_all_equal_recommend_nothing():
    """There is no interval by which a limit could be kept."""
    made = results({"all": BEFORE}, collect=grid(["grr", "oue"], [1]))
    found = choose(with_runs(made, np.full((3, 10), 0.3), np.full((3, 10), 0.8)), Limits(max_gap=0.9))

    assert (found.outcome, found.picked) == ("no-intervals", None)
    assert len(found.candidates) == 2


@pytest.mark.parametrize(
    ("protocol", "split", "strategy", "bits"),
    [
        ("grr", "uniform", "independent", 1 + 3),
        ("oue", "uniform", "independent", 2 + 5),
        ("grr", "sample", "independent", 3),
        ("grr", "uniform", "combined", 4),
        ("grr", "uniform", "single", 1),
    ],
)
def test_the_size_of_a_message_is_that_of_what_is_sent(protocol, split, strategy, bits):
    """What people choose by where nothing else tells settings apart."""
    assert message_bits(setting(protocol, 1, split=split, strategy=strategy), schema()) == bits


@pytest.mark.parametrize("name", ["max_gap", "max_accuracy_loss"])
@pytest.mark.parametrize("wrong", [-0.1, 1.5, "0.1", True, float("nan")])
def test_limits_are_shares(name, wrong):
    """Ten per cent is 0.1; 10 is a slip that would accept everything."""
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of advise must be a share"):
        Limits(**{name: wrong})


def test_the_limit_of_epsilon_is_above_nought():
    """No setting has less."""
    with pytest.raises(InvalidParameterError, match="'epsilon' parameter of advise must be"):
        Limits(epsilon=0)
