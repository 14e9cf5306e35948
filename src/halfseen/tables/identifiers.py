"""Columns that name or number the rows, and measure nothing."""

import re

from halfseen.tables.cells.sums import MOSTLY, CellSums
from halfseen.tables.kinds import Reason

NAMES = {"id", "ids", "pid", "uid", "uuid", "guid", "rownames", "row.names", "row_names", "rowname"}
OF_WHAT = (
    "patient|subject|record|case|user|customer|person|student|respondent|participant|sample|"
    "visit|encounter|stay|admission|hadm|icustay|row|client|member|account"
)
IDENTIFIER = re.compile(
    rf"unnamed: \d+|(.*[\s_.\-])?(id|uid|uuid|guid)|(id|uid)[\s_.\-].*|({OF_WHAT})id|index"
)
CAMEL = re.compile(r".*[a-z0-9]I[dD]")
YEAR = re.compile(r"(.*[\s_.\-])?(year|yr)([\s_.\-/].*)?")
FEWEST_THINGS = 20
"""Fewer different values may be a code for kinds of things, which is for the user to judge."""

NUMBERS_ROWS = Reason("it numbers the rows", "they number the rows")
NEARLY_UNIQUE = Reason(
    "it has the name of an identifier, and nearly all of its values are different",
    "they have names of identifiers, and nearly all of their values are different",
)
OF_SEVERAL_ROWS = Reason(
    "it has the name of an identifier, of several rows each",
    "they have names of identifiers, of several rows each",
)
CLOSE_TOGETHER = Reason(
    "its values are all different and close together, as numbers of rows are",
    "their values are all different and close together, as numbers of rows are",
)

MORE_DIGITS = Reason(
    "its whole numbers have more digits than can be reckoned with, as only identifiers have",
    "their whole numbers have more digits than can be reckoned with, as only identifiers have",
)


def named_as_identifier(name: str) -> bool:
    """Whether a column has the name of an identifier.

    >>> [named_as_identifier(n) for n in ("id", "PID", "RecordID", "patient_id", "Unnamed: 0")]
    [True, True, True, True, True]
    >>> [named_as_identifier(n) for n in ("covid", "acid", "lipid", "SalePrice", "humid", "idle")]
    [False, False, False, False, False, False]
    """
    lowered = name.strip().lower()
    matches = IDENTIFIER.fullmatch(lowered) or CAMEL.fullmatch(name.strip())
    return lowered in NAMES or bool(matches)


def named_as_year(name: str) -> bool:
    """Whether a column has the name of a year.

    >>> [named_as_year(name) for name in ("year", "Year Built", "Garage Yr Blt", "yearly income")]
    [True, True, True, False]
    """
    return bool(YEAR.fullmatch(name.strip().lower()))


def identifies(name: str, cells: CellSums) -> Reason | None:
    """Why a column of such cells is one that tells rows apart; None if it may be a measurement.

    Fractions are never taken for identifiers, and whole numbers only if their name says so, or if
    they are all different and leave hardly a number out, which amounts do not do.
    """
    values = cells.distinct
    if cells.writing is None or not values.whole:
        return None
    if cells.long > MOSTLY * cells.known:
        return MORE_DIGITS
    if named_as_identifier(name):
        if values.nearly_all_different:
            return NEARLY_UNIQUE
        if values.different >= FEWEST_THINGS and name.strip().lower() != "index":
            return OF_SEVERAL_ROWS
    if values.nearly_all_different and values.close_together and not named_as_year(name):
        return CLOSE_TOGETHER
    return None
