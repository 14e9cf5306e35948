"""The ``halfseen`` command."""

import sys


def main() -> None:
    """Run the command line, or say what it needs."""
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
