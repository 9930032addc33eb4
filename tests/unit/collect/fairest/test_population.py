"""What a channel does, against the definitions; and the printed form for two groups."""

import math

import numpy as np
import pytest

from evenhand.collect.fairest.population import (
    channel_error,
    channel_unfairness,
    population,
    printed_channel,
)
from evenhand.errors import InvalidParameterError
from property._channel_instances import slow_error, slow_unfairness


@pytest.mark.parametrize("kind", ["ratio", "difference"])
def test_unfairness_is_that_of_the_definition(kind):
    """Everything else is compared with this number."""
    draw = np.random.default_rng(3)
    for k in (2, 3, 7):
        weights, rates = draw.dirichlet(np.ones(k)), draw.random(k)
        matrix = draw.dirichlet(np.ones(k), size=k)

        assert channel_unfairness(matrix, weights, rates, kind=kind) == pytest.approx(
            slow_unfairness(matrix, weights, rates, kind), rel=1e-12
        )
        assert channel_error(matrix, population(weights, rates, 1, owner="test")) == pytest.approx(
            slow_error(matrix, weights)
        )


def test_a_report_that_nobody_makes_does_not_count():
    """Zero divided by zero is no unfairness."""
    assert channel_unfairness([[1, 0], [1, 0]], [0.5, 0.5], [0.2, 0.8]) == pytest.approx(0, abs=1e-15)


def test_a_group_that_is_nearly_everybody_loses_no_digits():
    """The mean is then nearly one rate, and a plain difference from it would be noise."""
    weights, rates = [1 - 1e-12, 1e-12], [0.5, 0.25]
    found = channel_unfairness([[1, 0], [0, 1]], weights, rates)

    assert found == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize(
    ("p", "q", "ratio"),
    [(0.5, 0.8160602794, 0.2753943315318), (0.731058578630, 0.731058578630, 0.40191105480226)],
)
@pytest.mark.parametrize("rates", [[0.2, 0.6], [0.6, 0.2]])
def test_two_groups_shrink_the_difference_by_the_ratio_worked_out_before(p, q, ratio, rates):
    """The ratio does not depend on which group has the higher rate."""
    matrix = [[p, 1 - p], [1 - q, q]]

    assert channel_unfairness(matrix, [0.7, 0.3], rates, kind="difference") == pytest.approx(
        0.4 * ratio, abs=1e-9
    )


def test_the_printed_form_flips_the_smaller_group():
    """Theorem 14: the larger group reports a fair coin."""
    keep = 1 - math.exp(-1) / 2

    assert np.diagonal(printed_channel([0.7, 0.3], 1)) == pytest.approx([0.5, keep])
    assert np.diagonal(printed_channel([0.3, 0.7], 1)) == pytest.approx([keep, 0.5])
    assert np.diagonal(printed_channel([0.5, 0.5], 1)) == pytest.approx([keep, 0.5])
    found = channel_unfairness(printed_channel([0.7, 0.3], 1), [0.7, 0.3], [0.2, 0.6], kind="difference")
    assert found == pytest.approx(0.1101577326127, abs=1e-12)


def test_the_printed_form_is_for_two_groups():
    with pytest.raises(
        InvalidParameterError, match=r"of two groups\. Got 3 groups instead\. Hint: fairest_channel"
    ):
        printed_channel([0.5, 0.3, 0.2], 1)


def test_randomized_response_has_the_usual_error():
    """It is the yardstick of the default budget."""
    people = population([0.5, 0.3, 0.2], [0.1, 0.2, 0.3], "1/2", owner="test")

    assert people.grr_error == pytest.approx(2 / (math.exp(0.5) + 2))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"matrix": np.eye(3)}, "'matrix' .* of 2 rows and 2 columns"),
        ({"kind": "gap"}, "'kind'"),
        ({"rates": [0, 0]}, "'rates' .* only zeros"),
    ],
)
def test_what_has_no_unfairness_is_refused(change, match):
    given = {"matrix": np.eye(2), "weights": [0.5, 0.5], "rates": [0.5, 0.5], **change}
    with pytest.raises(InvalidParameterError, match=match):
        channel_unfairness(**given)


def test_rates_of_zero_have_a_difference():
    assert channel_unfairness(np.eye(2), [0.5, 0.5], [0, 0], kind="difference") == 0
