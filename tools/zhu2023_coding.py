"""Tell how much of the reproduction of zhu2023 depends on shares that are assumed for race as coded in IPUMS.

For each choice of shares it prints how many of the nine statements about the biases of noise and suppression
would agree, and how far the biases are off the printed ones. It takes about seven minutes of one core. Run it
with `python -P tools/zhu2023_coding.py`: without `-P`, `coverage.py` here hides the package of that name.
"""

from __future__ import annotations

from evenhand.papers.claims import AGREES, Evidence
from evenhand.papers.rules import share
from evenhand.papers.zhu2023.data import DATA, EPSILONS, number_of
from evenhand.papers.zhu2023.experiments import DRAWN, code_as_ipums

EXPERIMENTS = 8
CHOSEN = (0.22, 0.04, 0.1)
EXTREMES = [(0.0, 0.0, 0.0), (1 / 3, 1 / 3, 0.5), (0.1, 0.02, 0.05), (0.4, 0.08, 0.15)]
CHINESE = (0.0, 0.05, 0.1, 0.15, 0.4, 0.6, 0.8, 0.96)
JAPANESE = (0.0, 0.01, 0.02, 0.08, 0.15, 0.3)
THREE = (0.0, 0.02, 0.05, 0.2, 0.35, 0.5)


def main() -> None:
    """Print a line for each choice of shares."""
    choices = [CHOSEN, *EXTREMES]
    choices += [(part, *CHOSEN[1:]) for part in CHINESE]
    choices += [(CHOSEN[0], part, CHOSEN[2]) for part in JAPANESE]
    choices += [(*CHOSEN[:2], part) for part in THREE]
    for chinese, japanese, three in choices:
        agree, offs = 0, []
        for name in DATA:
            shares = {"asians": (chinese, japanese), "three": three}
            records = {number: code_as_ipums(name, number, **shares) for number in range(EXPERIMENTS)}
            evidence = Evidence({}, None, {f"ipums-{name}": records})
            for mechanism in DRAWN[:3]:
                parts = [number_of(evidence, name, mechanism, text, "l1", kind="ipums") for text in EPSILONS]
                agree += share(parts).verdict == AGREES
                offs += [part.values["off"] for part in parts]
        print(
            f"{chinese:.2f} {japanese:.2f} {three:.2f}: {agree} of 9, {min(offs):+.1%} to {max(offs):+.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
