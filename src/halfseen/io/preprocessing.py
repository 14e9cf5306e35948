"""What was done to a table's columns before a model was fitted to them, and how it is undone."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.column_moments import ValueSums
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.data.messages import leave_out
from halfseen.data.rows import Block, Rows

DIGITS = 12
"""Of values that come back from another scale; the others are noise of arithmetic."""


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """Logarithms, shifts and scales of columns: ``(log x - centre) / scale``.

    A model that was fitted to such columns keeps this as ``preprocessing_``, in its file too. Its
    methods take what its ``fit`` took, so a table in its own units goes through :meth:`apply`
    first, and what comes out is put back into units by :meth:`undo`. The fitted columns have names
    of their own, such as ``standardised(log(lactate))``, so that a data frame that was not
    preprocessed is refused and not misread.

    Attributes
    ----------
    columns : tuple of str
        The columns' own names, in the order of the model.
    logged : ndarray of bool of shape (d,)
        Which columns are replaced by their natural logarithms.
    centre, scale : ndarray of shape (d,)
        What is then taken off each, and what it is divided by.
    missing_values : tuple of str
        Cells that stood for a gap in the file.
    whole : ndarray of bool of shape (d,) or None
        Which columns held whole numbers only, in their own units; None if that is not known.
    dates : str
        The day from which dates were counted; empty if they were not.
    absent_as_zero : tuple of str
        Columns in which a gap meant nought.
    decimal : str
        What stood before decimals, if people said so.
    """

    columns: tuple[str, ...]
    logged: np.ndarray[Any, Any]
    centre: Array
    scale: Array
    missing_values: tuple[str, ...] = ()
    whole: np.ndarray[Any, Any] | None = None
    dates: str = ""
    absent_as_zero: tuple[str, ...] = ()
    decimal: str = ""

    def __post_init__(self) -> None:
        shape = (len(self.columns),)
        if not shape == self.logged.shape == self.centre.shape == self.scale.shape:
            raise ValueError("its preprocessing is not of as many columns as it names")
        if self.logged.dtype != bool or not (self.scale > 0).all():
            raise ValueError("its preprocessing cannot be undone")
        if self.whole is not None and (self.whole.shape != shape or self.whole.dtype != bool):
            raise ValueError("its preprocessing does not say of each column whether it is whole")
        words = (self.dates, self.decimal, *self.absent_as_zero)
        if not all(isinstance(word, str) for word in words):
            raise ValueError("its preprocessing does not say how cells are read")

    @classmethod
    def learn(
        cls,
        columns: Sequence[str],
        table: Array,
        *,
        log: Sequence[str] = (),
        standardise: bool = False,
        missing_values: Sequence[str] = (),
    ) -> Self:
        """The preprocessing of a ``table`` (n, d) whose columns all vary.

        Examples
        --------
        >>> import numpy as np
        >>> table = np.array([[1.0, 10.0], [np.e, np.nan], [np.e**2, 30.0]])
        >>> done = Preprocessing.learn(["crp", "age"], table, log=["crp"], standardise=True)
        >>> done.fitted_names
        ['standardised(log(crp))', 'standardised(age)']
        >>> done.apply(table).round(2)
        array([[-1.22, -1.  ],
               [ 0.  ,   nan],
               [ 1.22,  1.  ]])
        >>> done.undo(done.apply(table)).round(1)
        array([[ 1. , 10. ],
               [ 2.7,  nan],
               [ 7.4, 30. ]])
        """
        rows = MemoryRows(np.asarray(table), tuple(columns))
        return cls.learn_from(rows, log=log, standardise=standardise, missing_values=missing_values)

    @classmethod
    def learn_from(
        cls,
        rows: Rows,
        *,
        log: Sequence[str] = (),
        standardise: bool = False,
        missing_values: Sequence[str] = (),
        whole: Mask | None = None,
        measured: Mask | None = None,
    ) -> Self:
        """The preprocessing of rows whose features all vary, wherever they are, in one pass.

        Only features that are ``measured`` (d,) are standardised: codes stay codes.
        """
        names, d = rows.names, len(rows.names)
        logged = np.isin(list(names), list(log))
        centre, scale = np.zeros(d), np.ones(d)
        if logged.any() or standardise:
            sums = rows.accumulate(ValueSums.logging(logged))
            if sums.n_without.any():
                raise _no_logarithms(names, sums.n_without, sums.smallest)
            moved = np.full(d, standardise) if measured is None else measured & standardise
            centre, scale = np.where(moved, sums.mean, 0.0), np.where(moved, sums.spread, 1.0)
            _check_scale(names, scale)
        return cls(names, logged, centre, scale, tuple(missing_values), whole)

    @property
    def changes(self) -> bool:
        """Whether any value is changed."""
        return bool(self.logged.any() or self.centre.any() or (self.scale != 1).any())

    @property
    def says(self) -> bool:
        """Whether cells are read in a special way."""
        said = (self.missing_values, self.dates, self.absent_as_zero, self.decimal)
        return any(map(bool, said))

    @property
    def fitted_names(self) -> list[str]:
        """The names of the columns of the model."""
        moved = (self.centre != 0) | (self.scale != 1)
        names = []
        for name, log, move in zip(self.columns, self.logged, moved, strict=True):
            inner = f"log({name})" if log else name
            names.append(f"standardised({inner})" if move else inner)
        return names

    def apply(self, table: Array) -> Array:
        """A table (n, d) on the scales of the model."""
        table = np.asarray(table, dtype=float)
        values = _logarithms(self.columns, table, ~np.isnan(table), self.logged)
        done: Array = (values - self.centre) / self.scale
        return np.where(np.isnan(table), np.nan, done)

    def rows(self, rows: Rows) -> Rows:
        """Rows on the scales of the model."""
        if not self.changes:
            return rows
        scaling = _Scaling(self.columns, self.logged, self.centre, self.scale)
        return rows.map(scaling, names=self.fitted_names, acts_on="columns", dense=True)

    def undo(self, table: Array) -> Array:
        """A table (n, d) of the model in original units.

        What is an average of logarithms comes back as a geometric mean.
        """
        values: Array = table * self.scale + self.centre
        with np.errstate(over="ignore"):
            return np.where(self.logged, np.exp(np.where(self.logged, values, 0.0)), values)

    def filled(self, table: Array, *, possible: bool) -> Array:
        """Fills (n, d) of the model in original units, without rounding noise.

        A value of 0.5 that went to another scale comes back as 0.5 and not as 0.49999999999999994.
        With ``possible`` columns of whole numbers get whole numbers.
        """
        size = np.where(self.logged, 1.0, np.maximum(np.abs(self.centre), self.scale))
        values = self.undo(table)
        sizes = np.where(self.logged, np.abs(values), size)
        values = _to_digits(values, sizes, DIGITS)
        if not possible or self.whole is None:
            return values
        return np.where(self.whole, np.round(values), values)

    def undo_spread(self, table: Array, spread: Array) -> Array:
        """Standard deviations (n, d) about the model's values ``table`` (n, d), in own units.

        Those of a column on a log scale are of the log-normal distribution.
        """
        done: Array = spread * self.scale
        with np.errstate(over="ignore", invalid="ignore"):
            variance = np.where(self.logged, done, 0.0) ** 2
            log_normal = self.undo(table) * np.exp(variance / 2) * np.sqrt(np.expm1(variance))
        return np.where(self.logged, log_normal, done)


def _to_digits(values: Array, sizes: Array, digits: int) -> Array:
    """Values rounded to that many digits, relative to given sizes."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        places = digits - 1 - np.floor(np.log10(sizes))
        unit = 10.0 ** np.clip(places, 0, 22)  # powers of ten that floats hold exactly
        rounded = np.round(values * unit) / unit
    fine = (places > 22) | ~np.isfinite(rounded)
    return np.where(fine, values, rounded)


