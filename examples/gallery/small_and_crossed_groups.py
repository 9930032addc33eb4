# %% [markdown]
# # What do two columns by themselves hide?
#
# A rule selects people. Men and women are selected equally often, and so are people of two regions. Are the
# four combinations? And what can be said of a group of 30?

# %%
from pathlib import Path

import numpy as np

from evenhand.measure import group_report
from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.svg_file import svg_file

# %%
# How many people of each combination there are, and how many of them are selected.
counts = {("women", "north"): (400, 240), ("women", "south"): (400, 160),
          ("men", "north"): (400, 160), ("men", "south"): (400, 240),
          ("other", "north"): (30, 15), ("other", "south"): (30, 15)}  # fmt: skip
sex = np.repeat([group[0] for group in counts], [people for people, _ in counts.values()])
region = np.repeat([group[1] for group in counts], [people for people, _ in counts.values()])
selected = np.concatenate([np.arange(people) < chosen for people, chosen in counts.values()]).astype(int)

# %%
report = group_report(None, selected, {"sex": sex.tolist(), "region": region.tolist()})
low, high = report.interval("sp_gap")
first, second = report.worst_pair("sp_gap")
margins = {name: 100 * margin.sp_gap for name, margin in report.margins.items()}
small = report.rate_interval("selection", ("other", "north"))

# %%
answer = (
    f"The gap between the combinations is {100 * report.sp_gap:.0f} points ({100 * low:.0f} to "
    f"{100 * high:.0f}), between {' '.join(second)} and {' '.join(first)}. By sex alone it is "
    f"{margins['sex']:.0f} points, by region alone {margins['region']:.0f}. Of 30 people half are selected, "
    f"and the true rate may be anything from {100 * small.low:.0f}% to {100 * small.high:.0f}%."
)
bars = []
for group in counts:
    limits = report.rate_interval("selection", group)
    rate = Estimate(report.rates[group].selection, limits.low, limits.high)
    bars.append(Bar(f"{' '.join(group)} ({counts[group][0]} people)", rate, strong=group in (first, second)))
chart = bars_chart(
    Axis("selected", "%", 100.0), bars, name="small-and-crossed-groups", alt=answer,
    caption="Thin lines: 95% interval of each group.",
)  # fmt: skip
print(answer)
Path("small_and_crossed_groups.svg").write_text(svg_file(chart), encoding="utf-8")
