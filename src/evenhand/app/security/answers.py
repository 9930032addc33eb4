"""What a refused or failed request is told: one sentence, as a page for a person and as JSON for a script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from evenhand.app.security.headers import style_policy
from evenhand.app.security.hosts import header_values
from evenhand.errors import EvenhandError, LimitExceededError, UnknownNameError

if TYPE_CHECKING:
    from starlette.types import Scope

FAULT = "Something unforeseen happened in the workbench, and the request was not done. Hint: try it again."
"""What is said of an error that is not ours: its own message may hold a value or a path."""

_SENTENCES = {
    400: "The request cannot be understood.",
    404: "There is nothing at this address.",
    405: "This address does not take such a request.",
}
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem;"
    "color:#1c2024;background:#fff}a{color:inherit}"
    "@media(prefers-color-scheme:dark){body{color:#e8eaed;background:#15181c}}"
)
_PAGE = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>evenhand</title>'
    '<meta name="viewport" content="width=device-width"><style>{style}</style></head>'
    '<body><main><h1>evenhand</h1><p>{sentence}</p><p><a href="/">Go to the workbench</a></p></main></body>'
    "</html>\n"
)


def answer_refusal(scope: Scope, status: int, sentence: str) -> Response:
    """Return a refusal: a page where a person asked with the browser, JSON where a script did."""
    if any("text/html" in accepted for accepted in header_values(scope, "accept")):
        page = _PAGE.format(style=_STYLE, sentence=escape(sentence))
        return HTMLResponse(page, status, {"content-security-policy": style_policy(_STYLE)})
    return JSONResponse({"error": sentence}, status)


def answer_error(scope: Scope, error: Exception) -> Response:
    """Return what a failed request is told; only our own errors are quoted."""
    if isinstance(error, HTTPException):
        return answer_refusal(scope, error.status_code, _SENTENCES.get(error.status_code, FAULT))
    if isinstance(error, EvenhandError):
        return answer_refusal(scope, _status(error), str(error))
    return answer_refusal(scope, 500, FAULT)


def _status(error: EvenhandError) -> int:
    if isinstance(error, LimitExceededError):
        return 413
    return 404 if isinstance(error, UnknownNameError) else 422
