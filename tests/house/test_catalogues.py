"""Sentences stand in files: every one is used, every one that is used exists, and every language has it."""

import ast
import re
import tomllib
from string import Formatter

import pytest

from evenhand.answer.words import _FORMS
from evenhand.report.language import LANGUAGES, flatten
from evenhand.study.page.words import words_in

MOST_WORDS, MOST_NUMBERS = 25, 2
OWNERS = ("report", "study/page", "study/intake", "study/budget", "answer")
MOST_OF_ANSWERS = 250
PARTS = ("tasks", "predictions", "page", "advise")
ONE_NUMBER = {"points", "percent", "change", "count", "number", "epsilon", "of"}
SEVERAL = {"interval", "limits", "range", "moved"}
ENGLISH = {
    "the", "and", "of", "with", "without", "than", "that", "this", "are", "is", "not", "group", "groups",
    "accuracy", "gap", "report", "reports", "setting", "settings", "clearly", "points", "for", "by", "to",
}  # fmt: skip


def folder_of(root, owner):
    folder = {"report": "labels", "answer": "words"}.get(owner, "sentences")
    return root / "src" / "evenhand" / owner / folder


def read(path):
    return flatten(tomllib.loads(path.read_text(encoding="utf-8")))


def slots(template):
    """Return the slots of a template, each with the name of its form."""
    found = (field for field in Formatter().parse(template) if field[1] is not None)
    return {(name, (form or "").partition(" ")[0]) for _, name, form, _ in found}


