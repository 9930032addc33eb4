# %% [markdown]
# # Which protocol for a column of 51 states?
#
# 10,000 people report their state (or the District of Columbia) under local differential privacy. Every
# protocol promises the same epsilon. They differ in how far off the estimated shares are, and in how many
# bits a person sends.

# %%
from pathlib import Path

from evenhand.collect import protocol_named
from evenhand.report.charts import bars_chart
from evenhand.report.marks import Axis, Bar, Estimate
from evenhand.report.svg_file import svg_file

STATES, PEOPLE, EPSILON = 51, 10_000, 1


# %%
# The standard error of a share near 0 follows from the protocol's exact probabilities; nothing is drawn.
def error(name: str, epsilon: float) -> float:
    """Return the standard error of a share near 0, in points."""
    return 100 * protocol_named(name)(STATES, epsilon).variance(f=0, n=PEOPLE) ** 0.5


errors = {name: error(name, EPSILON) for name in ("grr", "rappor", "oue", "olh", "ss")}
bits = {name: protocol_named(name)(STATES, EPSILON).bits_per_report for name in errors}
best = min(errors, key=errors.__getitem__)

# %%
answer = (
    f"{best.upper()}, the subset protocol: at ε = 1 an estimated share is off by {errors[best]:.1f} points "
    f"(one standard error), against {errors['grr']:.1f} with GRR, the plain randomized response. A person "
    f"sends {bits[best]} bits instead of {bits['grr']}. At ε = 4 its subset has one value, so that it is GRR "
    f"itself: off by {error(best, 4):.2f} points, with 6 bits."
)
bars = [
    Bar(f"{name.upper()}, {bits[name]} bits", Estimate(errors[name]), strong=name in {best, "grr"})
    for name in sorted(errors, key=errors.__getitem__)
]
chart = bars_chart(
    Axis("standard error of a share", "points"), bars, name="protocol-for-51-states", alt=answer,
    caption=f"{PEOPLE:,} people, ε = {EPSILON}, a share near 0.",
)  # fmt: skip
print(answer)
Path("protocol_for_51_states.svg").write_text(svg_file(chart), encoding="utf-8")
