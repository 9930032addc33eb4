"""The token of the start address, which is exchanged once, and the cookie that a browser gets for it."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING

from evenhand.app.security.hosts import header_values
from evenhand.privacy.randomness import secret_text

if TYPE_CHECKING:
    from starlette.types import Scope


class StartToken:
    """A token that opens the workbench once.

    Parameters
    ----------
    value : str, optional
        The token; without one it is drawn from the system's secure source, 256 bits.

    Examples
    --------
    >>> token = StartToken()
    >>> token.exchange("a guess"), token.exchange(token.value), token.exchange(token.value)
    (False, True, False)
    """

    def __init__(self, value: str = "") -> None:
        self.value = value or secret_text(32)
        self._is_used = False

    def exchange(self, given: str) -> bool:
        """Whether this is the token, for the first time."""
        if self._is_used or not _are_equal(given, self.value):
            return False
        self._is_used = True
        return True


class SessionCookie:
    """The cookie of a browser that was let in: a random word and its seal.

    Parameters
    ----------
    secret : str
        What seals are made with. It stays on this machine.
    port : int
        The port, which names the cookie: browsers send cookies of one host to all of its ports, and two
        workbenches must not overwrite each other's.
    """

    def __init__(self, secret: str, port: int) -> None:
        self.name = f"evenhand-{port}"
        self._key = hashlib.sha256(f"{self.name}:{secret}".encode()).digest()

    def issue(self) -> str:
        """Return a new value."""
        word = secret_text(16)
        return f"{word}.{self._seal(word)}"

    def header(self) -> str:
        """Return the `Set-Cookie` of a new value; no script can read it, no other site can have it sent."""
        return f"{self.name}={self.issue()}; Path=/; HttpOnly; SameSite=Strict"

    def is_in(self, scope: Scope) -> bool:
        """Whether a request carries the cookie with a seal of ours."""
        pairs = (
            part.strip().partition("=") for text in header_values(scope, "cookie") for part in text.split(";")
        )
        return any(self._is_ours(value) for name, _, value in pairs if name == self.name)

    def _is_ours(self, value: str) -> bool:
        word, _, seal = value.partition(".")
        return bool(word) and _are_equal(seal, self._seal(word))

    def _seal(self, word: str) -> str:
        return hmac.new(self._key, word.encode(), hashlib.sha256).hexdigest()


def _are_equal(given: str, expected: str) -> bool:
    """Compare two texts in a time that does not tell where they differ."""
    return hmac.compare_digest(given.encode(), expected.encode())