def pattern_of(node):
    """Return a string of the code as a pattern: what an f-string fills in is a group; else None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = [pattern_of(part) if isinstance(part, ast.Constant) else "(.*)" for part in node.values]
        return "".join(parts)
    return None


class Strings:
    """The strings of some code: whole ones, those with gaps, and the parts of catalogues that it names."""

    def __init__(self, *sources):
        self.whole, self.gaps, self.parts = set(), set(), set()
        for source in sources:
            for node in ast.walk(ast.parse(source)):
                pattern = pattern_of(node)
                if pattern is None:
                    continue
                if isinstance(node, ast.Constant):
                    self.whole |= {node.value, node.value.replace(" ", "_")}
                elif pattern.strip("(.*)"):
                    self.gaps.add(re.compile(pattern))
            self.parts |= set(re.findall(r"""under\(["']([\w.]+)["']\)""", source))

    def name(self, text):
        """Whether a text is one of the strings, or one with its gaps filled by such."""
        if text in self.whole:
            return True
        found = (pattern.fullmatch(text) for pattern in self.gaps)
        filled = (match.groups() for match in found if match and text not in match.groups())
        return any(all(map(self.name, groups)) for groups in filled)

    def say(self, key):
        """Whether the code can say a key."""
        key = re.sub(r"\.(finding|evidence)$", "", key)
        inside = (key.removeprefix(f"{part}.") for part in self.parts if key.startswith(f"{part}."))
        return self.name(key) or any(map(self.name, inside))


def keys_said(source):
    """Yield a pattern for each key that a file says, as far as it stands in the call itself."""
    tree = ast.parse(source)
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        prefixes = dict(_prefixes(function))
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and call.args:
                name = getattr(call.func, "id", None)
                is_say = isinstance(call.func, ast.Attribute) and call.func.attr in {"say", "answer"}
                on = getattr(getattr(call.func, "value", None), "attr", getattr(call.func, "value", None))
                if name in prefixes or (
                    is_say and (on == "sentences" or getattr(on, "id", "") == "sentences")
                ):
                    first = call.args[0]
                    for each in (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,):
                        if pattern_of(each) is not None:
                            yield f"{re.escape(prefixes.get(name, ''))}{pattern_of(each)}"


def _prefixes(function):
    """Yield the names by which a function says sentences, each with the part whose keys it says."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=True) if several else [(target, value)]
            for name, given in pairs:
                if isinstance(given, ast.Attribute) and given.attr == "say":
                    yield name.id, ""
                if isinstance(given, ast.Call) and getattr(given.func, "attr", "") == "under":
                    yield name.id, f"{given.args[0].value}."


@pytest.fixture(scope="module")
def code(root):
    package = root / "src" / "evenhand"
    pages = [path.read_text(encoding="utf-8") for path in package.rglob("*.j2")]
    words = [f"{word!r}" for page in pages for word in re.findall(r"""["']([\w.]+)["']""", page)]
    return Strings(*(path.read_text(encoding="utf-8") for path in package.rglob("*.py")), "\n".join(words))


@pytest.mark.parametrize("owner", OWNERS)
def test_every_sentence_is_used(root, code, owner):
    """A sentence that nothing says is translated for nobody."""
    keys = read(folder_of(root, owner) / "en.toml")

    assert [key for key in keys if not code.say(key)] == []


@pytest.mark.parametrize(
    "folder", ["answer", "study/tasks", "study/predictions", "study/page", "study/advise"]
)
def test_every_sentence_that_is_said_exists(root, folder):
    """A missing one would end a study with a KeyError, after hours."""
    known = set(words_in("en").templates)
    files = (root / "src" / "evenhand" / folder).rglob("*.py")
    said = {each for path in files for each in keys_said(path.read_text(encoding="utf-8"))}

    assert said
    assert {each for each in said if not any(re.fullmatch(each, key) for key in known)} == set()


@pytest.mark.parametrize("language", LANGUAGES[1:])
@pytest.mark.parametrize("owner", OWNERS)
def test_a_translation_is_whole(root, owner, language):
    """The same sentences, and in each the same numbers in the same forms."""
    path = folder_of(root, owner) / f"{language}.toml"
    if not path.exists():
        pytest.skip("this kind speaks English alone")
    english, other = read(path.with_name("en.toml")), read(path)

    assert list(other) == list(english)
    if owner == "report":
        assert {key for key in english if not slots(other[key]) <= slots(english[key])} == set()
    elif owner in (
        "answer",
        "study/page",
    ):  # where a word that agrees with a number need not stand in every language
        said = [{key: {name for name, form in slots(each[key]) if form != "word"} for key in each}
                for each in (other, english)]  # fmt: skip

        assert {key for key in english if said[0][key] != said[1][key]} == set()
    else:
        assert {key: slots(other[key]) for key in other} == {key: slots(english[key]) for key in english}


@pytest.mark.parametrize("owner", OWNERS)
def test_no_english_is_left_in_german(root, owner):
    path = folder_of(root, owner) / "de.toml"
    if not path.exists():
        pytest.skip("this kind speaks English alone")
    texts = {key: re.sub(r"\{[^}]*\}", " ", text).lower() for key, text in read(path).items()}

    assert {key for key, text in texts.items() if ENGLISH & set(re.findall(r"[a-zäöüß]+", text))} == set()


def test_every_form_is_one_that_catalogues_have():
    templates = words_in("en", "evenhand.study.intake", "evenhand.study.budget").templates
    forms = {form for text in templates.values() for _, form in slots(text) if form}

    assert forms <= set(_FORMS)


def test_the_words_of_answers_are_few(root):
    """A page that needs more sentences judges something in its own way."""
    assert len(read(folder_of(root, "answer") / "en.toml")) <= MOST_OF_ANSWERS


def broken(finding):
    """Return what is wrong with the template of a finding, whose slots count as a word each."""
    forms = [form for _, form in slots(finding)]
    numbers = sum(form in ONE_NUMBER for form in forms) + 2 * sum(form in SEVERAL for form in forms)
    words = len(re.sub(r"\{[^}]*\}", "x", finding).split())
    return [f"{words} words"] * (words > MOST_WORDS) + [f"{numbers} numbers"] * (numbers > MOST_NUMBERS)


@pytest.mark.parametrize("owner", OWNERS[1:])
def test_findings_are_short_and_have_two_numbers_at_most(root, owner):
    for path in folder_of(root, owner).glob("*.toml"):
        findings = {key: text for key, text in read(path).items() if key.endswith(".finding")}

        assert {key: broken(text) for key, text in findings.items() if broken(text)} == {}
        assert {key for key, text in findings.items() if not text.endswith(".")} == set()


def test_what_the_tests_above_look_for_is_found():
    """Their twins: a long finding, three numbers, a key that nobody says."""
    assert broken("word " * 26)
    assert broken("{a:points}, {b:percent} and {c:count}.") == ["3 numbers"]
    assert broken("{a:interval} and {c:count}.") == ["3 numbers"]
    assert broken("{a:points} and {b:percent}.") == []

    code = Strings('say("a.b"); f"a.do_{word}"; "one"; f"{x}"', 'say = x.under("table"); say("bold")')
    assert all(map(code.say, ("a.b", "a.b.finding", "a.do_one", "table.bold")))
    assert not any(map(code.say, ("a.c", "a.do_two", "table.bald", "table.do_one")))
    said = keys_said('def f(r):\n  say, x = r.sentences.under("a"), 1\n  say("b" if x else f"c_{x}")')
    assert list(said) == [r"a\.b", r"a\.c_(.*)"]
