"""Real tables of numbers, as they come: gaps, mistyped cells, columns that are mostly zero.

Those of scikit-learn are always at hand; files are looked for in the folder named by
``HALFSEEN_DATA``, then in ``../shared/data``, in its folder ``tables``.
"""

import csv
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
GAPS = ("", "NA", "?", "NaN")
MOST_ROWS = 4_000


class Table(NamedTuple):
    """Columns of numbers, and the known class of each row if there is one."""

    names: tuple[str, ...]
    values: Array  # (n, d)  as recorded, gaps as NaN
    classes: Labels | None  # (n,)


# Versions of the package that have no such function are measured on these tables too.
def find(file: str) -> Path | None:
    """The path of a file, if it is at hand."""
    folders = [os.environ.get("HALFSEEN_DATA", ""), "../shared/data"]
    paths = [Path(folder) / "tables" / file for folder in folders if folder]
    return next((path for path in paths if path.exists()), None)


def scaled(values: Array) -> Array:
    """Columns about their medians, in robust spreads; in standard deviations if that is zero."""
    median = np.nanmedian(values, axis=0)
    spread = 1.4826 * np.nanmedian(np.abs(values - median), axis=0)
    usual = np.where(spread > 0, spread, np.nanstd(values, axis=0))
    scaled: Array = (values - median) / usual
    return scaled


def _numbers(column: list[str]) -> Array | None:
    """A column as numbers, if all that is in it are; none if it has one value only."""
    try:
        numbers = np.array([np.nan if cell.strip() in GAPS else float(cell) for cell in column])
    except ValueError:
        return None
    return numbers if len(np.unique(numbers[~np.isnan(numbers)])) > 1 else None


def _sample(values: Array, classes: Labels | None) -> tuple[Array, Labels | None]:
    """At most ``MOST_ROWS`` rows, always the same, and none without any number."""
    rows = np.flatnonzero(~np.isnan(values).all(axis=1))
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
    return values[rows], None if classes is None else classes[rows]


def _from_file(file: str, leave_out: tuple[str, ...], answer: str | None = None) -> Table:
    path = find(file)
    if path is None:
        raise FileNotFoundError(
            f"{file} is not at hand. Set HALFSEEN_DATA to the folder whose 'tables' hold it."
        )
    with path.open(newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines)
    columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    found = {
        name: numbers
        for name, column in columns.items()
        if name not in leave_out
        for numbers in [_numbers(column)]
        if numbers is not None
    }
    known = None if answer is None else np.unique(columns[answer], return_inverse=True)[1]
    return Table(tuple(found), *_sample(np.column_stack(list(found.values())), known))


def _bundled(load: Callable[..., tuple[Array, Labels]], has_classes: bool = True) -> Table:
    values, classes = load(return_X_y=True)
    varied = np.ptp(values, axis=0) > 0
    names = tuple(f"x{number}" for number in np.flatnonzero(varied))
    return Table(names, values[:, varied].astype(float), classes if has_classes else None)


def _digits() -> Table:
    """Pixels that are not nearly always empty."""
    names, values, classes = _bundled(datasets.load_digits)
    told = np.flatnonzero((values > 0).mean(axis=0) > 0.3)
    return Table(tuple(names[column] for column in told), values[:, told], classes)


def _sepsis() -> Table:
    from benchmarks.reproduce import sepsis

    stays = sepsis.load()
    return Table(stays.names, _sample(stays.values, None)[0], None)


TABLES: dict[str, Callable[[], Table]] = {
    "penguins": partial(_from_file, "penguins.csv", ("rownames", "year"), "species"),
    "bfi": partial(_from_file, "bfi.csv", ("rownames", "gender")),
    "mammo": partial(_from_file, "mammo.csv", ("Severity",), "Severity"),
    "ames": partial(_from_file, "ames.csv", ("Id", "PID")),
    "support2": partial(_from_file, "support2.csv", ("Index", "death", "hospdead", "d.time")),
    "icu": partial(_from_file, "icu.csv", ("RecordID", "In-hospital_death", "Length_of_stay")),
    "icu_seq": partial(_from_file, "icu_seq.csv", ("RecordID", "block", "In-hospital_death")),
    "pbc": partial(_from_file, "pbc.csv", ("rownames", "id", "time", "status")),
    "pbcseq": partial(_from_file, "pbcseq.csv", ("rownames", "id", "futime", "status", "day")),
    "sepsis": _sepsis,
    "wine": partial(_bundled, datasets.load_wine),
    "iris": partial(_bundled, datasets.load_iris),
    "breast cancer": partial(_bundled, datasets.load_breast_cancer),
    "diabetes": partial(_bundled, datasets.load_diabetes, has_classes=False),
    "digits": _digits,
}


def at_hand(names: Iterable[str] = TABLES) -> dict[str, Table]:
    """The tables whose files are there."""
    found = {}
    for name in names:
        try:
            found[name] = TABLES[name]()
        except FileNotFoundError:
            continue
    return found
