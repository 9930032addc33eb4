"""Laws of what differs between two settings in a repeat, with their means: ordinary, and mostly equal."""

import numpy as np


def _point_mass(rng, shape, *, mass, far):
    return np.where(rng.random(shape) < mass, 0.0, far)


def _balanced(rng, shape, *, rare, usual=0.01):
    """Return a small gain in most repeats that a large loss in rare ones makes up for."""
    return np.where(rng.random(shape) < rare, -usual * (1 - rare) / rare, usual)


def _near(rng, shape):
    """Return the same gain in most repeats, one near it in some, and a loss that makes up for both."""
    drawn = rng.random(shape)
    return np.where(drawn < 0.8, 0.01, np.where(drawn < 0.9, 0.011, -0.091))


def _group_rate(rng, shape, *, people, share):
    """Return the change of a rate of a few people, of whom each changes with a small chance, either way."""
    return (rng.binomial(people, share, shape) - rng.binomial(people, share, shape)) / people


LAWS = {
    "0 in nine of ten, else 0.1": (lambda rng, shape: _point_mass(rng, shape, mass=0.9, far=0.1), 0.01),
    "0 in 49 of 50, else -0.5": (lambda rng, shape: _point_mass(rng, shape, mass=0.98, far=-0.5), -0.01),
    "0 or 0.1, as often": (lambda rng, shape: _point_mass(rng, shape, mass=0.5, far=0.1), 0.05),
    "+0.01 in nine of ten, else -0.09": (lambda rng, shape: _balanced(rng, shape, rare=0.1), 0.0),
    "+0.01 in 19 of 20, else -0.19": (lambda rng, shape: _balanced(rng, shape, rare=0.05), 0.0),
    "+0.01 in eight of ten, near it in one": (_near, 0.0),
    "rate of 20 people, 1 in 100 changes": (
        lambda rng, shape: _group_rate(rng, shape, people=20, share=0.01),
        0.0,
    ),
    "rate of 40 people, 5 in 100 change": (
        lambda rng, shape: _group_rate(rng, shape, people=40, share=0.05),
        0.0,
    ),
    "normal": (lambda rng, shape: rng.normal(0.0, 0.01, shape), 0.0),
    "exponential": (lambda rng, shape: 0.01 - rng.exponential(0.01, shape), 0.0),
}
"""How a law is drawn, and its mean."""


def draw_unseen(rng, shape):
    """Return gains that differ a little in nine of ten repeats, and a loss that makes up for them.

    No rule that looks at the repeats alone knows of the loss before one is seen.
    """
    return _balanced(rng, shape, rare=0.1) + rng.normal(0.0, 1e-4, shape)
