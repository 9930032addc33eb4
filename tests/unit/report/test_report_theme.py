"""Colours can be told apart and read, in light and in dark."""

import re

import pytest

from evenhand.report.theme import DARK, LIGHT, css_tokens

TEXTS = [
    *((shade, ground) for shade in ("ink", "ink2", "ink3", "brand") for ground in ("paper", "card", "sunk")),
    *((shade, "brand-soft") for shade in ("ink", "ink3", "brand")),
    ("g1-text", "card"),
    *((tone, f"{tone}-soft") for tone in ("ok", "warn", "bad")),
]
MARKS = ["g1", "g2", "g3", "g4", "g5", "ink", "ink2", "ink3", "grey", "p1", "p2", "p-line", "brand"]


def brightness(colour):
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_of_black_and_white_is_twenty_one():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") < 4.5  # a grey that is known to fail


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_all_text_can_be_read(tokens):
    """People with weak sight read a report too: 4.5 is the line of WCAG AA."""
    weak = {pair: contrast(tokens[pair[0]], tokens[pair[1]]) for pair in TEXTS}

    assert {pair: value for pair, value in weak.items() if value < 4.5} == {}


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_all_marks_can_be_seen(tokens):
    """The two weak tones of the ramp have an outline, which is on the list instead of them."""
    weak = {mark: contrast(tokens[mark], tokens["card"]) for mark in MARKS}

    assert {mark: value for mark, value in weak.items() if value < 3} == {}


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_the_ramp_of_privacy_goes_from_strong_to_weak(tokens):
    tones = [contrast(tokens[f"p{place}"], tokens["card"]) for place in range(1, 5)]

    assert tones == sorted(tones, reverse=True)


def test_both_themes_have_the_same_tokens():
    assert set(LIGHT) == set(DARK)
    assert all(re.fullmatch("#[0-9A-F]{6}", value) for value in (*LIGHT.values(), *DARK.values()))


def test_tokens_become_declarations():
    assert css_tokens({"ink": "#000000", "card": "#FFFFFF"}) == "--ink:#000000;--card:#FFFFFF;"
