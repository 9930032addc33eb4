"""The command line: one file for each command, no algorithm."""

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name."""
    from evenhand.cli.terminal.streams import open_closed_streams  # noqa: PLC0415 - as below

    has_output = open_closed_streams()
    from evenhand.cli.app import app, refuse_closed_output  # noqa: PLC0415 - typer and rich load when a command runs

    if not has_output:
        refuse_closed_output()
    app()
