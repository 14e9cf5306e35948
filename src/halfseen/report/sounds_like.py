"""Columns that sound like outcomes: what became of a row, which groups should not be made of."""

import re
from collections.abc import Iterable

from halfseen.data.formatting import quoted

OUTCOME = re.compile(
    r"(death|died|dead|mortality|surviv(ed|al)|relapsed?|readmi(tted|ssion)|outcome)s?(?![a-z])",
    re.IGNORECASE,
)


def outcomes_among(names: Iterable[str]) -> list[str]:
    """Those whose names say so.

    >>> outcomes_among(["age", "In-hospital_death", "hospdead", "Survived", "deadline"])
    ['In-hospital_death', 'hospdead', 'Survived']
    """
    return [name for name in names if OUTCOME.search(name)]


def learned_from_outcomes(names: Iterable[str], nouns: str) -> list[str]:
    """A sentence on outcomes that components were made of, if there are any."""
    found = outcomes_among(names)
    if not found:
        return []
    they, them = ("sounds", "it") if len(found) == 1 else ("sound", "them")
    what = "an outcome" if len(found) == 1 else "outcomes"
    return [
        f"{quoted(found, range(len(found)))} {they} like {what}, and the {nouns} were made of "
        f"{them} too. To see how {nouns} that know nothing of {them} differ, leave {them} out of "
        f"the fit and give {them} to the report as {what}."
    ]
