"""Private keys on the command line: read before anything else, with a passphrase that is asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

from evenhand.cli.terminal.console import wrong_use
from evenhand.privacy.signing.keys import VARIABLE, SigningKey
from evenhand.table.source import own_name

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.cli.terminal.console import Terminal


def load_key(terminal: Terminal, path: Path | None) -> SigningKey | None:
    """Return the private key in a file, or refuse it; None if no file is named.

    The passphrase of an encrypted key comes from the environment or, on a terminal, is asked for.
    """
    if path is None:
        return None
    if VARIABLE in os.environ or not terminal.is_interactive or not SigningKey.is_encrypted(path):
        return SigningKey.load(path)
    asked = typer.prompt(f"Passphrase of {own_name(path)}", hide_input=True, err=True)
    return SigningKey.load(path, passphrase=str(asked))


def new_passphrase(terminal: Terminal, *, asked: bool) -> str | None:
    """Return the passphrase of a new key: of the environment, typed twice, or None for a key without one."""
    if VARIABLE in os.environ:
        return os.environ[VARIABLE]
    if not asked:
        return None
    if not terminal.is_interactive:
        wrong_use(f"--passphrase asks on a terminal, and there is none. Hint: set {VARIABLE} instead.")
    return str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True))
