"""Joint laws of comparisons as atoms."""

import numpy as np

from evenhand.decide.exact import joint_law
from evenhand.decide.exact.components import Component, Structure
from evenhand.decide.exact.joint_law import State, component_atoms, products
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace

BITS = {0: 1, 1: 2, 2: 4}


def masses(atoms, patterns, size):
    """Return the probability of every pattern for each entity."""
    found = np.zeros((size, patterns))
    for code, mass in atoms:
        np.add.at(found, (np.arange(size), np.broadcast_to(code, size)), mass)
    return found


def test_atoms_of_shared_whole_inputs_are_those_of_all_noises():
    """Every pattern, not only the one a rule asks for."""
    laws = (DiscreteLaplace("0.5"), DiscreteGaussian(2), DiscreteLaplace("0.4"))
    rows = (((0, 2), (1, -1)), ((0, 1), (2, 3)), ((0, -1),))
    structure = Structure(rows, (True, False, True), laws)
    state = State({0: np.array([1, -3]), 1: np.array([2, 0]), 2: np.array([-1, 0])}, {}, 2)
    found = masses(component_atoms(structure, state, Component((0, 1, 2), (0, 1, 2)), bits=BITS), 8, 2)
    noise = np.meshgrid(*[np.arange(-16, 17)] * 3, indexing="ij")
    mass = np.prod([law.pmf(each) for law, each in zip(laws, noise, strict=True)], axis=0)
    first, second, third = (sum(w * noise[name] for name, w in row) for row in rows)
    for k in range(2):
        held = [
            first > state.thresholds[0][k],
            second >= state.thresholds[1][k],
            third > state.thresholds[2][k],
        ]
        codes = sum(BITS[p] * held[p] for p in range(3))
        expected = np.bincount(codes.ravel(), weights=mass.ravel(), minlength=8)

        assert np.allclose(found[k], expected, rtol=0, atol=1e-12)


def test_patterns_add_up_to_one_for_every_law_and_chunk(monkeypatch):
    """Entities are worked on in blocks; the last block and the first are like the others."""
    rows = (((0, 20), (1, -1)), ((1, 1),), ((0, 1),))
    rng = np.random.default_rng(1)
    state = State({p: rng.integers(-40, 40, 300) for p in range(3)}, {}, 300)
    component = Component((0, 1, 2), (0, 1))
    for law in (Laplace(3), Gaussian(9), DiscreteLaplace(3)):
        structure = Structure(rows, (True,) * 3, (law,) * 2)
        whole = masses(component_atoms(structure, state, component, bits=BITS), 8, 300)
        with monkeypatch.context() as patch:
            patch.setattr(joint_law, "_MOST_NODES", 700)
            blocks = masses(component_atoms(structure, state, component, bits=BITS), 8, 300)

        assert np.allclose(whole.sum(axis=1), 1, rtol=0, atol=1e-13)
        assert np.allclose(whole, blocks, rtol=0, atol=1e-15)


def test_products_are_over_all_combinations():
    """Independent components: probabilities multiply, bits add."""
    first, second = (
        [(0, np.array([0.25])), (1, np.array([0.75]))],
        [(0, np.array([0.5])), (2, np.array([0.5]))],
    )

    assert [(code, float(mass[0])) for code, mass in products([first, second])] == [
        (0, 0.125),
        (2, 0.125),
        (1, 0.375),
        (3, 0.375),
    ]
