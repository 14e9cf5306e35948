"""How features are named in what users read."""

from collections.abc import Iterable, Sequence


def quoted(names: Sequence[str], indices: Iterable[int], most: int = 5) -> str:
    """The named features as words of a sentence; a long list is cut and counted.

    >>> quoted(["age", "bmi", "crp"], [0, 2])
    "'age' and 'crp'"
    >>> quoted([str(i) for i in range(9)], range(9), most=2)
    "'0', '1' and 7 more"
    """
    words = [f"'{names[i]}'" for i in indices]
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def features(names: Sequence[str], indices: Iterable[int]) -> str:
    """The named features, counted: the subject of a sentence about them.

    >>> features(["age", "bmi"], [1])
    "Feature 'bmi'"
    >>> features(["age", "bmi"], [0, 1])
    "Features 'age' and 'bmi'"
    """
    indices = list(indices)
    return f"Feature{'s' if len(indices) > 1 else ''} {quoted(names, indices)}"


def plural(noun: str) -> str:
    """Several of them.

    >>> plural("group"), plural("class")
    ('groups', 'classes')
    """
    return f"{noun}{'es' if noun.endswith('s') else 's'}"


def percent(share: float) -> str:
    """Whole percentages, of which only nothing is 0 and only everything 100.

    >>> percent(0.254), percent(0.004), percent(0.999)
    ('25%', '<1%', '>99%')
    """
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"
