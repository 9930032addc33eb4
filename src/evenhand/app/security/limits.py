"""How much a request may send."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenhand.app.security.hosts import header_values
from evenhand.errors import LimitExceededError

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope

MEGABYTE = 1024 * 1024
UPLOAD_BYTES = 200 * MEGABYTE
"""The largest file that can be uploaded."""

OTHER_BYTES = MEGABYTE
"""The largest body of any other request, and the largest message of a WebSocket."""

_UPLOAD = re.compile(r"/studies/[0-9a-f]{16}/data")


def body_limit(scope: Scope) -> int:
    """Return how many bytes the body of a request may have."""
    is_upload = scope["method"] == "POST" and _UPLOAD.fullmatch(scope["path"])
    return UPLOAD_BYTES if is_upload else OTHER_BYTES


def limit_body(scope: Scope, receive: Receive) -> Receive:
    """Return a `receive` that refuses a body above the limit of its request.

    A length that is declared is refused here, before a byte is read; a body without one, or with a false one,
    while it is read.

    Raises
    ------
    LimitExceededError
        If the body is, or says that it is, too large.
    """
    limit = body_limit(scope)
    for length in header_values(scope, "content-length"):
        if not length.isdecimal() or int(length[:20]) > limit:
            raise _too_large(limit)
    read = 0

    async def receive_within_limit() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > limit:
            raise _too_large(limit)
        return message

    return receive_within_limit


def _too_large(limit: int) -> LimitExceededError:
    what = "An upload" if limit == UPLOAD_BYTES else "A request"
    hint = "use a sample of the rows, or the command line"
    most = f"{what} must be at most {limit // MEGABYTE} MB. Got more instead."
    return LimitExceededError(f"{most} Hint: {hint}.", limit="bytes")
