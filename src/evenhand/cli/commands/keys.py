"""evenhand keys: make a key to sign releases with, and show who it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as shared  # noqa: TC001 - typer reads the annotations
from evenhand.cli.help import PanelCommand
from evenhand.cli.options import DATA, OUTPUT, argument, output_option
from evenhand.cli.passphrases import load_key, new_passphrase
from evenhand.cli.terminal.console import Terminal
from evenhand.privacy.signing.keys import PublicKey, SigningKey, public_path

EXAMPLE = """\
  evenhand keys new office.key --passphrase
  evenhand keys show office.key.pub
"""
DEFAULT = Path("evenhand.key")

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)


@app.callback(epilog=f"\b\nExample:\n{EXAMPLE}")
def keys() -> None:
    """Make a key to sign releases with, or show one."""


@app.command(cls=PanelCommand, epilog="\b\nExample:\n  evenhand keys new office.key --passphrase")
def new(
    file: Annotated[Path, argument(OUTPUT, "FILE", "The private key; FILE.pub is public.")] = DEFAULT,
    *,
    passphrase: Annotated[
        bool,
        output_option("", "Ask for a passphrase; EVENHAND_KEY_PASSPHRASE sets it unasked.", "--passphrase"),
    ] = False,
    as_json: shared.AsJson = False,
) -> None:
    """Make a key pair of Ed25519: FILE, which only you may read, and FILE.pub for everybody."""
    terminal = Terminal(as_json=as_json)
    secret = new_passphrase(terminal, asked=passphrase)
    key = SigningKey.new()
    key.write(file, passphrase=secret)
    if secret is None:
        terminal.warn(
            "The private key is not encrypted: whoever copies the file can sign in your name. "
            "Hint: make one with --passphrase."
        )
    terminal.fact("Key", key.public.fingerprint)
    terminal.files({"Wrote": str(file), "Public": str(public_path(file))})
    terminal.object(
        {
            "command": "keys",
            "private": str(file),
            "public": str(public_path(file)),
            "encrypted": secret is not None,
            "fingerprint": key.public.fingerprint,
            "exit": 0,
        }
    )


@app.command(cls=PanelCommand, epilog="\b\nExample:\n  evenhand keys show office.key.pub")
def show(
    file: Annotated[Path, argument(DATA, "FILE", "A public or a private key.")],
    *,
    as_json: shared.AsJson = False,
) -> None:
    """Print the fingerprint of a key's public part."""
    terminal = Terminal(as_json=as_json)
    key = None if is_public(file) else load_key(terminal, file)
    public = PublicKey.load(file) if key is None else key.public
    terminal.sentence(public.fingerprint)
    terminal.object({"command": "keys", "fingerprint": public.fingerprint, "exit": 0})


def is_public(file: Path) -> bool:
    """Whether a file says that it is a public key; whatever else it is, a private one is looked for."""
    try:
        with file.open("rb") as stream:
            return b"PUBLIC KEY" in stream.read(10_000)
    except OSError:
        return False
