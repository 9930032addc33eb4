"""The headers of every answer: what a page may load and do, and that nothing of it is kept."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Message, Send

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy of the workbench: only files of this server, no inline script, no eval."""

_ALWAYS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def style_policy(style: str) -> str:
    """Return the policy of a page that has this one style sheet inside it, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; frame-ancestors 'none'"


def add_headers(send: Send) -> Send:
    """Return a `send` that gives every answer the headers; a policy that an answer has is kept."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] in {"http.response.start", "websocket.accept"}:
            given = [(key.lower(), value) for key, value in message.get("headers", ())]
            has_policy = any(key == b"content-security-policy" for key, _ in given)
            ours = {**_ALWAYS, **({} if has_policy else {"content-security-policy": PAGE_POLICY})}
            names = {name.encode() for name in ours}
            kept = [(key, value) for key, value in given if key not in names]
            added = [(name.encode(), value.encode()) for name, value in ours.items()]
            message = {**message, "headers": kept + added}
        await send(message)

    return send_with_headers
