"""An answer in the columns of a terminal."""

import math
import random
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.answer.case import Command, Warned
from evenhand.answer.terminal import draw_lines, render_terminal
from evenhand.answer.view import RemedyLine, Sentence
from evenhand.report.marks import LackCurve, Lacking, Stage
from unit.answer._terminal_views import HIRED, NAN, line, mark, panel, view

WIDE = "漢字語테스트女性"
VALUES = [NAN, 0.0, 1e-9, 1_234_567_890.0, -3.5, 12.0, 1e5, 173.0, 0.004, -1.0, 98_765.4]
SCALES = ["of 1,000", "people", "dollars", "percent"]
NUMBERS = ["52", "18,240", "−121", "$1,767", "under 1", "1,234,567,890", ""]


def slow_width(text):
    """Return the columns of a text, by a list of the wide letters used here."""
    return sum(2 if letter in WIDE else 1 for letter in text)


def few_mark(value, shown="", change=""):
    """Return the mark of a group that cannot be judged."""
    return Stage(
        value, NAN, NAN, is_harm=False, words="too few to judge", shown=shown, change=change, limits=""
    )


def read(text, start, after=1):
    """Return lines from the one that starts with some text on."""
    lines = text.splitlines()
    place = next(place for place, each in enumerate(lines) if each.strip().startswith(start))
    return lines[place : place + after]


def any_name(draw):
    """Return a name of 1 to 70 letters, some of them wide."""
    return "".join(draw.choices("ab yz,=-ÄéΩ" + WIDE, k=draw.choice([1, 5, 20, 70]))).strip() or "a"


def any_mark(draw):
    """Return a mark with any numbers, defined or not."""
    value, low, high = draw.choices(VALUES, k=3)
    texts = any_name(draw), draw.choice(NUMBERS), draw.choice(NUMBERS)
    return Stage(value, min(low, high), max(low, high), draw.random() < 0.5, *texts, "")


def any_panel(draw, groups, *, has_remedy):
    """Return a panel of so many groups."""
    rows = [
        line(
            any_name(draw), draw.choice(VALUES), any_mark(draw), any_mark(draw) if has_remedy else None,
            state=draw.choice(["harm", "calm", "few"]), note=any_name(draw),
        )
        for _ in range(groups)
    ]  # fmt: skip
    return panel(
        *rows, title=any_name(draw), unit=any_name(draw), scale=draw.choice(SCALES),
        names=(any_name(draw), any_name(draw), any_name(draw)), rest=draw.choice(["", any_name(draw)]),
    )  # fmt: skip


@given(
    seed=st.integers(0, 2**32),
    groups=st.integers(1, 40),
    has_remedy=st.booleans(),
    width=st.integers(60, 120),
    encoding=st.sampled_from(["utf-8", "ascii", "latin-1", "cp1252", "no such encoding"]),
    language=st.sampled_from(["en", "de"]),
)
def test_no_line_is_wider_than_the_terminal(seed, groups, has_remedy, width, encoding, language):
    """If one were, the terminal would break it, and the picture could not be read."""
    draw = random.Random(seed)
    panels = [any_panel(draw, groups, has_remedy=has_remedy) for _ in range(2)]
    epsilons = sorted({10 ** draw.uniform(-2, 2) for _ in range(draw.randint(1, 30))})
    tried, texts = len(epsilons), [any_name(draw) for _ in range(9)]
    question, verdict, who, much, todo, remedy, price, head, name = texts
    made = view(
        language=language, panels=tuple(panels), question=question, verdict=verdict, who=Sentence(who),
        how_much=Sentence(much), what_to_do=Sentence(todo), warnings=(Warned(head, who),), caption=much,
        remedies=(RemedyLine(remedy, "recommended", price, "12", "", price),) * 2, remedy_heading=name,
        epsilon_heading=head, remedy_caption=price, commands=(Command(name, "", "evenhand audit"),) * 2,
        curve=LackCurve(
            name, who,
            (Lacking(remedy, "page", tuple(epsilons), (1e6,) * tried, NAN, NAN, ("1,000,000",) * tried),),
            epsilons[0], 10.0, much, "",
        ),
    )  # fmt: skip

    lines = render_terminal(made, width=width, encoding=encoding).splitlines()
    assert max(map(slow_width, lines)) <= width


def test_a_picture_shows_each_value_and_each_change_once():
    """If a number stood twice, a reader would look for the difference between the two."""
    shown = "\n".join(read(render_terminal(view()), "Women randomised", after=4))

    for number in ("52", "139", "311", "306", "−121", "−34", "−7", "−12"):
        assert shown.split().count(number) == 1


def test_marks_stand_in_the_order_of_their_values_and_clear_harm_has_its_own_line():
    """If not, the picture would tell another story than the numbers."""
    women, optimal, men, _ = read(render_terminal(view()), "Women randomised", after=4)

    assert women.index("●") < women.index("│")
    assert women.index("●") < optimal.index("◆") < optimal.index("│") == women.index("│") < men.index("│")
    assert ("━" in women, "━" in optimal, "━" in men) == (True, True, False)


def test_a_group_that_cannot_be_judged_has_words_and_no_number():
    """If its value were drawn, a handful of people would be read as a finding."""
    few = line("Native", 173, few_mark(7, "7", "−166"), state="few")
    text = render_terminal(view(panels=(panel(*HIRED.lines, few),)))

    (row,) = read(text, "Native")
    assert row.split() == ["Native", "-", "too", "few", "to", "judge"]


