"""The question in words: its command, its time and its odds, and what is wrong where it is wrong."""

import shlex
from dataclasses import replace
from fractions import Fraction

import pytest

from evenhand.app.flow import question as asking
from evenhand.app.flow.data import choose_dataset
from evenhand.app.flow.question import ask, make_plan, write_plan
from evenhand.app.flow.timing import Timing
from evenhand.app.state.record import DataChoice, StudyRecord
from evenhand.errors import InvalidParameterError, PlanError
from evenhand.study.run.duration import Duration

PEOPLE = b"sex;region;hired\n" + b"".join(
    f"{'fm'[row % 2]};{'nsw'[row % 3]};{'yes' if row % 5 < 2 else 'no'}\n".encode() for row in range(200)
)
ROLES = {
    "target": "hired", "positive": "yes", "protected": ["sex"], "privileged": "m", "sensitive": ["sex"],
}  # fmt: skip
ONE = {"protocols": ["grr"], "epsilons": "1"}


def plain_record(**changes):
    return StudyRecord(id="0" * 16, name="", created=0.0, **changes)


def test_without_data_the_questions_are_there_and_say_that_it_is_missing(tmp_path):
    question = ask(tmp_path, plain_record())

    assert question.fields
    assert (question.field, question.plan_toml) == ("data", "")
    assert "chosen first" in question.error


def test_a_file_without_rows_is_refused_as_data(study_of):
    made = study_of(b"sex,hired\n", "people.csv", roles=ROLES)

    with pytest.raises(PlanError, match="no rows") as caught:
        make_plan(made.folder, made.record)
    assert caught.value.field == "data"


def test_the_command_says_how_the_file_is_written_and_what_differs_from_what_is_usual(study_of):
    """Another reading, another seed or other repeats are another study."""
    answers = {**ONE, "repeats": "3", "seed": "7", "rows": "150"}
    made = study_of(PEOPLE, "-people.csv", roles=ROLES, form={"collect": answers})
    made.change(data=replace(made.record.data, file_format={"delimiter": ";"}))
    question = ask(made.folder, made.record)
    words = shlex.split(question.command)

    assert question.error == ""
    assert words[:4] == ["evenhand", "audit", "collect", "./-people.csv"]
    for option, value in (
        ("--delimiter", "semicolon"),
        ("--repeats", "3"),
        ("--seed", "7"),
        ("--rows", "150"),
    ):
        assert words[words.index(option) + 1] == value
    assert words[words.index("--schema") + 1] == "schema.toml"
    usual = ask(made.folder, made.change(form={"collect": ONE}).record)
    assert not {"--repeats", "--seed", "--rows"} & set(shlex.split(usual.command))


def test_a_data_set_as_it_is_needs_neither_a_schema_nor_a_plan_file(tmp_path):
    record = plain_record(data=DataChoice(source="dataset", label="causal", dataset="causal"))
    command = ask(tmp_path, record.with_(form={"collect": ONE})).command

    assert command.startswith("evenhand audit collect causal ")
    assert "--schema" not in command
    write_plan(tmp_path, record.with_(form={"collect": ONE}))
    assert (tmp_path / "plan.toml").is_file()


@pytest.mark.parametrize(
    ("timed", "words"),
    [
        (Timing(duration=Duration(200, 40, (0.5, 0.0), 1, timed=200)), "from timing two runs"),
        (
            Timing(duration=Duration(90_000, 40, (0.5, 0.0), 1, timed=10_000)),
            "timing two runs of 10,000 rows",
        ),
        (Timing(state="running"), "by a rule of thumb"),
    ],
)
def test_the_time_says_how_it_was_found_out(study_of, monkeypatch, timed, words):
    """People plan their day by it."""
    monkeypatch.setattr(asking, "time_runs", lambda *_, **__: timed)
    made = study_of(PEOPLE, "people.csv", roles=ROLES, form={"collect": ONE})
    question = ask(made.folder, made.record, time=True)

    assert question.error == ""
    assert words in question.minutes_words
    low, high = question.seconds
    assert 0 < low <= high
    if timed.duration is not None:
        assert low <= timed.duration.seconds() <= high


def test_fairer_ways_are_tried_unless_the_box_is_unticked(study_of):
    """The command line tries them by default: the same question must be the same study here."""
    made = study_of(PEOPLE, "people.csv", roles=ROLES, form={"collect": ONE})
    question, plan = ask(made.folder, made.record), make_plan(made.folder, made.record).plan
    made.change(form={"collect": {**ONE, "remedies": False}})
    without, bare = ask(made.folder, made.record), make_plan(made.folder, made.record).plan

    assert question.values["remedies"] is True
    assert plan.confirm
    assert plan.remedies
    assert "Remedies: " in question.runs
    assert "what helps most is run again on fresh draws" in question.runs
    assert "--no-remedies" not in question.command
    assert (bare.confirm, bare.remedies) == (False, ())
    assert "Remedies" not in without.runs
    assert without.command.split()[-1] == "--no-remedies"


def test_counts_of_places_are_not_timed_and_have_no_repeats(study):
    made = study("decide")
    question = ask(made.folder, made.record, time=True)

    assert "rule of thumb" in question.minutes_words
    assert "repeats" not in {field.name for field in question.fields}


@pytest.mark.parametrize(
    ("epsilon", "words", "tone"),
    [
        ("1/100", "a factor of 1.0", "ok"),
        ("1", "a factor of 2.7", "ok"),
        ("5", "a factor of 148", "warn"),
        ("14", "a factor of more than a million: hardly any protection", "bad"),
        ("2000", "a factor of more than a million: hardly any protection", "bad"),
    ],
)
def test_an_epsilon_is_said_as_odds_and_stays_on_the_scale(epsilon, words, tone):
    odds = asking._odds(Fraction(epsilon))

    assert odds.words == f"changes odds by at most {words}"
    assert odds.tone == tone
    assert 0 <= odds.place <= 1


def test_a_study_without_epsilon_promises_nothing(study_of):
    """A sentence about epsilon beside a mechanism that has none would be a false promise."""
    release = {"columns": ["sex", "hired"], "mechanisms": ["suppression"], "threshold": "5"}
    made = study_of(PEOPLE, "people.csv", kind="release", roles=ROLES, form={"release": release})
    question = ask(made.folder, made.record)

    assert question.error == ""
    assert question.promise == ""


def test_columns_that_cannot_be_used_are_refused_with_their_page(study_of):
    made = study_of(PEOPLE, "people.csv", roles={**ROLES, "drop": ["sex"]}, form={"collect": ONE})
    question = ask(made.folder, made.record)

    assert question.field.startswith("roles.")
    assert "was left out by you" in question.error


@pytest.mark.parametrize("rows", ["many", "1.5"])
def test_a_number_of_rows_that_is_none_is_refused_at_its_question(study_of, rows):
    made = study_of(PEOPLE, "people.csv", roles=ROLES, form={"collect": {**ONE, "rows": rows}})

    assert ask(made.folder, made.record).field == "rows"


def test_a_data_set_that_is_unknown_is_refused():
    with pytest.raises(Exception, match="one of evenhand"):
        choose_dataset("nothing")


def test_an_answer_beyond_every_number_is_refused():
    with pytest.raises(InvalidParameterError, match="a whole number"):
        asking._design(asking.form_of_kind("collect"), {"seed": "1e300"})
