"""Colours, shapes and fonts of every page and chart, in one place.

Hues are few: one for clear harm (``g1``), one for no harm that matters (``g3``), and one for each named
curve, which has a shape of its own as well, so that nothing is said by colour alone. All else is ink and
grey, privacy is one violet ramp from strong to weak, and the brand colour is for links and the chosen row,
never for a mark. Charts name colours by CSS variable (:func:`colour`), so that one picture serves light and
dark.
"""

from __future__ import annotations

SANS = (
    '-apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, '
    '"Helvetica Neue", Arial, "Liberation Sans", sans-serif'
)
MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace'

LIGHT = {
    "paper": "#FBFAF7", "card": "#FFFFFF", "sunk": "#F3F1EB",
    "ink": "#1B1E23", "ink2": "#4A5059", "ink3": "#626973",
    "line": "#DEDBD2", "grid": "#E8E6DF", "ghost": "#A9ADB3", "grey": "#868C95",
    "brand": "#3B4CC0", "brand-soft": "#ECEEFB",
    "g1": "#D55E00", "g2": "#0072B2", "g3": "#00805D", "g4": "#A8518A", "g5": "#5A3C00",
    "g1-text": "#A84A00",
    "p1": "#2E1F5E", "p2": "#6C5BA8", "p3": "#A79BD0", "p4": "#DCD6EE", "p-line": "#6C5BA8",
    "ok": "#0A5A43", "ok-soft": "#E4F3EC", "warn": "#644900", "warn-soft": "#FFF3D3",
    "bad": "#96211A", "bad-soft": "#FCE7E2",
}  # fmt: skip
"""Tokens by light; every chart and page takes its colours from here."""

DARK = {
    "paper": "#121419", "card": "#1A1D23", "sunk": "#22262D",
    "ink": "#ECEDEF", "ink2": "#C2C7CE", "ink3": "#9DA4AE",
    "line": "#363B44", "grid": "#2B3038", "ghost": "#6B727C", "grey": "#858C96",
    "brand": "#A5B4FF", "brand-soft": "#252A45",
    "g1": "#FF9450", "g2": "#56B4E9", "g3": "#2CC29A", "g4": "#E39CC8", "g5": "#F0E442",
    "g1-text": "#FF9450",
    "p1": "#F0ECFF", "p2": "#B9ABEB", "p3": "#8171BD", "p4": "#4D4379", "p-line": "#B9ABEB",
    "ok": "#8FE3C6", "ok-soft": "#14312A", "warn": "#F5D98B", "warn-soft": "#3A2F12",
    "bad": "#FFB8A8", "bad-soft": "#41211D",
}  # fmt: skip
"""The same tokens by dark; the ramp of privacy turns round, so it is "stronger", not "darker"."""

SHAPES = {
    "circle": "M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z",
    "square": "M-4.5 -4.5H4.5V4.5H-4.5Z",
    "triangle-up": "M0 -5.4L5.4 4.2H-5.4Z",
    "diamond": "M0 -6L6 0L0 6L-6 0Z",
    "triangle-down": "M0 5.4L5.4 -4.2H-5.4Z",
    "triangle-right": "M5.4 0L-4.2 5.4V-5.4Z",
    "cross": "M-5 -1.7H-1.7V-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5Z",
}
"""Outlines of the shapes around zero, for keys."""


def colour(token: str) -> str:
    """Return a token as a colour that follows the theme.

    >>> colour("ink")
    'var(--ink)'
    """
    return f"var(--{token})"


def css_tokens(tokens: dict[str, str]) -> str:
    """Return tokens as declarations of CSS variables."""
    return "".join(f"--{name}:{value};" for name, value in tokens.items())
