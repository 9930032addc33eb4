# %% [markdown]
# # A table by noise or by suppression: who is miscounted?
#
# A table of counts is published once with Laplace noise and once with every count below 10 left out. Both
# are common. Whose numbers are wrong afterwards?

# %%
from pathlib import Path

import evenhand as eh
from evenhand.release import Histogram, Laplace, Suppression
from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.svg_file import svg_file

# %%
# 600 made-up people by group, three more attributes and outcome: 24 cells, some of them small.
people = eh.datasets.load("causal", n=600, backend="pyarrow")
table = Histogram.count(people.frame, people.schema)
noise, blank = Laplace(epsilon=1, unit="replace one"), Suppression(threshold=10)

# %%
# Expected published minus true, cell by cell and exactly; a cell that is left out counts as 0.
true = table.counts.reshape(-1)
lost = -blank.bias(table).values.reshape(-1)
off = noise.exact_absolute_error(table).reshape(-1)
small = true < 10
sizes = {"cells of 1 to 9 people": small & (true > 0), "cells of 10 people or more": ~small}
bars = []
for words, cells in sizes.items():
    bars.append(Bar(f"{words}, suppression", Estimate(lost[cells].sum() / true[cells].sum()), strong=True))
    bars.append(Bar(f"{words}, noise", Estimate(off[cells].sum() / true[cells].sum())))

# %%
answer = (
    f"Suppression loses people of small cells only: all {lost[small].sum():.0f} of them, and nobody else. "
    f"It promises nothing about what the rest of the table tells. Noise loses nobody on average, and is off "
    f"by about {off.mean():.1f} people in every cell: {100 * off[small].sum() / true[small].sum():.0f}% of "
    f"a small one, {100 * off[~small].sum() / true[~small].sum():.0f}% of a large one."
)
chart = bars_chart(
    Axis("people miscounted", "%", 100.0), bars, name="noise-or-suppression", alt=answer,
    caption="Expected absolute error of the counts, as a share of the people in such cells. Noise: ε = 1.",
)  # fmt: skip
print(answer)
Path("noise_or_suppression.svg").write_text(svg_file(chart), encoding="utf-8")
