"""--matters of every audit, --unwanted and --called of classifiers: applied, or refused in one sentence."""

import pytest

from evenhand.answer.effects import EFFECTS
from evenhand.study import Plan
from evenhand.study.tasks.registry import task_of_kind
from unit.cli.commands.test_audit_options import STUDIES

AMOUNTS = {"release": ("off=10", "hidden=2"), "decide": ("50", "short=2%")}
"""What may matter in a kind that tells other things than rates."""


@pytest.mark.parametrize("kind", STUDIES)
def test_what_matters_can_be_typed_for_every_kind(call, file, fake, kind):
    """If not, a person would be told what does not matter to them."""
    amounts = AMOUNTS.get(kind, ("50", "20"))
    typed = [word for amount in amounts for word in ("--matters", amount)]
    assert call("audit", kind, file, *STUDIES[kind], *typed, "--out", "s").exit_code == 0

    assert fake[0]["plan"].matters == Plan.load("s/plan.toml").matters == amounts


@pytest.mark.parametrize(
    ("kind", "word"),
    [("collect", "short=2%"), ("learn", "off=5"), ("release", "selected=50"), ("release", "50")],
)
def test_what_a_kind_does_not_tell_cannot_matter(call, file, fake, kind, word):
    """If not, it is accepted and ignored, and a person believes that their limit holds."""
    done = call("audit", kind, file, *STUDIES[kind], "--matters", word, "--out", "s")

    assert done.exit_code == 2
    assert task_of_kind(kind).effect_names[0] in done.stderr
    assert not fake


@pytest.mark.parametrize("kind", STUDIES)
def test_what_matters_replaces_what_the_plan_says(call, file, fake, kind):
    """If not, a study that goes on would keep limits that nobody wants any more."""
    first, then = AMOUNTS.get(kind, ("50", "20"))
    assert call("audit", kind, file, *STUDIES[kind], "--matters", first, "--out", "s").exit_code == 0
    assert call("audit", "--plan", "s/plan.toml", "--out", "t", "--matters", then).exit_code == 0
    assert call("audit", "--plan", "s/plan.toml", "--out", "u").exit_code == 0

    assert [each["plan"].matters for each in fake] == [(first,), (then,), (first,)]
    assert len({tuple(cell.id for cell in each["plan"].cells()) for each in fake}) == 1


@pytest.mark.parametrize("kind", ["collect", "learn"])
def test_unwanted_and_called_can_be_typed_for_classifiers(call, file, fake, kind):
    """If not, a flag would be read as a favour."""
    assert call("audit", kind, file, *STUDIES[kind], "--out", "s").exit_code == 0
    typed = ["--unwanted", "--called", "let in"]
    assert call("audit", kind, file, *STUDIES[kind], *typed, "--out", "t").exit_code == 0
    assert call("audit", "--plan", "s/plan.toml", *typed, "--out", "u").exit_code == 0

    plain, new, changed = (each["plan"] for each in fake)
    assert new.task == changed.task != plain.task
    assert (new.task.unwanted, new.task.called) == (True, "let in")
    assert new.task.fixed == plain.task.fixed


@pytest.mark.parametrize("kind", STUDIES)
@pytest.mark.parametrize("word", ["0", "-5", "nan", "", "selected=", "hired=5", "2,5", "5 %%"])
@pytest.mark.parametrize("is_planned", [False, True])
def test_what_cannot_matter_is_refused_in_one_sentence(call, file, fake, kind, word, is_planned):
    """If not, a slip of the hand would run for an hour and then call every change clear."""
    begin = [kind, file, *STUDIES[kind]]
    if is_planned:
        assert call("audit", *begin, "--out", "s").exit_code == 0
        begin = ["--plan", "s/plan.toml"]
    done = call("audit", *begin, f"--matters={word}", "--out", "t")

    assert done.exit_code == 2
    assert "--matters must be" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(fake) == is_planned
    assert not (file.parent / "t").exists()


@pytest.mark.parametrize("kind", STUDIES)
def test_an_unknown_effect_is_refused_with_those_of_the_kind(call, file, fake, kind):
    """If all were listed, a person would choose one that their study never has, and nothing would change."""
    done = call("audit", kind, file, *STUDIES[kind], "--matters", "nope=3", "--out", "t")

    told, own = " ".join(done.stderr.split()), task_of_kind(kind).effect_names
    names = ", ".join(own)
    plain = "" if kind == "release" else " such as 50, or"
    assert f"--matters must be an amount above 0{plain} with one of {names}: {own[0]}=50." in told
    assert "Got 'nope=3' instead." in told
    assert not [name for name in EFFECTS if name not in own and f" {name}" in told]


@pytest.mark.parametrize("kind", ["collect", "learn"])
@pytest.mark.parametrize("word", ["", " ", "<b>hired</b>", "much too many words"])
@pytest.mark.parametrize("is_planned", [False, True])
def test_what_is_no_plain_word_is_refused_in_one_sentence(call, file, fake, kind, word, is_planned):
    """If not, markup or nothing would stand where people read how they were treated."""
    begin = [kind, file, *STUDIES[kind]]
    if is_planned:
        assert call("audit", *begin, "--out", "s").exit_code == 0
        begin = ["--plan", "s/plan.toml"]
    done = call("audit", *begin, "--called", word, "--out", "t")

    assert done.exit_code == 2
    assert "--called" in done.stderr
    assert len(fake) == is_planned
    assert not (file.parent / "t").exists()


@pytest.mark.parametrize("kind", ["release", "decide"])
@pytest.mark.parametrize("typed", [["--unwanted"], ["--called", "hired"]])
def test_kinds_without_a_classifier_have_no_such_options(call, file, fake, kind, typed):
    """If not, an option would be taken and passed over."""
    assert call("audit", kind, file, *STUDIES[kind], *typed).exit_code == 2
    assert not fake
