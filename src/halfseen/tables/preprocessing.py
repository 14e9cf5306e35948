"""What was done to a table's columns before a model was fitted to them, and how it is undone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted


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
    """

    columns: tuple[str, ...]
    logged: np.ndarray[Any, Any]
    centre: Array
    scale: Array
    missing_values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.columns),)
        if not shape == self.logged.shape == self.centre.shape == self.scale.shape:
            raise ValueError("its preprocessing is not of as many columns as it names")
        if self.logged.dtype != bool or not (self.scale > 0).all():
            raise ValueError("its preprocessing cannot be undone")

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
        logged = np.isin(list(columns), list(log))
        _check_logged(columns, table, logged)
        values = _log(table, logged)
        d = len(columns)
        centre = np.nanmean(values, axis=0) if standardise else np.zeros(d)
        scale = np.nanstd(values, axis=0) if standardise else np.ones(d)
        return cls(tuple(columns), logged, centre, scale, tuple(missing_values))

    @property
    def changes(self) -> bool:
        """Whether any value is changed."""
        return bool(self.logged.any() or self.centre.any() or (self.scale != 1).any())

    @property
    def fitted_names(self) -> list[str]:
        """The names of the columns that the model is fitted to."""
        moved = (self.centre != 0) | (self.scale != 1)
        names = []
        for name, log, move in zip(self.columns, self.logged, moved, strict=True):
            inner = f"log({name})" if log else name
            names.append(f"standardised({inner})" if move else inner)
        return names

    def apply(self, table: Array) -> Array:
        """The columns as the model takes them, of a table (n, d) in its own units."""
        _check_logged(self.columns, table, self.logged)
        done: Array = (_log(table, self.logged) - self.centre) / self.scale
        return done

    def undo(self, table: Array) -> Array:
        """A table (n, d) of the model in its own units.

        What is an average of logarithms comes back as a geometric mean.
        """
        values: Array = table * self.scale + self.centre
        with np.errstate(over="ignore"):
            return np.where(self.logged, np.exp(np.where(self.logged, values, 0.0)), values)


def _log(table: Array, logged: np.ndarray[Any, Any]) -> Array:
    return np.where(logged, np.log(np.where(logged, table, 1.0)), table)


def _check_logged(columns: Sequence[str], table: Array, logged: np.ndarray[Any, Any]) -> None:
    """Only numbers above zero have a logarithm."""
    wrong = np.flatnonzero(logged & (table <= 0).any(axis=0))
    if len(wrong):
        first = table[:, wrong[0]]
        raise DataError(
            f"{quoted(columns, wrong)} cannot be put on a log scale: "
            f"{np.count_nonzero(first <= 0):,} values of '{columns[wrong[0]]}' are not above zero "
            f"(the smallest is {np.nanmin(first):g}). Leave {'it' if len(wrong) == 1 else 'them'} "
            "out of the logarithms, or mark such values as missing."
        )
