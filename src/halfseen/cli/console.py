"""What commands print: sentences for people, or one JSON object for machines."""

import json
import sys
import textwrap
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO, TypeVar

import numpy as np
from rich.console import Console as RichConsole
from rich.progress import track
from rich.table import Table
from rich.text import Text

from halfseen.cli.messages import in_options
from halfseen.data.messages import message_of

Item = TypeVar("Item")
WIDTH = 88
"""Characters in a line of text on a terminal, beyond which lines are hard to read."""
ASCII_FORMS = {
    "█": "#",
    "·": ".",
    "±": "+/-",
    "×": "x",
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "≥": ">=",
    "≤": "<=",
    "²": "^2",
    "≈": "about ",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "\N{NO-BREAK SPACE}": " ",
}
"""Our own characters, for terminals that know only ASCII."""
CONTROL_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories of characters that move, hide or reverse what is printed."""


@dataclass
class Console:
    """Prints the messages of a command, for people or as JSON.

    People read results on stdout and cautions on stderr. With ``--json`` all of it is one object
    on stdout, printed when the command is done, so that stdout never holds half of it.
    """

    as_json: bool = False
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)

    @property
    def shows_progress(self) -> bool:
        """Whether progress bars are shown."""
        return sys.stderr.isatty() and not self.as_json

    def say(self, *sentences: str) -> None:
        """Print a paragraph for people."""
        if not self.as_json:
            print(_wrapped(printable(" ".join(sentences), sys.stdout)))

    def items(self, title: str, sentences: Iterable[str]) -> None:
        """Print a title and a list for people."""
        self.say(title)
        for sentence in sentences:
            self.say(f"  - {sentence}")

    def note(self, *sentences: str) -> None:
        """Print a note on the table, which the JSON object also holds."""
        self.notes += sentences
        for sentence in sentences:
            self.say(sentence)

    def caution(self, sentence: str) -> None:
        """Print a warning once."""
        if sentence in self.cautions:
            return
        self.cautions.append(sentence)
        if not self.as_json:
            print(_wrapped(printable(f"Careful: {sentence}", sys.stderr)), file=sys.stderr)

    def table(
        self, title: str, head: Sequence[str], rows: Sequence[Sequence[str]], right: int = 1
    ) -> None:
        """Print a table; columns from number ``right`` on hold numbers."""
        if self.as_json or not rows:
            return
        table = Table(box=None, padding=(0, 2, 0, 0))
        for number, name in enumerate(head):
            shown = printable(name, sys.stdout)
            table.add_column(shown, justify="right" if number >= right else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(printable(cell, sys.stdout)) for cell in row))
        print(printable(title, sys.stdout))
        RichConsole().print(table)

    def finish(self, **content: Any) -> None:
        """Print the JSON object, if one was asked for."""
        if self.as_json:
            content |= {"notes": self.notes, "cautions": self.cautions}
            print(json.dumps(_json_value(content), allow_nan=False, indent=2))

    @contextmanager
    def warnings_as_cautions(self) -> Iterator[None]:
        """Print warnings of the library as cautions, in the words of the command line."""
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

    def progress(self, title: str, steps: Iterable[Item], n_steps: int | None) -> Iterable[Item]:
        """The steps, with a progress bar if somebody watches."""
        if not self.shows_progress:
            return steps
        console = RichConsole(stderr=True)
        return track(steps, title, total=n_steps, console=console, transient=True)


def printable(text: str, stream: TextIO | None = None) -> str:
    r"""Text without control characters, in the encoding of ``stream``.

    Names of columns and files come from anyone.

    >>> printable("age\x1b[2J\x07, \u202epulse")
    'age\\x1b[2J\\x07, \\u202epulse'
    """
    shown = "".join(_escaped(sign) for sign in text)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        shown.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        plain = "".join(ASCII_FORMS.get(sign, sign) for sign in shown)
        return plain.encode("ascii", "backslashreplace").decode("ascii")
    return shown


def _escaped(sign: str) -> str:
    if unicodedata.category(sign) not in CONTROL_CATEGORIES:
        return sign
    return sign.encode("unicode_escape", "surrogatepass").decode("ascii")


def _wrapped(text: str) -> str:
    if not sys.stdout.isatty():
        return text
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _json_value(value: Any) -> Any:
    """A value for JSON, with null for what is not a number."""
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _json_value(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
