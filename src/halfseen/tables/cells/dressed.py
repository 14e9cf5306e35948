"""Numbers in the dress that people write them in: ``12%``, ``$1,234``, ``(432)``, ``<0.5``.

What is a number beneath is read as one where a whole column is; what was taken off is counted, and
told.
"""

import re
from typing import Any

from halfseen.tables.cells.gap_words import SUSPECTED_WORDS

_MONEY = "[$€£¥₹]|USD|EUR|GBP|CHF"
_APART = "[ \u00a0\u202f'’]"
PERCENT, PARENTHESES, BELOW, ABOVE = "%", "()", "<", ">"
DRESSES = {
    PERCENT: r"%$",
    PARENTHESES: r"^\(.*\)$",
    BELOW: r"^[<≤]",
    ABOVE: r"^[>≥]",
    "$": r"\$|USD",
    "€": r"€|EUR",
    "£": r"£|GBP",
    "¥": r"¥",
    "₹": r"₹",
    "CHF": r"CHF",
}
"""What is looked for, by what people call it."""
MONEY = ("$", "€", "£", "¥", "₹", "CHF")
STEPS = (
    (r"^[−–‒]", r"-"),
    (r"^[<>≤≥]=?\s*", r""),
    (r"^\(\s*([^()+-]+?)\s*\)$", r"-\1"),
    (rf"^([+-]?)\s*({_MONEY})\s*", r"\1"),
    (rf"\s*({_MONEY})$", r""),
    (r"\s*%$", r""),
)
GROUPED = rf"^[+-]?\d{{1,3}}({_APART}\d{{3}})+([.,]\d+)?$"
ANY = rf"[−–‒<>≤≥()%]|{_MONEY}|\d{_APART}\d"
_COMPILED = tuple((re.compile(pattern), instead) for pattern, instead in STEPS)
_DRESSES = {dress: re.compile(pattern) for dress, pattern in DRESSES.items()}
_GROUPED, _SEPARATOR, _ANY = re.compile(GROUPED), re.compile(_APART), re.compile(ANY)


def bare(word: str) -> str:
    """A word without what numbers are dressed in.

    >>> [bare(word) for word in ("12 %", "$1,234", "(432)", "<0.5", "−3", "1 234 567", "red")]
    ['12', '1,234', '-432', '0.5', '-3', '1234567', 'red']
    """
    if not _ANY.search(word):
        return word
    for pattern, instead in _COMPILED:
        word = pattern.sub(instead, word)
    return _SEPARATOR.sub("", word) if _GROUPED.match(word) else word


def dresses_of(word: str) -> tuple[str, ...]:
    """What a word is dressed in.

    >>> dresses_of("($5)"), dresses_of("5")
    (('()', '$'), ())
    """
    if not _ANY.search(word):
        return ()
    return tuple(dress for dress, pattern in _DRESSES.items() if pattern.search(word))


def undressed(cells: Any) -> Any:
    """An Arrow column of text without what numbers are dressed in."""
    from pyarrow import compute

    if not compute.any(compute.match_substring_regex(cells, ANY)).as_py():
        return cells
    for pattern, instead in STEPS:
        cells = compute.replace_substring_regex(cells, pattern, instead)
    grouped = compute.match_substring_regex(cells, GROUPED)
    return compute.if_else(grouped, compute.replace_substring_regex(cells, _APART, ""), cells)


def halved_below(cells: Any, values: Any) -> Any:
    """Arrow's values of cells, half of the limit where a cell says that a value is below one."""
    from pyarrow import compute

    below = compute.match_substring_regex(cells, DRESSES[BELOW])
    return compute.if_else(below, compute.divide(values, 2.0), values)


def without_suspects(cells: Any) -> Any:
    """An Arrow column of numbers written as text, null where a word must stand for a gap."""
    import pyarrow as pa
    from pyarrow import compute

    known = pa.array(sorted(SUSPECTED_WORDS), pa.string())
    suspect = compute.is_in(compute.utf8_lower(cells), value_set=known)
    return compute.if_else(suspect, pa.scalar(None, pa.string()), cells)
