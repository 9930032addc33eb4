"""The command line: one file for each command, no algorithm."""

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name."""
    from evenhand.cli.app import app  # noqa: PLC0415 - typer and rich load when a command runs

    app()
