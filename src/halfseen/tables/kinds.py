"""What became of each column of a table, and why: nothing is left out in silence."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from halfseen.rows.feature_sums import FeatureSums
from halfseen.tables.cells.sums import MOSTLY, CellSums

Kind = Literal["continuous", "count", "categorical", "identifier", "ignored"]


class Column(NamedTuple):
    """A column of a table."""

    name: str
    kind: Kind
    used: bool  # as numbers, by a model
    sentence: str | None = None  # if anything is to be said of it


class Fate(NamedTuple):
    """What becomes of a column, as a file holds it."""

    kind: Kind
    used: bool
    reason: str | None = None

    def column(self, name: str) -> Column:
        """The column of this name, with what people are told of it."""
        if self.reason is None:
            return Column(name, self.kind, self.used)
        told = f"'{name}': {self.reason}." if self.used else _ignored(name, self.reason)
        return Column(name, self.kind, self.used, told)


def fate_of(cells: CellSums, identifies: str | None) -> Fate:
    """What becomes of a column with such cells; ``identifies`` says how it tells rows apart."""
    if identifies is not None:
        return Fate("identifier", False, identifies)
    if cells.writing is not None:
        return Fate("categorical" if cells.truth_words else "continuous", True, cells.writing.note)
    if cells.dates == cells.known:
        return Fate("ignored", False, "it holds dates or times")
    return Fate("ignored" if cells.categories is None else "categorical", False, _text(cells))


def _text(cells: CellSums) -> str:
    shown = ", ".join(repr(_short(text)) for text in cells.odd) or "numbers in several writings"
    if cells.odd and cells.thousands > MOSTLY * cells.known:
        return (
            f"{cells.thousands:,} of its {cells.known:,} values are numbers, but it holds {shown} "
            f"too, first in row {(cells.first_odd or 0) + 1:,}; if that stands for a gap, use "
            f"missing_values={list(cells.odd)}"
        )
    return f"it holds text, such as {shown}"


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:23]}…"


def _ignored(name: str, reason: str) -> str:
    return f"Column '{name}' was ignored: {reason}."


def varying(
    columns: Iterable[Column], names: tuple[str, ...], sums: FeatureSums
) -> tuple[Column, ...]:
    """The columns once their values are known: those that say nothing are not used.

    ``sums`` are those of the used columns, which have these ``names``.
    """
    seen: Mapping[str, int] = {name: place for place, name in enumerate(names)}
    return tuple(
        _varying(column, seen[column.name], sums) if column.name in seen else column
        for column in columns
    )


def _varying(column: Column, place: int, sums: FeatureSums) -> Column:
    low, high = float(sums.minimum[place]), float(sums.maximum[place])
    if not sums.count[place]:
        return column._replace(used=False, sentence=_ignored(column.name, "it has no values"))
    if low == high:
        reason = f"it is {low:g} wherever it is known"
        return column._replace(used=False, sentence=_ignored(column.name, reason))
    if column.kind == "continuous" and sums.whole[place] and low >= 0:
        return column._replace(kind="count")
    return column
