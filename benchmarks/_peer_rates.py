"""Rates of the peers, asked for line by line in JSON; run by ``_peers.py`` in an environment of its own.

Both peers are called as their documentation shows: one call per person, and one aggregator over the list
of reports. The number of people is doubled until a run takes long enough to be timed.
"""

import json
import statistics
import sys
import time
import warnings
from functools import lru_cache, partial

import numpy as np

warnings.simplefilter("ignore")
EPSILON = 1.0
MOST = 100_000  # people
MOST_CELLS = 20_000_000  # of the peers' reports of one number per value


def timed(run, values):
    start = time.process_time()
    run(values)
    return time.process_time() - start


def rate(run, inputs, seconds, most):
    """Return values per CPU second, the median of three runs."""
    size = 64
    run(inputs(size))  # compiles what is compiled
    while timed(run, inputs(size)) < seconds / 2 and size < most:
        size = min(most, 2 * size)
    values = inputs(size)
    return size / statistics.median(timed(run, values) for _ in range(3))


def multi_freq_ldpy(k):
    """Yield protocol, client of one value and aggregator of a list of reports."""
    from multi_freq_ldpy.pure_frequency_oracles import GRR, HE, LH, SS, UE

    yield "grr", lambda v: GRR.GRR_Client(v, k, EPSILON), lambda r: GRR.GRR_Aggregator_MI(r, k, EPSILON)
    for name, best in (("blh", False), ("olh", True)):
        yield (
            name,
            lambda v, best=best: LH.LH_Client(v, k, EPSILON, best),
            partial(LH.LH_Aggregator_MI, k=k, epsilon=EPSILON, optimal=best),
        )
    for name, best in (("rappor", False), ("oue", True)):
        yield (
            name,
            lambda v, best=best: UE.UE_Client(v, k, EPSILON, best),
            partial(UE.UE_Aggregator_MI, epsilon=EPSILON, optimal=best),
        )
    yield "ss", lambda v: SS.SS_Client(v, k, EPSILON), lambda r: SS.SS_Aggregator_MI(r, k, EPSILON)
    yield "the", lambda v: HE.HE_Client(v, k, EPSILON), lambda r: HE.HE_Aggregator_MI(r, k, EPSILON)


def pure_ldp(k):
    """Yield the same for the other peer, whose values start at 1 and which has no subset selection."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.histogram_encoding import HEClient, HEServer
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    pairs = {
        "grr": (DEClient(EPSILON, k), DEServer(EPSILON, k)),
        "blh": (LHClient(EPSILON, k), LHServer(EPSILON, k)),
        "olh": (LHClient(EPSILON, k, use_olh=True), LHServer(EPSILON, k, use_olh=True)),
        "rappor": (UEClient(EPSILON, k), UEServer(EPSILON, k)),
        "oue": (UEClient(EPSILON, k, use_oue=True), UEServer(EPSILON, k, use_oue=True)),
        "the": (HEClient(EPSILON, k), HEServer(EPSILON, k, use_the=True)),
    }

    def estimates(server, reports):
        server.reset()
        server.aggregate_all(reports)
        return server.estimate_all(range(1, k + 1), suppress_warnings=True)

    for name, (client, server) in pairs.items():
        yield name, lambda v, client=client: client.privatise(v + 1), partial(estimates, server)


@lru_cache(1)
def made(k):
    """Return each peer's protocols for `k` values."""
    return {
        letter: {name: (client, server) for name, client, server in protocols(k)}
        for letter, protocols in (("M", multi_freq_ldpy), ("P", pure_ldp))
    }


def answer(protocol, side, k, seconds):
    """Return the rate of each peer that has the protocol."""
    people = np.random.default_rng(1).integers(0, k, MOST).tolist()
    found = {}
    for letter, protocols in made(k).items():
        if protocol in protocols:
            client, server = protocols[protocol]

            def reports(size, client=client):
                return [client(v) for v in people[:size]]

            run = server if side == "server" else lambda values, client=client: [client(v) for v in values]
            inputs = lru_cache(1)(reports) if side == "server" else lambda size: people[:size]
            found[letter] = rate(run, inputs, seconds, min(MOST, MOST_CELLS // k))
    return found


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), flush=True)
