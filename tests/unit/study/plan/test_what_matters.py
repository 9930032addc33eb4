"""Fields of plans by which results are read: what matters, what is unwanted, what a decision is called."""

import pytest

from evenhand.answer.effects import EFFECTS
from evenhand.errors import InvalidParameterError, PlanError
from evenhand.study import CollectTask, DecideTask, LearnTask, Plan, ReleaseTask
from evenhand.study.results.results import Results
from evenhand.study.run.whole import run
from unit.study import _decide_studies as decide
from unit.study import _learn_studies as learn
from unit.study import _page_studies as page
from unit.study import _release_studies as release

READ = {"unwanted": True, "called": "let in"}
TASKS = [CollectTask(), LearnTask(), ReleaseTask(["sex", "job"]), DecideTask(rule="poor >= 20")]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.kind)
def test_what_matters_is_a_field_of_every_plan_and_of_its_file(task):
    """If not, a plan file would read its results by other limits than the study did."""
    first, second, *_ = task.effect_names
    amounts = (f"{first}=50", f"{second}=2%")
    plan = Plan(task=task, matters=list(amounts))

    assert plan.matters == amounts
    assert Plan.from_toml(plan.to_toml()) == plan
    assert Plan(matters=50).matters == Plan(matters="50").matters == ("50",)
    assert "matters" not in Plan(task=task).to_toml()


@pytest.mark.parametrize(
    "given", [0, -1, True, None, float("nan"), "", "nan", "inf", "0%", "5%%", "huge=1", [[1]], b"5", {"a": 1}]
)
def test_what_cannot_matter_is_refused_by_its_field(given):
    """If not, every change would be clear, or none."""
    with pytest.raises(InvalidParameterError, match="'matters' parameter of Plan"):
        Plan(matters=given)


def test_a_plan_file_that_says_what_cannot_matter_names_the_field():
    """If not, a person would look for the fault in the whole file."""
    with pytest.raises(PlanError, match="The plan field 'matters'"):
        Plan.from_toml('format = 1\nmatters = ["-5"]\n')


@pytest.mark.parametrize("kind", [CollectTask, LearnTask])
def test_unwanted_and_called_are_fields_of_classifiers(kind):
    """If not, a flag would be read as a favour."""
    task = kind(**READ)

    assert (task.unwanted, task.called) == (True, "let in")
    assert Plan.from_toml(Plan(task=task).to_toml()).task == task
    assert not {*READ} & {*kind().to_toml()}
    assert (kind().unwanted, kind().called) == (False, "")


@pytest.mark.parametrize("kind", [CollectTask, LearnTask])
@pytest.mark.parametrize(
    "called",
    [
        " ",
        "four words are many",
        "<b>hired</b>",
        "**hired**",
        "hired.",
        "a\nb",
        3,
        None,
        "h" * 41,
        "{x}",
        " a",
    ],
)
def test_what_is_no_plain_word_is_refused(kind, called):
    """If not, markup of a plan would reach a page."""
    with pytest.raises(InvalidParameterError, match="'called' parameter"):
        kind(called=called)


@pytest.mark.parametrize(
    "called", ["hired", "eingestellt", "let in", "fast-tracked", "не допущен", "won't do it"]
)
def test_plain_words_of_any_language_are_taken(called):
    """If not, a German page could not say how people are selected."""
    assert LearnTask(called=called).called == called


@pytest.mark.parametrize("kind", [CollectTask, LearnTask])
def test_unwanted_is_true_or_false(kind):
    """If not, the text "no" would count as yes."""
    with pytest.raises(InvalidParameterError, match="'unwanted' parameter"):
        kind(unwanted="no")


@pytest.mark.parametrize("kind", [CollectTask, LearnTask])
def test_how_results_are_read_is_no_part_of_what_is_run(kind):
    """If not, another reading would run a study again, or draw other noise."""
    plan, read = Plan(task=kind()), Plan(task=kind(**READ), matters="50")

    assert [cell.id for cell in read.cells()] == [cell.id for cell in plan.cells()]
    assert repr(read.task.fixed) == repr(plan.task.fixed)
    assert read.seed == plan.seed


def _again(results, **changes):
    """Return the outcomes of a study under a plan that reads them in another way."""
    return Results(results.plan.with_(**changes), results.facts, results.outcomes)


def _collected():
    return page.made(page.against(page.BEFORE, page.two(0.2, 0.6)))


def _decided():
    return decide.study(decide.rule_task(groups=["young"], epsilons=[1]))


@pytest.mark.parametrize("study", [_collected, learn.small_study, release.study, _decided])
def test_what_matters_reaches_the_table_of_every_kind(study):
    """If not, an option would be taken and passed over."""
    results = study()
    first, second, *_ = results.plan.task.effect_names
    again = _again(results, matters=[f"{first}=77", f"{second}=3%"])

    assert not results.plan.task.effects(results).matters
    assert again.plan.task.effects(again).matters[first] == (77.0, 0.0)
    assert again.plan.task.effects(again).matters[second] == (0.0, 0.03)


@pytest.mark.parametrize("study", [_collected, learn.small_study, release.study, _decided, decide.money])
def test_a_kind_names_every_effect_of_its_table_that_may_hurt(study):
    """If it named fewer, a message would leave out what such a study does have."""
    results = study()
    table = results.plan.task.effects(results)

    assert {each for each in table.effects if EFFECTS[each].harm} <= {*results.plan.task.effect_names}


def test_unwanted_reaches_the_table_of_classifiers():
    """If not, whoever is flagged more often would be said to gain."""
    for results in (_collected(), learn.small_study()):
        again = _again(results, task=results.plan.task.with_(unwanted=True))

        assert results.plan.task.effects(results).harm_of("selected") == "less"
        assert again.plan.task.effects(again).harm_of("selected") == "more"


def test_pages_of_classifiers_say_how_a_prediction_was_read():
    """If not, nobody would notice a flag that was read as a favour."""
    results = _collected()
    again = _again(results, task=results.plan.task.with_(unwanted=True))
    read = [next(line for line in each.view().method if "Read as" in line) for each in (results, again)]

    assert read[0].endswith(" is good for people.")
    assert read[1].endswith(" hurts people, as a flag does.")
    assert any(line.startswith("Gelesen als: ") for line in again.view(language="de").method)


def test_a_study_goes_on_with_other_limits_and_keeps_its_numbers(tmp_path):
    """If not, another question about finished runs would cost the runs again."""
    parts = {"methods": ("dp",), "repeats": 2}
    first = run(learn.small_plan(**parts), out=tmp_path, workers=1, progress=False)
    plan = learn.small_plan(**parts, unwanted=True, called="flagged").with_(matters="400")
    again = run(plan, out=tmp_path, workers=1, progress=False, resume=True)

    assert again.digest == first.digest
    assert [cell.seconds for cell in again.outcomes] == [cell.seconds for cell in first.outcomes]
    assert Results.load(tmp_path).plan.matters == ("400",)
    assert Results.load(tmp_path).plan.task.called == "flagged"
    assert set(again.effects(backend="pandas")["status"]) != set(first.effects(backend="pandas")["status"])
