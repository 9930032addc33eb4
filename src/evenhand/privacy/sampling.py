"""Draws whose law is exact: integers in, integers out, no floats on the way.

Every function takes its `source` from the caller, and the secure and the seeded source feed the same
compiled kernels. Words are drawn in buffers of a fixed size, so memory is the result and a constant;
within one call the result does not depend on that size. Words left over at the end of a call are
thrown away, so two calls of size n are not one call of size 2n.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._validate import integer
from evenhand.errors import InvalidParameterError
from evenhand.privacy.feeding import feed
from evenhand.privacy.randomness import Source
from evenhand.privacy.rational import Number, exact
from evenhand.privacy.scales import LARGEST, is_representable

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

    Size = int | tuple[int, ...]

__all__ = ["bernoulli", "discrete_gaussian", "discrete_laplace", "permutation", "subsets", "uniform_below"]


def bernoulli(probability: Number, *, size: Size, source: Source) -> npt.NDArray[np.bool_]:
    r"""Draw True with a dyadic probability :math:`m / 2^b`, :math:`b \le 64`.

    A uniform number is compared with the probability, byte by byte, until they differ.

    Parameters
    ----------
    probability : int, float, str, Fraction or Decimal
        From 0 to 1, a multiple of 2**-64.
    size : int or tuple of int
        Shape of the result.
    source : Source
        Where the randomness comes from.

    Raises
    ------
    InvalidParameterError
        If the probability is not dyadic: which way to round it is a question of privacy.

    Examples
    --------
    >>> from evenhand.privacy.randomness import SeededSource
    >>> draws = bernoulli("3/4", size=100_000, source=SeededSource(7))
    >>> f"{draws.mean():.2f}"
    '0.75'
    """
    chance = exact(probability, name="probability", owner="bernoulli", least=0)
    scaled = chance * 2**64
    if chance > 1 or scaled.denominator != 1:
        raise InvalidParameterError(
            "probability",
            owner="bernoulli",
            must_be="a multiple of 2**-64 from 0 to 1",
            got=probability,
            hint="round it toward privacy first, for instance to Fraction(math.floor(p * 2**53), 2**53).",
        )
    if chance == 1:
        _check_source(source, "bernoulli")
        return np.ones(_shape(size, "bernoulli"), dtype=np.bool_)
    digits = int(scaled).to_bytes(8, "big").rstrip(b"\0") or b"\0"
    parameters = (np.frombuffer(digits, dtype=np.uint8).copy(),)
    return _draw("bernoulli", parameters, size, source, dtype=np.bool_, units=np.uint8, words=1 / 8)


def uniform_below(n: int, *, size: Size, source: Source) -> npt.NDArray[np.int64]:
    r"""Draw uniform integers :math:`0, \dots, n - 1`, each with probability exactly :math:`1/n`.

    The high half of the product of a random word and :math:`n` is taken, and the few words that would
    make some results likelier than others are drawn again [1]_.

    Parameters
    ----------
    n : int
        From 1 to 2**63.
    size : int or tuple of int
        Shape of the result.
    source : Source
        Where the randomness comes from.

    References
    ----------
    .. [1] Lemire (2019). Fast random integer generation in an interval. ACM TOMACS 29(1), algorithm 5.

    Examples
    --------
    >>> from evenhand.privacy.randomness import SeededSource
    >>> draws = uniform_below(6, size=10_000, source=SeededSource(7))
    >>> sorted(set(draws.tolist()))
    [0, 1, 2, 3, 4, 5]
    """
    bound = integer("n", n, owner="uniform_below", low=1, high=2**63)
    if bound <= 2**32:
        parameters = (np.uint64(bound), np.uint64(2**32 % bound))
        return _draw("uniform_below", parameters, size, source, kernel="uniform", words=0.5)
    parameters = (np.uint64(bound), np.uint64(2**64 % bound))
    return _draw("uniform_below", parameters, size, source, kernel="uniform_wide", words=1)


def subsets(n: int, k: int, *, size: Size, source: Source) -> npt.NDArray[np.int32]:
    r"""Draw uniform ordered samples of `k` different integers below `n`.

    As a set, each row is every one of the :math:`\binom{n}{k}` subsets with the same probability.
    A row costs `k` swaps of a deck that is never put back in order.

    Parameters
    ----------
    n : int
        How many there are to choose from, 1 to 2**31 - 1. The deck takes 4 `n` bytes.
    k : int
        How many are chosen, 0 to `n`.
    size : int or tuple of int
        Shape of the result without its last axis, which has length `k`.
    source : Source
        Where the randomness comes from.

    Examples
    --------
    >>> from evenhand.privacy.randomness import SeededSource
    >>> rows = subsets(5, 2, size=1_000, source=SeededSource(7))
    >>> rows.shape, len({frozenset(row) for row in rows.tolist()})
    ((1000, 2), 10)
    """
    total = integer("n", n, owner="subsets", low=1, high=LARGEST)
    take = integer("k", k, owner="subsets", low=0, high=total)
    shape = (*_shape(size, "subsets"), take)
    parameters = (np.arange(total, dtype=np.int32), take)
    return _draw("subsets", parameters, shape, source, dtype=np.int32, words=0.5)


def permutation(n: int, *, source: Source) -> npt.NDArray[np.int32]:
    r"""Draw a uniform order of :math:`0, \dots, n - 1`.

    Each of the :math:`n!` orders has probability exactly :math:`1/n!`. It is :func:`subsets` with all `n`
    chosen: a Fisher-Yates shuffle whose every swap is drawn exactly.

    Parameters
    ----------
    n : int
        How many there are, 0 to 2**31 - 1.
    source : Source
        Where the randomness comes from.

    Examples
    --------
    >>> from evenhand.privacy.randomness import SeededSource
    >>> sorted(permutation(5, source=SeededSource(7)).tolist())
    [0, 1, 2, 3, 4]
    """
    total = integer("n", n, owner="permutation", low=0, high=LARGEST)
    _check_source(source, "permutation")
    if total == 0:
        return np.empty(0, dtype=np.int32)
    return subsets(total, total, size=(), source=source)


def discrete_laplace(scale: Number, *, size: Size, source: Source) -> npt.NDArray[np.int64]:
    r"""Draw discrete Laplace noise, exactly.

    .. math:: \Pr[X = j] = \frac{1 - a}{1 + a} a^{|j|}, \quad a = e^{-1/b}

    where :math:`b` is `scale`. Algorithm 2 of [1]_ in integer arithmetic.

    **Guarantee.** Added to integers of L1 sensitivity :math:`\Delta_1`: pure differential privacy with
    :math:`\varepsilon = \Delta_1 / b`, tight. Numerics: exact. May be used for release with the secure
    source. The time a draw takes depends on its value.

    Parameters
    ----------
    scale : int, float, str, Fraction or Decimal
        A rational > 0 with numerator and denominator below 2**31.
    size : int or tuple of int
        Shape of the result.
    source : Source
        Where the randomness comes from.

    Raises
    ------
    InvalidParameterError
        If the scale is another number. It is not rounded here, because the guarantee would change.
    RandomSourceError
        If one draw needs more than a million words, which only happens with a broken source. No draw of
        a right source comes near the ends of int64: sizes stay below 2**58.

    References
    ----------
    .. [1] Canonne, Kamath, Steinke (2020). The discrete Gaussian for differential privacy. NeurIPS.

    Examples
    --------
    >>> from evenhand.privacy.randomness import SeededSource
    >>> noise = discrete_laplace("5/2", size=(2, 3), source=SeededSource(7))
    >>> noise.shape, noise.dtype
    ((2, 3), dtype('int64'))
    """
    rational = _scale(scale, name="scale", owner="discrete_laplace")
    parameters = (np.uint64(rational.numerator), np.uint64(rational.denominator))
    return _draw("discrete_laplace", parameters, size, source, words=3.2)


def discrete_gaussian(variance: Number, *, size: Size, source: Source) -> npt.NDArray[np.int64]:
    r"""Draw discrete Gaussian noise, exactly.

    .. math:: \Pr[X = j] \propto e^{-j^2 / (2 \sigma^2)}

    where :math:`\sigma^2` is `variance`; the variance of the draws is a little smaller. Algorithm 3 of
    [1]_ in integer arithmetic, 128 bits wide where needed.

    **Guarantee.** Added to integers of L2 sensitivity :math:`\Delta_2`: zero-concentrated differential
    privacy with :math:`\rho = \Delta_2^2 / (2 \sigma^2)`. Numerics: exact. May be used for release with
    the secure source. The time a draw takes depends on its value.

    Parameters
    ----------
    variance : int, float, str, Fraction or Decimal
        A rational > 0 with numerator and denominator below 2**31.
    size : int or tuple of int
        Shape of the result.
    source : Source
        Where the randomness comes from.

    Raises
    ------
    InvalidParameterError
        If the variance is another number. It is not rounded here, because the guarantee would change.
    RandomSourceError
        As for :func:`discrete_laplace`.

    References
    ----------
    .. [1] Canonne, Kamath, Steinke (2020). The discrete Gaussian for differential privacy. NeurIPS.

    Examples
    --------
    >>> from evenhand.privacy.randomness import SeededSource
    >>> noise = discrete_gaussian(100, size=100_000, source=SeededSource(7))
    >>> f"{noise.std():.1f}"
    '10.0'
    """
    rational = _scale(variance, name="variance", owner="discrete_gaussian")
    p, q = rational.numerator, rational.denominator
    t = math.isqrt(p // q) + 1
    bound = p * q * t**2
    parameters = tuple(np.uint64(number) for number in (p, q * t, t, bound, 2**64 % bound))
    return _draw("discrete_gaussian", parameters, size, source, words=6)


def _scale(value: Number, *, name: str, owner: str) -> Fraction:
    rational = exact(value, name=name, owner=owner, above=0)
    if not is_representable(rational):
        raise InvalidParameterError(
            name,
            owner=owner,
            must_be="a rational with numerator and denominator below 2**31",
            got=value,
            hint="evenhand.privacy.scales.representable rounds it up; compute the guarantee from its result.",
        )
    return rational


def _shape(size: Size, owner: str) -> tuple[int, ...]:
    lengths = size if isinstance(size, tuple) else (size,)
    return tuple(integer("size", length, owner=owner, low=0) for length in lengths)


def _check_source(source: object, owner: str) -> None:
    if not isinstance(source, Source):
        raise InvalidParameterError(
            "source",
            owner=owner,
            must_be="a SecureSource or a SeededSource",
            got=source,
            hint="SecureSource() for a release, SeededSource(seed) for a study.",
        )


def _draw(
    owner: str,
    parameters: tuple[Any, ...],
    size: Size,
    source: Source,
    *,
    words: float,
    kernel: str | None = None,
    dtype: type[np.generic] = np.int64,
    units: type[np.unsignedinteger[Any]] = np.uint32,
) -> npt.NDArray[Any]:
    """Fill an array with draws of a kernel; `words` is how many a draw takes on average."""
    from evenhand.privacy import _kernels  # noqa: PLC0415 - starts the compiler

    _check_source(source, owner)
    out = np.empty(_shape(size, owner), dtype=dtype)
    feed(getattr(_kernels, kernel or owner), out.reshape(-1), parameters, source, units=units, words=words)
    return out
