# %% [markdown]
# # What does parity cost under differential privacy?
#
# A classifier is trained with differential privacy, and afterwards few of its answers are changed so that
# both groups are selected equally often. Does that work when everything must be private, and what does it
# cost? It needs `pip install 'evenhand[dp]'`.

# %%
from pathlib import Path

import evenhand as eh
from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.svg_file import svg_file

METHODS = {"plain": "plain", "dp": "private", "dp+parity": "private, with parity"}

# %%
plan = eh.Plan(
    data=eh.study.DataSource(dataset="causal", options={"n": 20_000}),
    task=eh.study.LearnTask(methods=list(METHODS), epsilons=[1]),
    repeats=5,
)
results = eh.run(plan, workers=1, progress=False)

# %%
# Accuracy, and how far apart the groups are selected, over five repeats.
found = {name: {"acc": [], "sp_gap": []} for name in METHODS}
for outcome in results.outcomes:
    name = outcome.cell.setting.mechanism if outcome.cell.setting.is_protected else "plain"
    for measure, values in found[name].items():
        values.append(outcome.measures[measure])
mean = {name: {key: sum(part) / len(part) for key, part in parts.items()} for name, parts in found.items()}

# %%
gap, right = ({name: 100 * mean[name][key] for name in METHODS} for key in ("sp_gap", "acc"))
answer = (
    f"Parity works under privacy: the gap goes from {gap['dp']:.0f} to {gap['dp+parity']:.1f} points at "
    f"ε = 1. Privacy alone leaves it as it is ({gap['plain']:.0f} points without). Parity costs "
    f"{right['dp'] - right['dp+parity']:.1f} points of accuracy, privacy {right['plain'] - right['dp']:.1f}."
)
bars = [
    Bar(words, Estimate(mean[name]["sp_gap"], *(end(found[name]["sp_gap"]) for end in (min, max))),
        strong="parity" in name)
    for name, words in METHODS.items()
]  # fmt: skip
chart = bars_chart(
    Axis("gap in selection", "points", 100.0), bars, name="parity-under-privacy", alt=answer,
    caption="Thin lines: the smallest and the largest of five repeats.",
)  # fmt: skip
print(answer)
Path("parity_under_privacy.svg").write_text(svg_file(chart), encoding="utf-8")
