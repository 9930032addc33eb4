"""The measures once more, slow and obvious: loops over rows, one definition at a time."""

import math
from itertools import combinations

NAN = math.nan


def _share(part, whole):
    return part / whole if whole > 0 else NAN


def rates_of(rows, *, labelled):
    """Return the six rates of rows (group, y, p, weight), NaN where nobody counts."""
    total = selected = right = positive = true_positive = negative = false_positive = 0
    for _, y, p, weight in rows:
        total += weight
        if p == 1:
            selected += weight
        if p == y:
            right += weight
        if y == 1:
            positive += weight
        else:
            negative += weight
        if p == 1 and y == 1:
            true_positive += weight
        if p == 1 and y == 0:
            false_positive += weight
    rates = {"selection": _share(selected, total)}
    rates["tpr"] = _share(true_positive, positive)
    rates["fpr"] = _share(false_positive, negative)
    rates["accuracy"] = _share(right, total)
    rates["precision"] = _share(true_positive, selected)
    rates["base_rate"] = _share(positive, total)
    return {name: rate if labelled or name == "selection" else NAN for name, rate in rates.items()}


def measures_of(rows, *, groups, privileged, labelled):
    """Return every measure but the area under the ROC curve, and the rates of each group."""
    found = {}
    everybody = rates_of(rows, labelled=labelled)
    found["acc"], found["recall"] = everybody["accuracy"], everybody["tpr"]
    found["balanced_accuracy"] = (everybody["tpr"] + (1 - everybody["fpr"])) / 2
    right = sum(weight for _, y, p, weight in rows if y == 1 and p == 1)
    wrong = sum(weight for _, y, p, weight in rows if y != p)
    found["f1"] = 2 * right / (2 * right + wrong) if labelled and right + wrong > 0 else NAN
    first = rates_of([row for row in rows if row[0] == privileged], labelled=labelled)
    others = rates_of([row for row in rows if row[0] != privileged], labelled=labelled)
    for name, rate in (
        ("spd", "selection"),
        ("eod", "tpr"),
        ("ped", "fpr"),
        ("oad", "accuracy"),
        ("prd", "precision"),
    ):
        found[name] = NAN if privileged is None else first[rate] - others[rate]
    defined = privileged is not None and first["selection"] > 0
    found["di"] = others["selection"] / first["selection"] if defined else NAN
    each = [rates_of([row for row in rows if row[0] == group], labelled=labelled) for group in groups]
    pairs = list(combinations(each, 2))
    found["sp_gap"] = _worst([abs(a["selection"] - b["selection"]) for a, b in pairs])
    odds = [(abs(a["tpr"] - b["tpr"]), abs(a["fpr"] - b["fpr"])) for a, b in pairs]
    found["eo_gap"] = _worst([NAN if math.isnan(t + f) else max(t, f) for t, f in odds])
    found["meo_gap"] = _worst([(t + f) / 2 for t, f in odds])
    return found, each


def _worst(gaps):
    return NAN if not gaps or any(math.isnan(gap) for gap in gaps) else max(gaps)


def random_case(generator):
    """Draw columns for a report: few rows, one to five groups, some with weights, without labels, empty."""
    n_groups = int(generator.integers(1, 6))
    size = int(generator.integers(0, 40))
    group = generator.integers(0, n_groups, size)
    y, p = (generator.random((2, size)) < generator.random((2, 1))).astype(int)
    weights = [None, None, generator.random(size) * 10, generator.integers(0, 3, size)][
        int(generator.integers(4))
    ]
    declared = list(range(n_groups)) if generator.random() < 0.5 else None
    groups = declared or sorted(set(group.tolist()))
    choices = [None, *groups]
    privileged = choices[int(generator.integers(len(choices)))]
    labelled = bool(generator.random() < 0.9)
    weight_of_row = [1] * size if weights is None else weights.tolist()
    label_of_row = y.tolist() if labelled else [0] * size
    rows = list(zip(group.tolist(), label_of_row, p.tolist(), weight_of_row, strict=True))
    columns = {"y_true": y if labelled else None, "y_pred": p, "group": group}
    options = {"weights": weights, "groups": declared, "privileged": privileged}
    return columns, options, {"rows": rows, "groups": groups, "privileged": privileged, "labelled": labelled}
