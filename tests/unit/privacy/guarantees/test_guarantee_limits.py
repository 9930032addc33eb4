"""Absurd input is refused by our errors, in little time, and what is made can always be written."""

import itertools
import time
from fractions import Fraction
from functools import reduce
from operator import or_

import numpy as np
import pytest

from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy import Guarantee

CENTRAL = {"unit": "replace one", "trust": "central"}
HUGE = 10**5_000

pytestmark = pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")


class Unspeakable:
    """It cannot even be shown."""

    def __repr__(self):
        message = "no repr"
        raise RuntimeError(message)


REFUSED = {
    "epsilon": lambda: Guarantee(epsilon=-HUGE, **CENTRAL),
    "tiny epsilon": lambda: Guarantee(epsilon=Fraction(-1, HUGE), **CENTRAL),
    "delta": lambda: Guarantee(epsilon=1, delta=HUGE, **CENTRAL),
    "long rho": lambda: Guarantee(rho="9" * 4_200, **CENTRAL),
    "tiny rho": lambda: Guarantee(rho=Fraction(1, 10**20_000), **CENTRAL),
    "people": lambda: Guarantee(epsilon=1, people=HUGE, **CENTRAL),
    "no people": lambda: Guarantee(epsilon=1, people=-HUGE, **CENTRAL),
    "group_size": lambda: Guarantee(epsilon=1, group_size=10**15 + 1, **CENTRAL),
    "size": lambda: Guarantee(epsilon=1, **CENTRAL).group(HUGE),
    "size of a group": lambda: Guarantee(epsilon=1, **CENTRAL).group(10**8).group(10**8),
    "reports": lambda: Guarantee(epsilon=1, unit="one report", trust="local").as_unit(
        "one person", reports=HUGE
    ),
    "long unit": lambda: Guarantee(epsilon=1, unit="x" * 10**7, trust="central"),
    "long unit of words": lambda: Guarantee(epsilon=1, unit="x " * 10**7, trust="central"),
    "unspeakable": lambda: Guarantee(epsilon=Unspeakable(), **CENTRAL),
    "array": lambda: Guarantee(epsilon=1, protects=np.array("race"), **CENTRAL),
    "endless": lambda: Guarantee(epsilon=1, protects=itertools.repeat("race"), **CENTRAL),
    "endless in clear": lambda: Guarantee(epsilon=1, in_clear=map(str, itertools.count()), **CENTRAL),
    "endless assumptions": lambda: Guarantee(epsilon=1, assumptions=itertools.repeat("a"), **CENTRAL),
    "text in parallel": lambda: Guarantee.parallel("x"),
    "none in parallel": lambda: Guarantee.parallel(Guarantee(epsilon=1, **CENTRAL), None),
    "long delta": lambda: Guarantee(rho=1, **CENTRAL).to_approximate(delta="0." + "9" * 4_200),
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
def test_absurd_input_is_refused_at_once_in_few_words(refused):
    begun = time.process_time()
    with pytest.raises(InvalidParameterError) as caught:
        refused()

    assert time.process_time() - begun < 1
    assert len(str(caught.value)) < 700


def test_the_longest_delta_that_is_read_takes_no_time():
    begun = time.process_time()
    made = Guarantee(rho=1, **CENTRAL).to_approximate(delta="0." + "9" * 3_899)

    assert time.process_time() - begun < 1
    assert made.delta == 1


def test_arrays_of_texts_are_sequences_of_texts():
    assert Guarantee(epsilon=1, protects=np.array(["race", "age"]), **CENTRAL).protects == ("race", "age")


def test_many_long_fractions_add_in_little_time_and_can_be_written():
    """Exact sums of 1/k have thousands of digits, which would be too long for a file, and slow."""
    parts = [Guarantee(epsilon=Fraction(1, k), **CENTRAL) for k in range(1, 3_001)]
    truth = sum(Fraction(1, k) for k in range(1, 3_001))
    begun = time.process_time()
    total = sum(parts)

    assert time.process_time() - begun < 5
    assert 0 <= total.epsilon - truth < Fraction(1, 10**50)
    assert Guarantee.from_dict(total.to_dict()) == total
    assert len(repr(total)) < 3_000
    assert "epsilon <= 8.5838" in str(total)


@pytest.mark.parametrize("digits", [1_000, 1_001])
def test_sums_are_exact_up_to_a_thousand_digits_and_rounded_up_beyond(digits):
    amount = 1 + Fraction(1, 10 ** (digits - 1) + 1)
    made = Guarantee(epsilon=amount, **CENTRAL)

    assert (made.epsilon == amount) == (digits == 1_000)
    assert 0 <= made.epsilon - amount < Fraction(1, 10**58)


def test_wholes_of_long_fractions_can_be_written_too():
    made = reduce(or_, (Guarantee(epsilon=1 + Fraction(1, 3**n), **CENTRAL) for n in range(1_000, 3_000, 99)))

    assert Guarantee.from_dict(made.to_dict()) == made


def test_a_loss_too_small_to_write_is_stated_as_the_smallest():
    made = Guarantee(epsilon="1e-300", **CENTRAL) + Guarantee(rho=0, **CENTRAL)

    assert made.rho == Fraction(1, 10**400)
    assert Guarantee.from_dict(made.to_dict()) == made


def test_a_loss_too_large_to_write_is_refused_with_the_way_out():
    large = Guarantee(epsilon="1e400", **CENTRAL)
    with pytest.raises(GuaranteeError, match=r"An amount above 10\*\*400 is not stated\. Hint: "):
        large + large


def test_records_of_absurd_parts_are_refused_by_our_error():
    record = Guarantee(epsilon="1e400", **CENTRAL).to_dict() | {"blocks": [["1e400", "0"], ["1e400", "0"]]}
    with pytest.raises(InvalidParameterError, match="'blocks' parameter"):
        Guarantee.from_dict(record)


def test_the_people_of_many_parts_stay_a_number_that_is_read():
    part = Guarantee(epsilon=1, people=10**15, **CENTRAL)

    assert (part | part).people == 10**15
    assert Guarantee.from_dict((part | part).to_dict()) == part | part


@pytest.mark.parametrize("name", ["protects", "in_clear", "assumptions"])
def test_a_hundred_thousand_texts_are_taken_and_one_more_is_refused(name):
    """The message says how many may be given."""
    most = [f"t{number}" for number in range(100_000)]

    assert len(getattr(Guarantee(epsilon=1, **{name: most}, **CENTRAL), name)) == 100_000
    with pytest.raises(InvalidParameterError, match="100,000 at most"):
        Guarantee(epsilon=1, **{name: [*most, "one more"]}, **CENTRAL)
