"""Every error is ours, is also the builtin a caller expects, and prints its message."""

import copy
import inspect
import pickle

import pytest

from evenhand import errors

EXAMPLES = [
    (errors.ClusterError("A task failed with OSError."), RuntimeError),
    (errors.OtherRowsError(3), RuntimeError),
    (
        errors.InvalidParameterError("k", owner="GRR", must_be="a whole number of at least 2", got=1),
        ValueError,
    ),
    (errors.UnknownNameError("Data set", "adlt", ["adult", "lsac"]), KeyError),
    (errors.ColumnNotFoundError("Race", ["age", "race"]), KeyError),
    (errors.SchemaError("The schema is empty.", field="columns"), ValueError),
    (errors.PlanError("The plan field 'seed' is missing.", field="seed"), ValueError),
    (errors.PluginError("The protocol 'x' cannot be loaded.", package="y", plugin="x"), RuntimeError),
    (errors.ClusterError("The Dask cluster has no worker."), RuntimeError),
    (errors.StudyStoreError("The folder 'study' holds another study."), RuntimeError),
    (errors.WorkbenchError("The study runs."), RuntimeError),
    (errors.OutsideDomainError("age", what="a missing value", hint="declare nulls='other'"), ValueError),
    (errors.UnreadableFileError("people.csv is empty."), ValueError),
    (errors.UnwritableFileError("people.csv was not written."), OSError),
    (errors.LimitExceededError("people.csv is too large.", limit="bytes"), ValueError),
    (
        errors.RuleError("The rule cannot be read at column 1.", column=1, expected="a name"),
        ValueError,
    ),
    (errors.EngineError("Spark could not count the column 'age'.", engine="Spark"), RuntimeError),
    (errors.GuaranteeError("These cannot be added."), ValueError),
    (errors.LedgerError("Ledger 'ledger.db' is damaged."), RuntimeError),
    (
        errors.BudgetExceededError("Too much.", requested=(1, 0), remaining=(0, 0), ledger="ledger.db"),
        ValueError,
    ),
    (errors.RandomSourceError("The source is broken."), RuntimeError),
    (errors.DataSetNotFoundError("adult is not here."), FileNotFoundError),
    (errors.ChecksumError("adult.csv is another file."), ValueError),
    (errors.MissingExtraError("fairlearn", feature="A MetricFrame", extra="fair"), ImportError),
]


@pytest.mark.parametrize(("error", "builtin"), EXAMPLES, ids=lambda each: type(each).__name__)
def test_an_error_is_ours_and_the_builtin_a_caller_expects(error, builtin):
    assert isinstance(error, errors.EvenhandError)
    assert isinstance(error, builtin)
    assert str(error) == error.args[0]


@pytest.mark.parametrize("error", [error for error, _ in EXAMPLES], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_survives_the_way_back_from_a_worker(error, copied):
    """Otherwise one bad call in a pool of processes kills the pool."""
    twin = copied(error)

    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert vars(twin) == vars(error)


def test_every_error_class_has_an_example_here():
    classes = {
        each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, Exception)
    }
    warnings = {each for each in classes if issubclass(each, Warning)}

    assert classes - warnings - {errors.EvenhandError} == {type(error) for error, _ in EXAMPLES}


def test_a_refused_parameter_reads_in_one_wording():
    error = errors.InvalidParameterError("epsilon", owner="GRR", must_be="a number > 0", got=0, hint="try 1")

    assert str(error) == "The 'epsilon' parameter of GRR must be a number > 0. Got 0 instead. Hint: try 1"
    assert (error.parameter, error.owner) == ("epsilon", "GRR")


class Unspeakable:
    """Its repr fails, as that of a broken or hostile object may."""

    def __repr__(self):
        message = "no repr"
        raise RuntimeError(message)


@pytest.mark.parametrize(
    ("got", "shown"),
    [
        ("adult", "'adult'"),
        ("the keys a, b", "the keys a, b"),
        ([1, "x"], "[1, 'x']"),
        ("x" * 10**7, f"'{'x' * 79}..."),
        ("x " * 10**7, f"{'x ' * 200}..."),
        (list(range(1_000)), f"{str(list(range(1_000)))[:80]}..."),
        (10**5_000, "a value of type int"),
        (Unspeakable(), "a value of type Unspeakable"),
    ],
    ids=["word", "words", "list", "long word", "long words", "long list", "long number", "unspeakable"],
)
def test_what_was_given_is_shown_in_few_characters(got, shown):
    """A refusal must arrive, and be readable, whatever was refused."""
    error = errors.InvalidParameterError("k", owner="GRR", must_be="a number", got=got)

    assert str(error) == f"The 'k' parameter of GRR must be a number. Got {shown} instead."


def test_a_missing_name_lists_what_exists_with_a_guess():
    error = errors.ColumnNotFoundError("Race", ["age", "county", "race"])

    assert str(error) == (
        "Column 'Race' is not in the schema. Hint: did you mean 'race'? There are: age, county, race."
    )


def test_a_missing_name_without_a_close_one_only_lists():
    assert "did you mean" not in str(errors.ColumnNotFoundError("xyz", ["age"]))
    assert str(errors.ColumnNotFoundError("xyz", [])).endswith("There are none.")


def test_a_long_list_of_names_is_cut():
    error = errors.UnknownNameError("Column", "x", [f"c{i}" for i in range(30)])

    assert str(error).endswith("c19 and 10 more.")


def test_a_missing_extra_says_the_exact_command():
    assert str(EXAMPLES[-1][0]).endswith("Hint: pip install 'evenhand[fair]'")
    assert str(errors.MissingExtraError("polars", feature="A polars frame")).endswith(
        "Hint: pip install polars"
    )
