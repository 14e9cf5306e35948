"""What the cells of a column look like, as sums over the rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from pyarrow import compute

from halfseen.data.arrays import Array
from halfseen.data.sums import ALL, ANY, SHARED, Sums, merged_by
from halfseen.io.cells.cardinality import MAX_EXACT_INTEGER, DistinctCount, RowNumbering
from halfseen.io.cells.dates import DateOrder, orders_of
from halfseen.io.cells.missing_values import (
    COUNTED_CODES,
    LIKELY_CODES,
    NONE,
    REPORTED_CODES,
    MissingCodes,
)
from halfseen.io.cells.number_formats import (
    ABOVE,
    ANSWERS,
    ANY_SYMBOL,
    BELOW,
    DATES,
    EUROPEAN,
    MONEY,
    PERCENT,
    PLAIN,
    SYMBOL_PATTERNS,
    TRUTH_WORDS,
    TRUTHS,
    WHOLE,
    WITH_DECIMAL_COMMAS,
    WITH_THOUSANDS,
    NumberFormat,
    is_text,
    null_likely_codes,
    parse_plain,
    strip_symbols_in_arrow,
    to_floats,
    trim_and_null,
)

MAJORITY = 0.5
"""A column of more numbers than this is one of numbers with something odd in it."""
MAX_CATEGORIES = 100
"""Different words of a column, up to which they are taken for categories."""
MAX_LABELS = 1000
"""Different words of a column that are kept at all: so many can be declared categories."""
MAX_EXAMPLES = 3
MIN_NONES = 10
"""Rows, from which on a word in a column is there on purpose."""
COMMA, POINT = ",", "."
WITHOUT_DOTS = r"^[+-]?\d*(,\d+)?([eE][+-]?\d+)?$"
WITH_NUMBERS = f"{WITH_THOUSANDS}|{WITH_DECIMAL_COMMAS}|{EUROPEAN}"


def _added(ours: Mapping[str, int], theirs: Mapping[str, int]) -> Mapping[str, int]:
    if not theirs:
        return ours
    return {word: ours.get(word, 0) + theirs.get(word, 0) for word in (*ours, *theirs)}


COUNTED = merged_by(_added)


@dataclass(frozen=True)
class CellSums(Sums):
    """The number of observed cells of a column, and how many fit each number format.

    Those of rows that follow each other add, in their order; no rows are neutral.
    """

    n_rows: int = 0
    known: int = 0
    plain: int = 0
    thousands: int = 0  # that are plain or have separators of thousands
    decimal_commas: int = 0  # that are plain or have a decimal comma
    truths: int = 0  # true, false, 0 or 1
    truth_words: int = 0
    dates: int = 0
    # Whether a reader of plain numbers and gaps reads all of them.
    as_they_stand: bool = field(default=True, metadata=ALL)
    # The first few different ones that are no numbers, and how often each is there.
    odd: Mapping[str, int] = field(default_factory=dict, metadata=COUNTED)
    first_odd: int | None = field(default=None, metadata=SHARED)  # the row of the first
    # The different cells, None if they are many.
    categories: frozenset[str] | None = field(default=frozenset(), metadata=SHARED)
    run: RowNumbering = field(default=RowNumbering(), metadata=merged_by(RowNumbering.then))
    typed: bool = field(default=True, metadata=ALL)  # the file itself says that all are numbers
    distinct: DistinctCount = DistinctCount()  # noqa: RUF009 - immutable
    long: int = 0  # that are whole numbers of more digits than floats have
    category: bool = field(default=False, metadata=ANY)  # as the table itself says
    # Of categories, if the table itself gives them one.
    order: tuple[str, ...] | None = field(default=None, metadata=SHARED)
    unworded: int = 0  # that came as numbers, so that no words of them are kept
    european: int = 0  # that have dots between thousands, or a decimal comma, or neither
    answers: int = 0  # yes or no
    # What numbers are dressed in, and how often.
    symbols: Mapping[str, int] = field(default_factory=dict, metadata=COUNTED)
    # Words that stand for a gap if all others are numbers, and how often each is there.
    suspects: Mapping[str, int] = field(default_factory=dict, metadata=COUNTED)
    # Words for gaps that are told apart from empty cells, and how often each is there.
    marked: Mapping[str, int] = field(default_factory=dict, metadata=COUNTED)
    # What stands before decimals, if people say so.
    decimal: str | None = field(default=None, metadata=merged_by(lambda one, other: one or other))
    undotted: int = 0  # numbers without a dot, counted if people say that commas stand there
    # In which all are dates, if that was asked.
    orders: frozenset[DateOrder] = field(default=frozenset(), metadata=SHARED)

    @classmethod
    def of_numbers(
        cls,
        values: Array,
        *,
        typed: bool = True,
        truths: bool = False,
        long: int = 0,
        decimal: str | None = None,
    ) -> Self:
        """Sums of floats with NaN in the gaps."""
        known = int((values == values).sum())
        return cls(
            n_rows=len(values),
            known=known,
            plain=known,
            thousands=known,
            decimal_commas=known,
            european=known,
            truths=known * truths,
            truth_words=known * truths,
            categories=None,
            run=RowNumbering.of(values),
            typed=typed,
            distinct=DistinctCount.of(np.asarray(values, dtype=float)),
            long=long,
            unworded=known,
            decimal=decimal,
        )

    @classmethod
    def of_text(cls, column: Any, gaps: MissingCodes) -> Self:
        """Sums of an Arrow column of text."""
        # 1.234 is more than a thousand where commas stand before decimals.
        values = None if gaps.decimal == COMMA else parse_plain(column, gaps)
        if values is not None:
            sums = cls.of_numbers(
                values, typed=False, long=count_long_integers(column, values), decimal=gaps.decimal
            )
            words = _few_in(column)
            truths = words is not None and words <= {"0", "1"}
            return replace(sums, categories=words, truths=sums.known * truths, unworded=0)
        cells, marked = trim_and_null(column, gaps), _marked(column, gaps)
        counted = _ValueCounts.of(cells)
        known, suspects = len(cells) - cells.null_count, counted.suspects
        numbers = counted.without_symbols
        thousands, n_suspects = numbers.fitting(WITH_THOUSANDS), sum(suspects.values())
        first_odd, odd = _odd(cells) if thousands + n_suspects < known else (None, {})
        run, distinct = RowNumbering(len(cells), unbroken=False), DistinctCount(whole=False)
        if thousands == known - n_suspects:
            values = to_floats(cells, NumberFormat.THOUSANDS, gaps)
            run, distinct = RowNumbering.of(values), DistinctCount.of(values)
        return cls(
            n_rows=len(cells),
            known=known,
            plain=numbers.fitting(PLAIN),
            thousands=thousands,
            decimal_commas=numbers.fitting(WITH_DECIMAL_COMMAS),
            european=numbers.fitting(EUROPEAN),
            answers=counted.fitting(ANSWERS),
            symbols=counted.symbols,
            suspects=suspects,
            marked=marked,
            truths=counted.fitting(TRUTHS),
            truth_words=counted.fitting(TRUTH_WORDS),
            dates=counted.fitting(DATES),
            decimal=gaps.decimal,
            undotted=numbers.fitting(WITHOUT_DOTS) if gaps.decimal == COMMA else 0,
            orders=orders_of(counted.values) if gaps.dates else frozenset(),
            as_they_stand=False,
            odd=odd,
            first_odd=first_odd,
            categories=labels_if_few(counted.cells.to_pylist()),
            run=run,
            typed=False,
            distinct=distinct,
        )

    def __add__(self, other: Self) -> Self:
        both, first = super().__add__(other), self.first_odd
        if first is None and other.first_odd is not None:
            first = self.n_rows + other.first_odd
        return replace(
            both,
            odd=dict(list(both.odd.items())[:MAX_EXAMPLES]),
            first_odd=first,
            categories=_joined(self, other),
            order=_order(self, other),
            orders=_orders(self, other),
        )

    @property
    def n_values(self) -> int:
        """The number of observed cells, without words that may stand for gaps."""
        return self.known - sum(self.suspects.values())

    @property
    def amounts(self) -> bool:
        """Whether cells have the symbols of one unit, such as a currency.

        Where most are limits they are categories, such as ``<18`` and ``>65``; percent signs are
        on all or none, and money is of one currency.
        """
        limits = self.symbols.get(BELOW, 0) + self.symbols.get(ABOVE, 0)
        alike = self.symbols.get(PERCENT, 0) in (0, self.n_values)
        one_money = sum(sign in self.symbols for sign in MONEY) <= 1
        return limits <= MAJORITY * self.n_values and alike and one_money

    @property
    def none_is_a_word(self) -> bool:
        """Whether None is a category rather than a gap.

        Whoever writes gaps as None writes all of them so. Where other cells are empty beside it,
        and no more of them, None is a word like others: 1,752 houses without a veneer of masonry,
        and 23 of which nobody knows.
        """
        nones = self.marked.get(NONE, 0)
        return nones >= MIN_NONES and 0 < self.n_rows - self.known - nones <= nones

    @property
    def writing(self) -> NumberFormat | None:
        """The number format of all cells; None if they are not all numbers."""
        if self.truths == self.known and self.truth_words and self.plain < self.known:
            return NumberFormat.TRUTHS
        if self.answers == self.known and self.known:
            return NumberFormat.ANSWERS
        n = self.n_values
        if (not n and self.known) or not self.amounts:
            return None
        fits = {
            NumberFormat.PLAIN: self.plain,
            NumberFormat.THOUSANDS: self.thousands,
            NumberFormat.DECIMAL_COMMAS: self.decimal_commas,
            NumberFormat.DOTS_AND_COMMAS: self.european,
        }
        if self.decimal == COMMA and not self.typed:
            if self.undotted == n and self.plain < n:
                return NumberFormat.DECIMAL_COMMAS
            if self.undotted < n and self.european == n:
                return NumberFormat.DOTS_AND_COMMAS
        if self.decimal == POINT:
            fits = {
                writing: fits[writing] for writing in (NumberFormat.PLAIN, NumberFormat.THOUSANDS)
            }
        return next((writing for writing, fitting in fits.items() if fitting == n), None)

    @property
    def either_comma(self) -> bool:
        """Whether commas may be decimal or thousands separators."""
        return self.plain < self.thousands == self.decimal_commas == self.n_values

    @property
    def settled(self) -> bool:
        """Whether further rows cannot change the decision."""
        if self.category and self.categories is not None:
            return False
        if self.writing is not None:
            return self.typed and not self.run.unbroken and self.distinct.settled
        return self.categories is None and self.thousands <= MAJORITY * self.known


@dataclass(frozen=True, eq=False)
class _ValueCounts:
    """Distinct cells and their counts, so that each pattern is tried once per value."""

    cells: Any
    counts: Any

    @classmethod
    def of(cls, cells: Any) -> Self:
        found = compute.value_counts(cells.drop_null())
        return cls(found.field("values"), found.field("counts"))

    @property
    def values(self) -> list[str]:
        """Distinct cells that are not gaps."""
        return [word for word in self.cells.to_pylist() if word.lower() not in LIKELY_CODES]

    def fitting(self, pattern: str) -> int:
        """The number of cells that match a pattern."""
        fits = compute.match_substring_regex(self.cells, pattern)
        return int(compute.sum(self.counts.filter(fits)).as_py() or 0)

    @property
    def without_symbols(self) -> "_ValueCounts":
        """The cells without symbols such as % or $."""
        return _ValueCounts(strip_symbols_in_arrow(self.cells), self.counts)

    @property
    def symbols(self) -> dict[str, int]:
        """The symbols, with their counts."""
        if not self.fitting(ANY_SYMBOL):
            return {}
        numbers = self._those(WITH_NUMBERS, strip_symbols_in_arrow(self.cells))
        found = {symbol: numbers.fitting(pattern) for symbol, pattern in SYMBOL_PATTERNS.items()}
        return {symbol: count for symbol, count in found.items() if count}

    def _those(self, pattern: str, like: Any) -> "_ValueCounts":
        fits = compute.match_substring_regex(like, pattern)
        return _ValueCounts(self.cells.filter(fits), self.counts.filter(fits))

    @property
    def suspects(self) -> dict[str, int]:
        """Words that may stand for gaps, with their counts."""
        words = pa.array(sorted(LIKELY_CODES), pa.string())
        found = compute.is_in(compute.utf8_lower(self.cells), value_set=words)
        pairs = zip(self.cells.filter(found), self.counts.filter(found), strict=True)
        return {word.as_py(): count.as_py() for word, count in pairs}


def count_long_integers(column: Any, values: Array) -> int:
    """The number of whole numbers of an Arrow column that floats cannot represent.

    Amounts as large as that are written with an exponent, or come as floats.
    """
    beyond = np.abs(values) >= MAX_EXACT_INTEGER
    if not beyond.any() or pa.types.is_floating(column.type):
        return 0
    if not is_text(column.type):
        return int(beyond.sum())
    digits = compute.match_substring_regex(compute.utf8_trim_whitespace(column), WHOLE)
    return int((beyond & compute.fill_null(digits, False).to_numpy(zero_copy_only=False)).sum())


def _odd(cells: Any) -> tuple[int, dict[str, int]]:
    """The first row without a number, and the first distinct cells of such rows."""
    bare = strip_symbols_in_arrow(null_likely_codes(cells))
    fits = compute.fill_null(compute.match_substring_regex(bare, WITH_THOUSANDS), True)
    odd = compute.value_counts(cells.filter(compute.invert(fits)))[:MAX_EXAMPLES]
    counted = {one["values"]: one["counts"] for one in odd.to_pylist()}
    return int(compute.index(fits, False).as_py()), counted


def _marked(column: Any, gaps: MissingCodes) -> dict[str, int]:
    """Counts of words for gaps other than empty cells."""
    cells = compute.utf8_trim_whitespace(column.cast(pa.string()))
    counts = {word: compute.sum(compute.equal(cells, word)).as_py() or 0 for word in COUNTED_CODES}
    counts |= dict.fromkeys(set(counts) & set(gaps.missing_values) - set(REPORTED_CODES), 0)
    return {word: int(count) for word, count in counts.items() if count}


def _orders(ours: CellSums, theirs: CellSums) -> frozenset[DateOrder]:
    if not (ours.n_values and theirs.n_values):
        return ours.orders | theirs.orders
    return ours.orders & theirs.orders


def labels_if_few(cells: Iterable[str]) -> frozenset[str] | None:
    """The distinct cells; None if there are too many for categories."""
    different = frozenset(cells)
    return different if len(different) <= MAX_LABELS else None


def _few_in(column: Any) -> frozenset[str] | None:
    different = compute.unique(column).drop_null()
    return (
        labels_if_few(map(str.strip, different.to_pylist()))
        if len(different) <= MAX_LABELS
        else None
    )


def _joined(ours: CellSums, theirs: CellSums) -> frozenset[str] | None:
    """The distinct cells of both; None if there are too many."""
    known = [sums.categories for sums in (ours, theirs) if sums.known]
    if any(categories is None for categories in known):
        return None
    return labels_if_few(cell for categories in known if categories for cell in categories)


def _order(ours: CellSums, theirs: CellSums) -> tuple[str, ...] | None:
    """The order of first occurrence; None if unknown."""
    orders = [sums.order for sums in (ours, theirs) if sums.known or sums.order is not None]
    if not orders or any(order is None for order in orders):
        return None
    return tuple(dict.fromkeys(word for order in orders if order for word in order))
