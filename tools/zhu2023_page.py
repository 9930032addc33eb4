"""Print tables 1 to 3 of zhu2023 as its page has them: printed, drawn again and exact, side by side.

Run it with `python -P tools/zhu2023_page.py FOLDER`: the `--out` of `evenhand reproduce zhu2023 --full`.
"""

from __future__ import annotations

import sys
from itertools import product

from evenhand.papers import examine
from evenhand.papers.claims import Evidence
from evenhand.papers.zhu2023.data import (
    ANONYMITY,
    DATA,
    EPSILONS,
    MECHANISMS,
    exact_record,
    of_table,
    printed_number,
)


def side_by_side(evidence: Evidence, name: str) -> str:
    """Return a table as Markdown: printed, drawn again and exact, side by side."""
    numbers = "{0}: paper | ours | IPUMS | exact".format
    heads = f"| epsilon | mechanism | delta: paper | exact | {numbers('bias')} | {numbers('alpha')} |"
    lines = [heads, "|---" * 12 + "|"]
    for text, (mechanism, title) in product(EPSILONS, MECHANISMS.items()):
        exact = exact_record(evidence, name)["numbers"][mechanism][text]
        delta = printed_number(name, mechanism, text, "delta")[0]
        true = exact["exact delta"]
        level = f"{true:.4f}" if true >= 1e-3 else f"{true:.1e}"
        cells = [text, title, delta, f"{true:g}" if true in (0.0, 1.0) else level]
        for measure, digits in (("l1", 1), ("alpha", 2)):
            kinds = {"tables": True, "ipums": mechanism != ANONYMITY}
            means = [
                of_table(evidence, name, mechanism, text, measure, kind=kind).mean() if known else None
                for kind, known in kinds.items()
            ]
            ours = ["" if each is None else f"{each:,.{digits}f}" for each in (*means, exact.get(measure))]
            cells += [printed_number(name, mechanism, text, measure)[0], *ours]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(folder: str) -> None:
    """Print the table of each data set."""
    evidence = Evidence({}, None, examine("zhu2023", folder, design="full").trials)
    for name, source in DATA.items():
        print(f"{source.table}, {source.title}\n\n{side_by_side(evidence, name)}")


if __name__ == "__main__":
    main(sys.argv[1])
