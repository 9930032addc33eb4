"""Write formulas as MathML, which browsers draw themselves: no script and nothing from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(convert(node.astext()))
    raise SkipNode


def _display(self: Any, node: nodes.math_block) -> None:
    parts = [part for part in node.astext().split("\n\n") if part.strip()]
    lines = "".join(convert(part, display="block") for part in parts)
    # A wide formula scrolls on its own, so that it must be reachable by the keyboard.
    self.body.append(f'<div class="math" tabindex="0">{lines}</div>')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
