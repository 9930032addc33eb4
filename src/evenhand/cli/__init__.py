"""The command line: one file for each command, one for each kind of study, no algorithm."""

from evenhand.cli.terminal.streams import open_closed_streams

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name."""
    has_output = open_closed_streams()
    from evenhand.cli.app import app, refuse_closed_output  # noqa: PLC0415 - typer, which needs open streams

    if not has_output:
        refuse_closed_output()
    app()
