"""The conversion from zCDP agrees with another library's."""

import random

import pytest

from evenhand.privacy.zcdp import delta_from_zcdp, epsilon_from_zcdp


@pytest.mark.slow
def test_zcdp_converts_as_in_opendp():
    """Same bound, so the same figures; near delta = 1 OpenDP states 1 where the infimum is a little less."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    draw = random.Random(3)
    for _ in range(300):
        gaussian = dp.m.make_gaussian(
            dp.atom_domain(T=int), dp.absolute_distance(T=float), 10 ** draw.uniform(-1, 2)
        )
        rho, curve = gaussian.map(1.0), dp.c.make_zCDP_to_approxDP(gaussian).map(1.0)
        delta, epsilon = 10 ** draw.uniform(-12, -1), draw.uniform(0.01, 5)
        theirs, ours = curve.delta(epsilon), float(delta_from_zcdp(rho, epsilon))

        assert curve.epsilon(delta) == pytest.approx(float(epsilon_from_zcdp(rho, delta)), rel=1e-9, abs=1e-9)
        assert ours <= theirs * (1 + 1e-9)
        if 1e-30 < theirs < 0.9:
            assert ours == pytest.approx(theirs, rel=1e-9)
