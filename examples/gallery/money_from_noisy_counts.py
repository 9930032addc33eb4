# %% [markdown]
# # Money is allotted from noisy counts: who loses?
#
# A thousand school districts share a budget in proportion to their numbers of students. The numbers are
# published with noise, and a count below 0 is set to 0. On average over the noise, who gets more than is
# due, and who pays for it?

# %%
from pathlib import Path

import numpy as np

import evenhand as eh
from evenhand.decide import Allotment, bias
from evenhand.release import Laplace
from evenhand.release.postprocess.steps import Nonnegative
from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.svg_file import svg_file

BUDGET = 1_000_000_000

# %%
districts = eh.datasets.load("school_districts", n=1_000, backend="pandas").frame
students = districts["num_students"].to_numpy()
money = Allotment(np.ones(len(students)), budget=BUDGET, count="students")
noise = Laplace(epsilon="0.01", unit="add or remove one")
found = bias(money, {"students": students}, noise, post=Nonnegative())

# %%
# Expected money minus what is due, by the size of the district.
gains = np.asarray(found.bias) * BUDGET
edges = {"below 500 students": (0, 500), "500 to 1,999": (500, 2_000), "2,000 to 9,999": (2_000, 10_000),
         "10,000 or more": (10_000, 10**9)}  # fmt: skip
bars, sums, due = [], {}, {}
for words, (least, most) in edges.items():
    inside = (students >= least) & (students < most)
    sums[words] = gains[inside].sum()
    due[words] = BUDGET * students[inside].sum() / students.sum()
    label = f"{words} ({inside.sum()} districts)"
    bars.append(Bar(label, Estimate(sums[words] / 1e6), strong=sums[words] < 0))

# %%
winner, loser = max(sums, key=sums.__getitem__), min(sums, key=sums.__getitem__)
answer = (
    f"Districts of {loser} lose {-sums[loser] / 1e6:.1f} million of 1,000, on average over the noise; those "
    f"{winner} gain {sums[winner] / 1e6:.1f} million, {100 * sums[winner] / due[winner]:.0f}% more than "
    f"is due to them. The noise itself favours nobody: a count that is drawn below 0 and set to 0 is too "
    f"high, and that happens to small districts only."
)
chart = bars_chart(
    Axis("money gained on average", "million"), bars, name="money-from-noisy-counts", alt=answer,
    caption="Expected amount minus what is due, all districts of a size together. Laplace noise, ε = 0.01.",
)  # fmt: skip
print(answer)
Path("money_from_noisy_counts.svg").write_text(svg_file(chart), encoding="utf-8")
