"""Made-up tables of effects of a classifier, drawn by a seed."""

from dataclasses import replace

import numpy as np

from evenhand.answer.effects import EVERYBODY, EffectTable, Observation, Option

PAGE, PLAIN = "noise", "plain"
SIZES = (40, 300, 2_000, 20_000)


def observe(option, group, effect, after, due, *, people=1_000.0, basis="repeats", **more):
    """Return an observation of arrays or single numbers."""
    after, due = (np.atleast_1d(np.asarray(values, dtype=float)) for values in (after, due))
    return Observation(option, group, effect, after, np.broadcast_to(due, after.shape), people, basis, **more)


def draw_table(seed, *, n_groups=3, n_remedies=2, repeats=10, basis="repeats"):
    """Return a table of a classifier: a page's option, remedies at its epsilon, and rows of everybody."""
    rng = np.random.default_rng(seed)
    effects = ("selected", "wrongly_refused")
    options = [Option(PLAIN), Option(PAGE, PLAIN, epsilon=1.0, method="noise")]
    options += [
        Option(f"remedy {place}", PAGE, epsilon=1.0, is_remedy=True, simplicity=place)
        for place in range(n_remedies)
    ]
    n = 1 if basis == "exact" else repeats
    sizes = rng.choice(SIZES, size=n_groups)
    due = {effect: rng.uniform(50, 400, size=n_groups) for effect in effects}
    seen = []
    for option in options[1:]:
        for place in range(n_groups):
            for effect in effects:
                sign = -1 if effect == "selected" else 1
                shift = sign * rng.choice([-60, 0, 5, 40, 120]) * rng.uniform(0.5, 1)
                noise = 0 if basis == "exact" else rng.normal(0, rng.choice([2, 20]), size=n)
                base = due[effect][place]
                after = np.clip(base + shift + noise, 0, 1_000)
                more = {"people": float(sizes[place]), "basis": basis}
                seen.append(observe(option.name, f"group {place}", effect, after, base, **more))
    in_all = float(sizes.sum())
    for option in options:
        given = in_all * (0.3 if option.name == PLAIN else rng.uniform(0.26, 0.34))
        more = {"people": in_all, "basis": "exact"}
        seen.append(observe(option.name, EVERYBODY, "in_all", given, in_all * 0.3, **more))
        seen.append(observe(option.name, EVERYBODY, "wrong", rng.uniform(200, 215), 200, **more))
    return EffectTable(tuple(options), tuple(seen), PAGE)


def change_observations(table, change):
    """Return the table with each observation as a function of it returns it; None leaves it out."""
    changed = [change(seen) for seen in table.observations]
    return replace(table, observations=tuple(seen for seen in changed if seen is not None))
