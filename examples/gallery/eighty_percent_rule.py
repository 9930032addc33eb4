# %% [markdown]
# # Do these predictions keep the 80% rule?
#
# The rule of four fifths: no group may be selected less than 80% as often as another. A share alone cannot
# tell, for it varies with who happened to apply. Three firms have the same ratio of 0.75; how sure is each?

# %%
from pathlib import Path

import numpy as np

from evenhand.measure import group_report
from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.svg_file import svg_file

# %%
# Of so many men and as many women, 40% and 30% are selected.
firms = {"small firm (50 of each)": 50, "middle firm (500 of each)": 500, "large firm (5,000 of each)": 5_000}
ratios, verdicts = {}, {}
for name, people in firms.items():
    group = np.repeat(["men", "women"], people).tolist()
    selected = np.concatenate([np.arange(people) < share * people for share in (0.4, 0.3)]).astype(int)
    report = group_report(None, selected, group, privileged="men")
    low, high = report.interval("di")
    ratios[name] = Estimate(float(report.di), low, high)
    verdicts[name] = "kept" if low >= 0.8 else "broken" if high < 0.8 else "cannot tell"

# %%
known = [name.partition(" (")[0] for name, verdict in verdicts.items() if verdict == "broken"]
unknown = [name.partition(" (")[0] for name, verdict in verdicts.items() if verdict == "cannot tell"]
answer = (
    f"All three select women 0.75 times as often as men. The {' and the '.join(known)} breaks the rule: the "
    f"whole 95% interval is below 0.8. Of the {' and the '.join(unknown)} it cannot be told; a check that "
    f"looks at the ratio alone would accuse them, or clear them, by chance."
)
bars = [
    Bar(f"{name}: {verdicts[name]}", ratio, strong=verdicts[name] == "broken")
    for name, ratio in ratios.items()
]
chart = bars_chart(
    Axis("selection of women", "% of that of men", 100.0), bars, name="eighty-percent-rule", alt=answer,
    caption="Thin lines: 95% interval of the ratio. On the command line: evenhand measure --rule 80% --check",
)  # fmt: skip
print(answer)
Path("eighty_percent_rule.svg").write_text(svg_file(chart), encoding="utf-8")