def _check_scale(names: tuple[str, ...], scale: Array) -> None:
    wrong = np.flatnonzero(~((scale > 0) & np.isfinite(scale)))
    if len(wrong):
        raise DataError(
            f"{quoted(names, wrong)} cannot be divided by a standard deviation of "
            f"{scale[wrong[0]]:g}. Write it in a unit in which its values are neither huge nor "
            "tiny, or " + leave_out([names[i] for i in wrong]) + "."
        )


@dataclass(frozen=True, eq=False)
class _Scaling:
    """Puts blocks of rows on the scales of the model: ``(log x - centre) / scale``."""

    names: Sequence[str]  # of the features in their own units
    logged: Mask
    centre: Array
    scale: Array

    def __call__(self, block: Block) -> Block:
        values = _logarithms(self.names, block.values, block.observed, self.logged)
        scaled = np.where(block.observed, (values - self.centre) / self.scale, 0.0)
        return Block(scaled, block.observed, block.weights, block.start, block.sequence)

    def select(self, features: Mask) -> "_Scaling":
        """The same for only some of the features."""
        names = tuple(compress(self.names, features.tolist()))
        return _Scaling(names, self.logged[features], self.centre[features], self.scale[features])


def _logarithms(names: Sequence[str], values: Array, observed: Mask, logged: Mask) -> Array:
    """Values (n, d) with natural logarithms of some features; refused if they have none."""
    if not logged.any():
        return values
    wrong = logged & observed & (values <= 0)
    if wrong.any():
        smallest = np.where(wrong, values, np.inf).min(axis=0, initial=np.inf)
        raise _no_logarithms(names, wrong.sum(axis=0), smallest)
    return np.where(logged, np.log(np.where(logged & observed, values, 1.0)), values)


def _no_logarithms(names: Sequence[str], n_wrong: NDArray[Any], smallest: Array) -> DataError:
    """The message on features with ``n_wrong`` (d,) values that are not positive."""
    wrong = np.flatnonzero(n_wrong)
    first = wrong[0]
    return DataError(
        f"{quoted(names, wrong)} cannot be put on a log scale: {n_wrong[first]:,} values of "
        f"'{names[first]}' are not above zero (the smallest is {smallest[first]:g}). Leave "
        f"{'it' if len(wrong) == 1 else 'them'} out of the logarithms, or mark such values as "
        "missing."
    )
