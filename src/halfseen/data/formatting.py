"""Format numbers, percentages and lists of names for people."""

import math
from collections.abc import Iterable, Sequence


def quoted(names: Sequence[str], indices: Iterable[int] | None = None, most: int = 5) -> str:
    """Quoted names of features for a sentence; a long list is cut and counted.

    >>> quoted(["age", "bmi", "crp"], [0, 2])
    "'age' and 'crp'"
    >>> quoted([str(i) for i in range(9)], most=2)
    "'0', '1' and 7 more"
    """
    words = [f"'{names[i]}'" for i in (range(len(names)) if indices is None else indices)]
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def features(names: Sequence[str], indices: Iterable[int]) -> str:
    """Quoted names of features with their number, as the subject of a sentence.

    >>> features(["age", "bmi"], [1])
    "Feature 'bmi'"
    >>> features(["age", "bmi"], [0, 1])
    "Features 'age' and 'bmi'"
    """
    indices = list(indices)
    return f"Feature{'s' if len(indices) > 1 else ''} {quoted(names, indices)}"


def plural(noun: str) -> str:
    """The plural of a noun.

    >>> plural("group"), plural("class")
    ('groups', 'classes')
    """
    return f"{noun}{'es' if noun.endswith('s') else 's'}"


def counted(number: int, noun: str) -> str:
    """How many of them there are.

    >>> counted(1, "row"), counted(1_200, "class")
    ('1 row', '1,200 classes')
    """
    return f"1 {noun}" if number == 1 else f"{number:,} {plural(noun)}"


def percent(share: float) -> str:
    """Whole percentages; only nothing is 0 % and only everything 100 %.

    >>> percent(0.254), percent(0.004), percent(0.999)
    ('25%', '<1%', '>99%')
    """
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"


def number(value: float, year: bool = False) -> str:
    """A number with three significant digits, or all digits of a whole number.

    >>> number(1234.56), number(0.01234), number(2.5e12), number(-0.0)
    ('1,235', '0.0123', '2.50e+12', '0')
    >>> number(2008.7, year=True)
    '2009'
    """
    if not math.isfinite(value):
        return "unknown"
    if year:
        return f"{value:.0f}"
    size = abs(value)
    if size < 1e-12:
        return "0"
    if size >= 1e10 or size < 1e-4:
        return f"{value:.2e}"
    digits = max(0, 2 - math.floor(math.log10(size)))
    return f"{value:,.{digits}f}"


def shortened(name: str, longest: int) -> str:
    """A long name with its middle cut out, because endings often differ.

    >>> shortened("systolic pressure", 11)
    'systo…ssure'
    """
    if len(name) <= longest:
        return name
    tail = (longest - 1) // 2
    return f"{name[: longest - 1 - tail]}…{name[-tail:]}"


def some_of(names: list[str], most: int = 12) -> str:
    """The first of many names, and how many follow."""
    shown = names if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return ", ".join(shown)
