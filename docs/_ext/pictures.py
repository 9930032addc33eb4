"""Put pictures of the protocols into pages, drawn while the documentation is built.

``{protocol-picture} grr`` draws one protocol beside the others, ``{protocol-overview}`` all for several
numbers of values, ``{price-picture}`` what protection costs small groups. The pictures are part of the page,
so they follow its light and dark colours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import Directive
from price_chart import price_html
from protocol_charts import overview_html, picture_html

from evenhand.collect.protocols.registry import PROTOCOLS

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]


class ProtocolPicture(Directive):
    """The picture of one protocol."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the picture as a node of HTML."""
        if self.arguments[0] not in PROTOCOLS:
            raise self.error(f"There is no protocol {self.arguments[0]!r}.")
        return [nodes.raw("", picture_html(self.arguments[0]), format="html")]


class ProtocolOverview(Directive):
    """The picture of all protocols."""

    def run(self) -> list[nodes.Node]:
        """Return the picture as a node of HTML."""
        return [nodes.raw("", overview_html(), format="html")]


class PricePicture(Directive):
    """The picture of what protection costs small groups."""

    def run(self) -> list[nodes.Node]:
        """Return the picture as a node of HTML."""
        return [nodes.raw("", price_html(), format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives and their style sheet."""
    app.add_directive("protocol-picture", ProtocolPicture)
    app.add_directive("protocol-overview", ProtocolOverview)
    app.add_directive("price-picture", PricePicture)
    app.add_css_file("pictures.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
