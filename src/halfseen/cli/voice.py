"""How commands speak: sentences for people, or one JSON object for machines."""

import json
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfseen.cli.printable import printable
from halfseen.cli.wording import in_options
from halfseen.data.messages import message_of

WIDTH = 88


@dataclass
class Voice:
    """Collects what a command has to say.

    People read results on stdout and cautions on stderr. With ``--json`` all of it is one object
    on stdout, printed when the command is done, so that stdout never holds half of it.
    """

    as_json: bool = False
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)

    @property
    def shows_progress(self) -> bool:
        """Whether somebody watches."""
        return sys.stderr.isatty() and not self.as_json

    def say(self, *sentences: str) -> None:
        """A paragraph for people."""
        if not self.as_json:
            print(_wrapped(printable(" ".join(sentences), sys.stdout)))

    def note(self, *sentences: str) -> None:
        """What was done with the table, for people and machines."""
        self.notes += sentences
        for sentence in sentences:
            self.say(sentence)

    def caution(self, sentence: str) -> None:
        """What to be careful about."""
        if sentence in self.cautions:
            return
        self.cautions.append(sentence)
        if not self.as_json:
            print(_wrapped(printable(f"Careful: {sentence}", sys.stderr)), file=sys.stderr)

    def table(
        self, title: str, head: Sequence[str], rows: Sequence[Sequence[str]], right: int = 1
    ) -> None:
        """A table for people: the columns from number ``right`` on hold numbers."""
        if self.as_json or not rows:
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, padding=(0, 2, 0, 0))
        for number, name in enumerate(head):
            shown = printable(name, sys.stdout)
            table.add_column(shown, justify="right" if number >= right else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(printable(cell, sys.stdout)) for cell in row))
        print(printable(title, sys.stdout))
        Console().print(table)

    def finish(self, **content: Any) -> None:
        """The result for machines."""
        if self.as_json:
            content |= {"notes": self.notes, "cautions": self.cautions}
            print(json.dumps(_plain(content), allow_nan=False, indent=2))

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Warnings of the library become cautions."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of lines of ours
            try:
                yield
            finally:
                for warning in heard:
                    assert isinstance(warning.message, Warning)  # as all that are recorded
                    self.caution(in_options(message_of(warning.message)))


def _wrapped(text: str) -> str:
    if not sys.stdout.isatty():
        return text
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _plain(value: Any) -> Any:
    """As JSON has it: lists, and null for what is not a number."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
