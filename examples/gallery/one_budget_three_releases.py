# %% [markdown]
# # One budget over three releases: what is left?
#
# An office publishes three tables about the same people. Each promises something by itself; together they
# tell more. A ledger adds up what was promised, and refuses what would be too much before anything is drawn.

# %%
import tempfile
from fractions import Fraction
from pathlib import Path

import evenhand as eh
from evenhand.errors import BudgetExceededError
from evenhand.release import Histogram, Laplace
from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.svg_file import svg_file

# %%
people = eh.datasets.load("causal", n=10_000, backend="pyarrow")
ledger = eh.Ledger(Path(tempfile.mkdtemp(), "ledger.db"), epsilon=1, people="respondents of 2026")
wanted = {("A",): "1/2", ("A", "Y"): "1/4", ("A", "C", "M"): "1/2"}

# %%
# The third table asks for more than is left; half of it would do.
bars, refused = [], ""
for columns, epsilon in wanted.items():
    table = Histogram.count(people.frame, people.schema.select(columns))
    spent, purpose = Fraction(epsilon), f"table of {' by '.join(columns)}"
    try:
        Laplace(epsilon=epsilon, unit="replace one").release(table, ledger=ledger, purpose=purpose)
    except BudgetExceededError as error:
        refused = f"The {purpose} asks for {epsilon} and is refused: {error.remaining.epsilon} is left."
        spent = error.remaining.epsilon
        Laplace(epsilon=spent, unit="replace one").release(table, ledger=ledger, purpose=purpose)
    bars.append(Bar(purpose, Estimate(float(spent)), strong=bool(refused)))

# %%
answer = f"{refused} With that it is published, with twice the noise. {ledger.total()}"
chart = bars_chart(
    Axis("epsilon spent"), bars, name="one-budget-three-releases", alt=answer,
    caption="The budget is 1 for all three. In ink: what was refused at first.",
)  # fmt: skip
print(answer)
Path("one_budget_three_releases.svg").write_text(svg_file(chart), encoding="utf-8")
