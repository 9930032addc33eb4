"""Pictures are rebuilt from what is on the list, and from nothing else."""

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.report.svg import rebuilt, rebuilt_each


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        "<foreignObject><b>x</b></foreignObject>",
        '<image href="https://example.org/x.png"/>',
        '<use href="#other"/>',
        "<style>*{background:url(https://example.org)}</style>",
        '<a href="javascript:alert(1)"><rect width="4" height="4"/></a>',
        '<animate attributeName="href"/>',
        '<set attributeName="onload" to="x"/>',
        '<iframe src="x"/>',
        '<g display="none"><rect width="4"/></g>',
        "<!-- a comment -->",
        "<?php x ?>",
        "<g><g/></g>",
        '<path d="M0 0L1 1"/>',
        '<path fill="red"/>',
        "words outside a text",
    ],
)
def test_what_is_not_on_the_list_is_dropped(inside):
    assert rebuilt(f'<svg width="5">{inside}<rect width="2"/></svg>', prefix="a") == (
        '<svg width="5"><rect width="2"/></svg>'
    )


@pytest.mark.parametrize(
    "attribute",
    [
        'onclick="x()"',
        'style="fill:url(https://example.org)"',
        'class="x"',
        'href="#x"',
        'id="x"',
        'fill="url(https://example.org/x#y)"',
        'fill="var(--x);background:red"',
        'fill="expression(x)"',
        'transform="matrix(1,0,0,1,0,0)"',
        'clip-path="url(https://example.org#x)"',
        'width="100%"',
        'stroke-width="2"',
        'opacity="1"',
        'data-x="y"',
        'xml:base="https://example.org"',
        'mask="url(#x)"',
    ],
)
def test_attributes_and_values_off_the_list_are_dropped(attribute):
    assert rebuilt(f"<svg><rect {attribute}/></svg>", prefix="a") == "<svg><rect/></svg>"


def test_what_a_mark_says_becomes_a_tooltip():
    """Without a script, a title is the only tooltip there is."""
    mark = '<path role="graphics-symbol" aria-label="a &lt;b&gt; &amp; c" d="M0 0" fill="#000"/>'

    assert rebuilt(f"<svg>{mark}</svg>", prefix="a") == (
        '<svg><path d="M0 0" fill="#000"><title>a &lt;b&gt; &amp; c</title></path></svg>'
    )


def test_labels_of_axes_are_not_tooltips():
    frame = '<g role="graphics-symbol" aria-label="an axis" transform="translate(1,2)"><rect/></g>'

    assert "axis" not in rebuilt(f"<svg>{frame}</svg>", prefix="a")


def test_identifiers_get_the_prefix_and_keep_their_bonds():
    """Two pictures with a clip path of one name would cut each other."""
    one = (
        '<svg><defs><clipPath id="clip7"><rect/></clipPath></defs>'
        '<g clip-path="url(#clip7)"><rect/></g></svg>'
    )

    first, second = rebuilt_each(one + one.replace("clip7", "clip9"), prefix="f1")

    assert 'id="f1-1"' in first
    assert 'clip-path="url(#f1-1)"' in first
    assert 'id="f1-2"' in second


def test_rebuilding_again_changes_nothing():
    text = rebuilt(
        '<svg viewBox="0 0 4 4"><g transform="translate(1.23456,2)"><text stroke="var(--card)" fill="#fff">'
        'a&amp;b</text><path d="M0.123456,1e-9L2 2" fill="none" stroke="#000"/></g></svg>',
        prefix="a",
    )

    assert "1.23,2" in text
    assert 'paint-order="stroke"' in text
    assert rebuilt(text, prefix="a") == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "words",
        "<b>x</b>",
        "<svg>",
        "<svg></svg></g><g>",
        '<svg a="<"/>',
        "<svg>\x00</svg>",
        "<svg>\ud800</svg>",
        "<svg>&nbsp;</svg>",
        '<!DOCTYPE x [<!ENTITY a "b">]><svg>&a;</svg>',
    ],
)
def test_what_is_not_a_picture_is_refused(text):
    with pytest.raises(InvalidParameterError, match="must be SVG made by a chart of evenhand"):
        rebuilt(text, prefix="a")
