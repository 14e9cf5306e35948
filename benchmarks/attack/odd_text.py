"""Tables of text as people and programs write them."""

from typing import Any

import numpy as np

Rng = np.random.Generator
NAMES = (
    "age", "pulse", "größe", "a b", "", "age", "=cmd|' /C calc'!A0", "a\x1b[31mred\x07",
    "\u202eevil", "1", "nan", "id", "a,b", 'say "hi"', "x" * 5000, "µg/l", "日本", " lead",
    "null", "a\nb", "\x00",
)  # fmt: skip
CELLS = (
    "", "NA", "NaN", "null", "-", "?", "text", "1,5", "1.234,5", "1 000", "1e400", "-1e-400",
    "inf", "-inf",
    "0x1F", "1_000", "٣", "2024-01-31", "12:30", "true", "FALSE", "99999999999999999999999",
    "9007199254740993",
    "1.0.0", "=1+1", "+5", "--5", '"', "\x00", "\x1b[2J", " 7 ", "1e5", ".5", "5.", "5%", "$3", "½",
    "9.97e36", "-999",
)  # fmt: skip
ENCODINGS = ("utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "cp437")


def names_of(X: Any) -> list[str]:
    """What columns are called that have no odd name."""
    return [f"c{i}" for i in range(X.shape[1])]


def odd_text(rng: Rng, X: Any, delimiter: str) -> bytes:
    """A table of numbers or cells as text, right as a whole and odd in some ways."""
    names = names_of(X)
    if rng.random() < 0.4:
        names = [NAMES[rng.integers(len(NAMES))] if rng.random() < 0.5 else name for name in names]
    odd = 0.0 if rng.random() < 0.5 else float(rng.choice([0.01, 0.1, 0.6]))
    column = int(rng.integers(X.shape[1])) if rng.random() < 0.5 else None  # one, or all
    rows = [[_quoted(name, delimiter) for name in names]]
    for row in X:
        rows.append(
            [
                CELLS[rng.integers(len(CELLS))]
                if rng.random() < odd and column in (None, i)
                else _written(rng, value, delimiter)
                for i, value in enumerate(row)
            ]
        )
    if rng.random() < 0.1:
        place = int(rng.integers(len(rows)))  # a row that is too long, or too short
        rows[place] = rows[place][:-1] if rng.random() < 0.5 else [*rows[place], "5"]
    if rng.random() < 0.1:
        delimiter = [";", "|", " ", "\t", ","][rng.integers(5)]
    end = ["\n", "\r\n", "\r", "\n\n"][rng.choice(4, p=[0.8, 0.1, 0.05, 0.05])]
    text = end.join(delimiter.join(row) for row in rows) + (end if rng.random() < 0.9 else "")
    encoding = ENCODINGS[rng.integers(len(ENCODINGS))] if rng.random() < 0.3 else "utf-8"
    return text.encode(encoding, errors="replace")


def _quoted(name: str, delimiter: str) -> str:
    if delimiter in name or '"' in name or "\n" in name:
        return '"' + name.replace('"', '""') + '"'
    return name


def _written(rng: Rng, value: Any, delimiter: str) -> str:
    if value is None or value != value:
        return ["", "NA", "nan"][rng.integers(3)]
    if not isinstance(value, float):
        return _quoted(str(value), delimiter)
    return f"{value:g}" if rng.random() < 0.5 else repr(float(value))
