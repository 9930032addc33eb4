"""Whatever the groups: the fairest matrix keeps its epsilon exactly, and its error budget."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from contract._protocol_claims import assert_private
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.optimal import Optimal
from evenhand.collect.protocols.probabilities import GRID
from evenhand.collect.protocols.registry import protocol_from

groups = st.lists(st.tuples(st.integers(0, 1_000), st.floats(0, 1, width=16)), min_size=2, max_size=5).filter(
    lambda pairs: any(weight for weight, _ in pairs)
)
epsilons = st.sampled_from(["0.001", "1/10", "1", "3", "8", "20", "60"])


@settings(max_examples=settings.default.max_examples // 2)
@given(groups, epsilons, st.sampled_from(["grr", "minimum"]), st.sampled_from(["ratio", "difference"]))
def test_any_groups_have_a_private_matrix(pairs, epsilon, error, kind):
    weights, rates = zip(*pairs, strict=True)
    kind = kind if any(weight * rate for weight, rate in pairs) else "difference"
    protocol = Optimal(weights, rates, epsilon, error=error, kind=kind)

    assert_private(protocol)
    assert all(sum(row) == GRID for row in protocol.to_dict()["law"])
    assert protocol.truthfulness.min() >= 1 / protocol.k - 1e-6
    assert protocol.error_probability <= 1 - GRR(protocol.k, min(protocol.epsilon, 20)).p + 1e-6
    assert protocol.unfairness.after <= protocol.unfairness.before + 1e-9 or kind == "ratio"
    assert protocol_from(json.loads(json.dumps(protocol.to_dict()))) == protocol
