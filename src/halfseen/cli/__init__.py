"""The ``halfseen`` command."""

INTERRUPTED = 130
"""What shells expect of a command that was stopped by Ctrl-C."""


def main() -> None:
    """Run the command line."""
    try:
        from halfseen.cli.app import app

        app()
    except KeyboardInterrupt:  # while it loads; later typer hears it
        raise SystemExit(INTERRUPTED) from None
