"""Columns as they come: which value is positive, what is missing, which groups there are."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

import evenhand as eh
from evenhand.answer.status import judge
from evenhand.errors import InvalidParameterError, OutsideDomainError
from evenhand.study.predictions.columns import encode_group, read_predictions
from evenhand.study.predictions.effects import effects
from unit.study.predictions._cases import audit, people

ALPHA = 1e-9

NAMES = {"outcome": "hired", "prediction": "offer", "score": "risk", "weight": "weight", "person": "id"}
GROUPS = {"sex": (np.array([0, 1, 0, 1]), ["f", "m"])}


def read(groups=GROUPS, **columns):
    options = {name: columns.pop(name) for name in ("positive", "predicted", "threshold") if name in columns}
    return read_predictions(columns, groups, names=NAMES, **options)


@pytest.mark.parametrize(
    "outcome",
    [
        [1, 0, 1, 0],
        [True, False, True, False],
        [1.0, 0.0, 1.0, 0.0],
        ["1", "0", "1", "0"],
        np.array([1, 0, 1, 0], dtype=np.int8),
        pd.Series([1, 0, 1, 0], dtype="Int64"),
        pl.Series([1, 0, 1, 0]),
        pa.chunked_array([[1, 0], [1, 0]]),
        pd.Series(["1", "0", "1", "0"], dtype="category"),
    ],
)
def test_outcomes_of_every_library_and_kind_are_read(outcome):
    rows = read(outcome=outcome, prediction=[1, 1, 0, 0])

    assert rows.truth.tolist() == [1, 0, 1, 0]
    assert rows.predicted.tolist() == [1, 1, 0, 0]


def test_the_positive_value_is_named_and_others_are_negative():
    rows = read(outcome=["yes", "no", "late", "yes"], prediction=["yes", "yes", "no", "no"], positive="yes")

    assert rows.truth.tolist() == [1, 0, 0, 1]
    assert rows.outcome == "hired = yes"
    assert "several values" in rows.notes[0]


@pytest.mark.parametrize("outcome", [["yes", "no", "yes", "no"], [1, 2, 1, 2], [0, 1, 2, 1]])
def test_without_it_other_values_than_0_and_1_are_refused(outcome):
    with pytest.raises(InvalidParameterError, match="'positive'") as error:
        read(outcome=outcome, prediction=[1, 0, 1, 0])

    assert "yes" not in str(error.value)


def test_predictions_in_other_words_need_their_own_positive_value():
    """Else everybody would count as refused, without a word."""
    columns = {"outcome": ["yes", "no", "yes", "no"], "prediction": ["high", "low", "low", "high"]}
    with pytest.raises(InvalidParameterError, match="'predicted'"):
        read(**columns, positive="yes")

    assert read(**columns, positive="yes", predicted="high").predicted.tolist() == [1, 0, 0, 1]


def test_a_model_that_says_no_to_everybody_is_a_model():
    rows = read(outcome=["yes", "no", "yes", "no"], prediction=["no"] * 4, positive="yes")

    assert rows.predicted.tolist() == [0, 0, 0, 0]


def test_predictions_of_0_and_1_go_with_any_words():
    rows = read(outcome=["yes", "no", "yes", "no"], prediction=[1, 0, 0, 1], positive="yes")

    assert rows.predicted.tolist() == [1, 0, 0, 1]


def test_a_positive_value_that_occurs_nowhere_is_refused():
    with pytest.raises(InvalidParameterError, match="'positive'"):
        read(outcome=["yes", "no", "yes", "no"], prediction=["no"] * 4, positive="maybe")


def test_scores_need_a_threshold_and_the_threshold_is_positive():
    rows = read(outcome=[1, 0, 1, 0], score=[0.5, 0.4, 0.6, 0.1], threshold=0.5)

    assert rows.predicted.tolist() == [1, 0, 1, 0]
    assert read(score=[0.5, 0.4, 0.6, 0.1], threshold=0.5).outcome == "risk >= 0.5"
    with pytest.raises(InvalidParameterError, match="threshold"):
        read(score=[0.5, 0.4, 0.6, 0.1])
    with pytest.raises(InvalidParameterError, match="threshold"):
        read(prediction=[1, 0, 1, 0], score=[0.5, 0.4, 0.6, 0.1], threshold=0.5)


def test_rows_without_a_value_are_left_out_and_counted():
    rows = read(outcome=[1, None, 1, 0], prediction=[1, 1, None, 0], score=[0.1, 0.2, 0.3, 0.4])

    assert rows.predicted.tolist() == [1, 0]
    assert rows.left_out == {"hired": 1, "offer": 1}
    assert rows.group.tolist() == [0, 1]


def test_a_missing_group_is_not_stated():
    codes, labels = encode_group(["b", None, "a", "b"])

    assert (codes.tolist(), labels) == ([1, -1, 0, 1], ["a", "b"])
    assert encode_group(np.array([1.0, np.nan, 2.0]))[0].tolist() == [0, -1, 1]


def test_several_columns_are_crossed_and_one_missing_is_enough():
    groups = {"sex": (np.array([0, 1, 0, 1]), ["f", "m"]), "race": (np.array([0, 0, -1, 1]), ["x", "y"])}
    rows = read(groups, prediction=[1, 0, 1, 0])

    assert rows.labels == ("f, x", "m, x", "m, y")
    assert rows.group.tolist() == [0, 1, -1, 2]
    assert rows.protected == "sex, race"


@pytest.mark.parametrize(
    "columns",
    [
        {"prediction": [1, 0, 1]},
        {"prediction": [None] * 4},
        {"prediction": [1, 0, 1, 0], "score": ["a", "b", "c", "d"]},
        {"prediction": [1, 0, 1, 0], "score": [0.1, float("inf"), 0.2, 0.3]},
        {"prediction": [1, 0, 1, 0], "weight": [1, -1, 1, 1]},
        {"prediction": [1, 0, 1, 0], "weight": [0, 0, 0, 0]},
        {"prediction": [[1], [2, 3], "secret", 4]},
    ],
)
def test_columns_that_do_not_fit_are_refused_without_a_value(columns):
    with pytest.raises(InvalidParameterError) as error:
        read(**columns)

    assert "secret" not in str(error.value)


def test_columns_in_another_order_are_refused():
    sex = pd.Series(["f", "m"] * 20)
    with pytest.raises(InvalidParameterError, match="another index"):
        eh.measure.page(None, pd.Series([1, 0] * 20), sex[::-1])


def test_too_many_groups_are_refused():
    with pytest.raises(InvalidParameterError, match="200 groups"):
        encode_group(list(range(201)))


# --- people with several rows ----------------------------------------------------------------------


def test_people_with_several_rows_count_once():
    """If every row counted, ten decisions on each of 800 people would look like 8,000 people."""
    truth, predicted, group = people()
    ids = np.arange(len(truth))
    single = audit(truth, predicted, group)
    repeated = audit(
        np.repeat(truth, 10), np.repeat(predicted, 10), list(np.repeat(group, 10)), person=np.repeat(ids, 10)
    )
    as_rows = audit(np.repeat(truth, 10), np.repeat(predicted, 10), list(np.repeat(group, 10)))

    assert repeated.to_dict() == single.to_dict()
    assert repeated.people == (400, 400)
    assert repeated.rows.notes == ("Of each 'id' one row drawn at random counts.",)
    assert as_rows.rate(0, "tpr").low > repeated.rate(0, "tpr").low + 0.02


def test_few_people_with_many_rows_are_not_judged():
    """If rows were people, 20 women would be judged by 400 rows."""
    truth, predicted, group = people(women=(4, 6, 2, 8))
    times = np.where(np.array(group) == "women", 20, 1)
    columns = [list(np.repeat(each, times)) for each in (truth, predicted, group)]
    ids = np.repeat(np.arange(len(truth)), times)

    def judged(found):
        return {row.group for row in judge(effects(found)) if row.status != "unjudged"}

    assert judged(audit(*columns)) >= {"women", "men"}
    assert judged(audit(*columns, person=ids)) == {""}


def test_a_row_of_each_person_is_drawn_among_those_that_lack_nothing():
    """If not, whoever lacks one prediction would be left out with all that are there."""
    ids = np.repeat(np.arange(50), 4)
    predicted = [None, None, 1, None] * 50
    rows = read({"sex": (ids % 2, ["f", "m"])}, prediction=predicted, person=list(ids))

    assert len(rows.predicted) == 50
    assert rows.left_out == {"offer": 150}


def test_a_person_is_drawn_without_favour_for_a_place():
    """If the first row were taken, a decision that was changed on appeal would never count."""
    ids = np.repeat(np.arange(2_000), 2)
    rows = read({"sex": (ids % 2, ["f", "m"])}, prediction=[1, 0] * 2_000, person=ids)
    few = stats.binom.cdf(min(rows.predicted.sum(), 2_000 - rows.predicted.sum()), 2_000, 0.5)

    assert few > ALPHA
    assert stats.binom.cdf(0, 2_000, 0.5) < ALPHA  # as it would be if the first row were taken


@pytest.mark.parametrize("ids", [["7", "07", "8", "8.0"], [7, 7, 8, 8], [7.0, 7.0, 8.0, 8.0]])
def test_ids_that_are_written_differently_are_one_person(ids):
    """If not, a person would count as often as their number is written in a new way."""
    assert len(read(prediction=[1, 1, 0, 0], person=ids).predicted) == 2


@pytest.mark.parametrize("ids", [["secret", None, "b", "c"], ["secret", "", "b", "c"]])
def test_rows_of_nobody_are_refused_without_an_id(ids):
    """If they were one person, all of them would count once."""
    with pytest.raises(OutsideDomainError, match="no person in some rows") as error:
        read(prediction=[1, 1, 0, 0], person=ids)

    assert "secret" not in str(error.value)


def test_crossed_columns_of_unequal_length_are_refused():
    """If not, numpy would say so, in words for others and with lengths."""
    with pytest.raises(InvalidParameterError, match="as long as the other columns"):
        eh.measure.page(None, [1, 0] * 20, {"sex": ["f", "m"] * 20, "race": ["x", "y"] * 10})