@pytest.mark.parametrize("scale", ["of 1,000", "people"])
def test_a_picture_of_groups_that_are_all_too_few_is_drawn(scale):
    """If not, a page that says that nobody can be judged would end in an error."""
    few = line("Native", NAN, few_mark(NAN), state="few")

    assert "too few to judge" in render_terminal(view(panels=(panel(few, scale=scale),)))


def test_of_many_groups_twelve_are_drawn_and_the_others_counted():
    """If all were, the verdict would scroll out of sight."""
    groups = [line(f"Group {place}", 100, mark(90 - place, 100)) for place in range(20)]
    text = render_terminal(view(panels=(panel(*groups, rest="The others: at most 3."),)))

    assert ("Group 11 " in text, "Group 12 " in text) == (True, False)
    assert "8 more groups are in the report." in text
    assert "The others: at most 3." in text


def test_small_changes_are_drawn_as_changes():
    """If not, a loss of 57 dollars of 1,824 would be one letter wide."""
    paid = mark(1767, 1824, is_harm=True, shown="$1,767", change="−$57")
    money = panel(
        line("Pine Hollow", 1824, paid), title="Paid", unit="", scale="dollars", names=("due", "paid", "")
    )
    text = render_terminal(view(panels=(money,)))

    assert "Paid, change" in text
    assert read(text, "Pine")[0].count("━") > 20


def test_counts_of_very_different_groups_stand_on_a_log_scale():
    """If not, nobody would see that 2 people became 9 beside 18,240 others."""
    rows = [line("Asian", 2, mark(9.1, 2, is_harm=True)), line("White", 18_240, mark(18_240, 18_240))]
    text = render_terminal(view(panels=(panel(*rows, title="People", unit="", scale="people"),)))

    (asian,) = read(text, "Asian")
    assert "People, log scale" in text
    assert asian.index("●") - asian.index("│") > 3


def test_counts_below_one_are_drawn():
    """If a log scale had no tick, a table of chances below one person would end in an error."""
    rows = [line("a", 0.004, mark(1e-9, 0.004))]

    assert "log scale" not in render_terminal(view(panels=(panel(*rows, scale="people"),)))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_the_marks_gets_plain_ones(encoding):
    """If not, a Windows console would end with an error in place of an answer."""
    text = render_terminal(view(), encoding=encoding)

    assert text.isascii()
    women = read(text, "Women randomised")[0]
    assert women.index("o==") < women.index("|")


def test_only_the_recommended_remedy_is_marked():
    """If a trade-off were marked too, it would read as advice."""
    marked = [each for each in render_terminal(view()).splitlines() if each.startswith("> ")]

    assert [each.split()[1] for each in marked] == ["Optimal", "Optimal"]


def test_a_command_in_several_lines_is_the_same_command():
    """If not, what is copied would do something else."""
    line_ = view().commands[0].line + " --label 'a  b' --note \"it's\""
    made = view(commands=(Command("Apply", "", line_),), warnings=())
    text = render_terminal(made)

    copied = text[text.index("evenhand privatize") :]
    assert shlex.split(copied.replace("\\\n", "")) == shlex.split(line_)


def test_a_line_that_no_shell_takes_says_what_takes_it():
    """If not, a person types Python into a shell."""
    python = Command("Apply it to all rows", "Python, evenhand.learn", 'DPLogisticRegression(epsilon="1")')
    lines = render_terminal(view(commands=(python,), warnings=())).splitlines()

    assert lines[-2].endswith("Apply it to all rows, Python, evenhand.learn:")
    assert lines[-1].strip() == python.line


def test_parts_that_a_page_has_not_are_left_out():
    """If not, a check without remedies would show an empty table."""
    made = view(
        panels=(), remedies=(), curve=None, epsilon_heading="", remedy_heading="", commands=(), warnings=()
    )

    lines = render_terminal(made).splitlines()
    assert len(lines) == 9
    assert [each.is_bold for each in draw_lines(made)].count(True) == 1


def test_not_a_number_is_neither_drawn_nor_printed():
    """If it were, a folder that does not store a value would say 'nan'."""
    nothing = few_mark(NAN)
    text = render_terminal(view(panels=(panel(line("Women", math.nan, nothing), *HIRED.lines[1:]),)))

    assert "nan" not in text.lower()


def test_next_to_nothing_is_no_long_bar():
    """A chance of 1 in 10,000 releases was drawn from side to side, as if all were lost."""
    little = line("Oak", 0, mark(0.004, 0, shown="under 1"))
    refused = {"effect": "refused", "unit": "of 100 releases", "scale": "of 100 releases", "matters": 1.0}
    [drawn] = [
        each
        for each in render_terminal(view(panels=(panel(little, **refused),))).splitlines()
        if "Oak" in each
    ]

    assert "\u2500\u2500\u2500" not in drawn
    far = line("Oak", 0, mark(40, 0))
    assert "\u2500\u2500\u2500" in render_terminal(view(panels=(panel(far, **refused),)))


def test_stages_whose_names_do_not_fit_are_told_by_the_shapes_of_the_legend():
    """If they were cut, rows would be called "rando…ε = 1" and "answe…ether"."""
    names = ("without protection", "randomised, ε = 1", "answers together")
    row = line("A = 0", 173, mark(52, 173), mark(139, 173))
    text = render_terminal(view(panels=(panel(row, names=names),)))

    assert "A = 0 ● 52" in " ".join(text.split())
    assert "◆ 139" in " ".join(text.split())
    assert "…" not in text
