"""The ``halfseen`` command."""

import sys

INTERRUPTED = 130
"""What shells expect of a command that was stopped by Ctrl-C."""


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        _run()
    except KeyboardInterrupt:  # while it loads; later typer hears it
        raise SystemExit(INTERRUPTED) from None


def _run() -> None:
    try:
        from halfseen.cli.app import app
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        print(
            f"The command line needs {missing.name}, which is not installed. "
            "Install it with: pip install 'halfseen[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    app()
