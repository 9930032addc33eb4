# %% [markdown]
# # Who pays when a survey is collected at epsilon 1?
#
# People randomise three answers on their own devices; a model learns from the reports who gets the good
# outcome. Then it is used on people as they are. Is everybody predicted as well as before?
#
# The answer is that of this model and these people. With gradient boosting on 20,000 of them, ten repeats,
# the gap narrowed by 2 to 26 points instead: try your own model before you conclude anything.

# %%
from pathlib import Path

import evenhand as eh
from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.svg_file import svg_file

# %%
# 40,000 made-up people: a group A, two more answers C and M, and an outcome Y that depends on all three.
plan = eh.Plan(
    data=eh.study.DataSource(dataset="causal", options={"n": 40_000}),
    task=eh.study.CollectTask(["grr"], [1], model="logistic"),
    repeats=30,
)
results = eh.run(plan, workers=1, progress=False)

# %%
# The rate at which each group is predicted the good outcome, before and after, over 30 repeats.
runs = {"true answers": [], "reports at ε = 1": []}
for outcome in results.outcomes:
    words = "reports at ε = 1" if outcome.cell.setting.is_protected else "true answers"
    runs[words].append({group: rates["selection"] for group, rates in outcome.groups.items()})
bars, means = [], {}
for words, found in runs.items():
    for group in found[0]:
        rates = sorted(run[group] for run in found)
        means[words, group] = sum(rates) / len(rates)
        label = f"group {group}, model learns from {words}"
        bars.append(Bar(label, Estimate(means[words, group], rates[0], rates[-1]), strong="ε" in words))

# %%
change = results.compare("grr 1", "unprotected", measure="sp_gap")
low, high = sorted(runs["true answers"][0], key=lambda group: means["true answers", group])
before, after = (100 * (means[words, high] - means[words, low]) for words in runs)
answer = (
    f"Group {low} pays. It is predicted the good outcome {before:.0f} points less often than group {high} "
    f"when the model learns from true answers, and {after:.0f} points less often when it learns from reports "
    f"(a change of {100 * change.low:+.0f} to {100 * change.high:+.0f} points, 95% interval)."
)
chart = bars_chart(
    Axis("predicted the good outcome", "%", 100.0), bars, name="survey-at-epsilon-1", alt=answer,
    caption="Lines: the smallest and the largest of 30 repeats.",
)  # fmt: skip
print(answer)
Path("survey_at_epsilon_1.svg").write_text(svg_file(chart), encoding="utf-8")
