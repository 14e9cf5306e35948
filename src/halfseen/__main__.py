"""``python -m halfseen`` is the ``halfseen`` command."""

from halfseen.cli import main

main()
