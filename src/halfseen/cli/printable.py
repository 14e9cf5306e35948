"""Text as a terminal may be shown it: names of columns and files come from anyone."""

import unicodedata
from typing import TextIO

PLAIN = {
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
"""Signs of ours for terminals that know only ASCII."""
HARMFUL = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Kinds of characters that move, hide or turn around what is printed."""


def printable(text: str, stream: TextIO | None = None) -> str:
    r"""Text without characters that steer a terminal, in signs that ``stream`` can write.

    >>> printable("age\x1b[2J\x07, \u202epulse")
    'age\\x1b[2J\\x07, \\u202epulse'
    """
    shown = "".join(_escaped(sign) if _steers(sign) else sign for sign in text)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        shown.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        plain = "".join(PLAIN.get(sign, sign) for sign in shown)
        return plain.encode("ascii", "backslashreplace").decode("ascii")
    return shown


def _steers(sign: str) -> bool:
    return unicodedata.category(sign) in HARMFUL


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape", "surrogatepass").decode("ascii")
