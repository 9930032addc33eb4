"""The page of an audit of predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand._validate import one_of
from evenhand.answer.compose import compose
from evenhand.answer.effects import FEWEST_PEOPLE
from evenhand.answer.page import build_page
from evenhand.measure.columns import same_index
from evenhand.measure.decisions import OWNER
from evenhand.report.language import LANGUAGES
from evenhand.schema.crossing import BETWEEN_VALUES, NOT_STATED
from evenhand.study.predictions.audit import PredictionAudit
from evenhand.study.predictions.case import case
from evenhand.study.predictions.columns import encode_group, read_predictions
from evenhand.study.predictions.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.report.page import Page


def page(  # noqa: PLR0913 - one keyword for each choice
    y_true: Any,
    y_pred: Any,
    group: Any,
    *,
    scores: Any = None,
    threshold: float | None = None,
    positive: Any = None,
    predicted: Any = None,
    privileged: Any = None,
    weights: Any = None,
    person: Any = None,
    rules: Sequence[str] = (),
    measures: Sequence[str] = (),
    labels: Mapping[Any, str] | None = None,
    missing_group: bool = False,
    pool_below: int | None = None,
    fewest: int = FEWEST_PEOPLE,
    level: float = 0.95,
    unwanted: bool | None = None,
    matters: Sequence[str] = (),
    called: str = "",
    language: str = "en",
    outcome: str = "",
    protected: str = "",
) -> Page:
    r"""Return the page of somebody's own predictions: who fares worse than others, by how much, what to do.

    Each group is compared with everybody outside it, by rates of those whom a decision can wrong. Every usual
    measure stands behind the answer, for researchers. Write it with :func:`evenhand.report.write`.

    Parameters
    ----------
    y_true : array, list, series or None
        True outcomes. Without them only selection rates are compared.
    y_pred : array, list, series or None
        Decisions; None if they follow from `scores` and `threshold`.
    group : array, list, series, or mapping of str to these
        The group of each row; several columns are crossed, and shown by themselves too. Who lacks one is
        *not stated*, and in no comparison.
    scores : array, list or series, optional
        Larger means more likely positive; from 0 to 1 they are checked for calibration.
    threshold : float, optional
        The score from which on a decision is positive, where there are no decisions.
    positive : object, optional
        The value that counts as positive, or of numbers a threshold such as ``">= 50000"``. Needed unless
        there are 0 and 1, or truth values.
    predicted : object, optional
        The positive value of `y_pred`, where it is another than that of `y_true`.
    privileged : object, optional
        The group that others are compared with, of crossed columns a value of each; by default the largest.
    weights : array, list or series, optional
        One weight per row, at least 0.
    person : array, list or series, optional
        Whose row it is, where a person has several: one row of each, drawn at random, then counts.
    rules : sequence of str
        Such as ``"80%"`` or ``"odds_gap <= 0.1"``. A rule is kept only if the whole interval keeps it.
    measures : sequence of str
        Measures that other packages add, by name; the page has a table of them.
    labels : mapping, optional
        What groups are called, by their values.
    missing_group : bool
        Whether those who do not state their group are compared as one.
    pool_below : int, optional
        Groups of fewer people than this are compared as one, whatever their outcomes.
    fewest : int
        How many people a rate must rest on to be compared.
    level : float
        Of intervals.
    unwanted : bool, optional
        Whether the positive prediction is bad for people, such as an alarm. Left out, it is read as good,
        and the page says that nobody said so.
    matters : sequence of str
        The least amount that counts, such as ``"20"`` of 1,000 or ``"wrong=50"``; by default 10 of 1,000.
    called : str
        What happens to somebody whose prediction is positive, such as ``"approved"``; by default *selected*,
        or *flagged* where that is unwanted.
    language : {"en", "de"}
    outcome, protected : str
        What people call the outcome and the groups; by default the names of the columns.

    Returns
    -------
    Page

    Raises
    ------
    InvalidParameterError
        If columns do not fit together, or hold what they may not. No value of a row is told.
    MissingExtraError
        If altair or vl-convert is not installed.

    Examples
    --------
    >>> import evenhand as eh
    >>> hired = [1] * 40 + [0] * 60 + [1] * 18 + [0] * 82
    >>> sex = ["men"] * 100 + ["women"] * 100
    >>> page = eh.measure.page(None, hired, sex, outcome="hired", called="hired")
    >>> page.head.verdict
    'Women fare worse than others.'
    >>> page.head.said[1].text
    'Of 1,000 women, 180 were hired; of 1,000 others 400.'
    """
    one_of("language", language, LANGUAGES, owner=OWNER)
    columns = {"outcome": y_true, "prediction": y_pred, "score": scores, "weight": weights, "person": person}
    there = {name: values for name, values in columns.items() if values is not None}
    grouped = group if isinstance(group, dict) else {protected or _name_of(group) or "group": group}
    same_index({**there, **grouped}.items(), owner=OWNER)
    names = {name: _name_of(values) or name for name, values in there.items()}
    if outcome:
        names["outcome" if y_true is not None else "prediction" if y_pred is not None else "score"] = outcome
    texts = {str(value): str(text) for value, text in (labels or {}).items()}
    coded = {}
    for name, values in grouped.items():
        codes, found = encode_group(values, name)
        coded[name] = codes, [texts.get(label, label) for label in found]
    rows = read_predictions(
        there,
        coded,
        positive=positive,
        predicted=predicted,
        threshold=threshold,
        names=names,
        missing_group=NOT_STATED if missing_group else "",
        pool_below=pool_below,
    )
    audit = PredictionAudit(
        rows=rows,
        rules=tuple(map(Rule.parse, rules)),
        privileged=_privileged_label(privileged, texts),
        fewest=fewest,
        level=level,
        unwanted=unwanted,
        measures=tuple(measures),
        matters=tuple(matters),
        called=called,
    )
    return build_page(compose(case(audit, language=language)))


def _privileged_label(privileged: Any, called: Mapping[str, str]) -> str | None:
    """Return what the privileged group is called; a combination has a value of each column."""
    if privileged is None:
        return None
    values = privileged if isinstance(privileged, list | tuple) else [privileged]
    return BETWEEN_VALUES.join(called.get(str(value), str(value)) for value in values)


def _name_of(values: Any) -> str:
    name = getattr(values, "name", "")  # of a series; arrays and lists have none
    return name if isinstance(name, str) else ""
