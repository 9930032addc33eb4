"""The document of the workbench: local files alone, nothing inline, a place for everything."""

import re

from htmltools import HTMLDocument

from evenhand.app.pages.shell import build_ui
from evenhand.app.routes import STATIC


def document():
    return HTMLDocument(build_ui()).render(lib_prefix="lib")["html"]


def test_the_document_has_no_script_and_no_style_inside_it():
    """The content security policy blocks both, so a page that needs them does not work."""
    html = document()
    scripts = re.findall(r"<script\b([^>]*)>(.*?)</script>", html, re.DOTALL)

    assert [
        text for attributes, text in scripts if "application/html-dependencies" not in attributes and text
    ] == []
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", html) == []


def test_the_document_asks_nothing_of_other_machines():
    assert re.findall(r"(?:src|href)=\"(?:https?:)?//", document()) == []


def test_the_document_has_its_landmarks_and_a_skip_link():
    html = document()

    assert re.search(r'<html lang="en">', html)
    assert all(part in html for part in ('<a class="skip" href="#main"', "<main ", "<aside ", "<nav "))


def test_every_id_of_the_document_is_there_once():
    ids = re.findall(r'\sid="([^"]+)"', document())

    assert len(ids) == len(set(ids))


def test_the_script_of_the_page_evaluates_no_text_and_draws_no_markup():
    """Text that becomes code or markup in the browser is how a value of a file would run."""
    script = (STATIC / "app.js").read_text(encoding="utf-8")

    assert (
        re.findall(r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write", script)
        == []
    )


def test_the_styles_of_the_page_load_nothing():
    styles = (STATIC / "app.css").read_text(encoding="utf-8")

    assert re.findall(r"@import|url\((?!#)", styles) == []
