"""Several tables that become one: columns united by name, and made comparable."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any, Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.column_moments import TableSums
from halfseen.data.engines.batched import all_columns
from halfseen.data.errors import TablesWarning, warn
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import quoted
from halfseen.data.messages import setting
from halfseen.io.coding import COLUMN_KINDS
from halfseen.io.file_source import Affine, FileSource
from halfseen.io.files import CELL_OPTIONS, Files, paths_of


@dataclass(frozen=True, eq=False)
class KeptTables:
    """The tables that a model was learned from, where there were several.

    Attributes
    ----------
    names : tuple of str
        What the tables are called.
    n_rows : ndarray of shape (t,)
        Rows of each.
    columns : tuple of str
        The columns of all, in the order of the model.
    holds : ndarray of bool of shape (t, d)
        Which columns each table has.
    factor, shift : ndarray of shape (t, d)
        How a number of each table is made comparable: times the factor, and the shift more.
    """

    names: tuple[str, ...]
    n_rows: Array
    columns: tuple[str, ...]
    holds: Mask
    factor: Array
    shift: Array

    def __post_init__(self) -> None:
        shape = (len(self.names), len(self.columns))
        arrays = (self.holds, self.factor, self.shift)
        if self.n_rows.shape != shape[:1] or any(one.shape != shape for one in arrays):
            raise ValueError("its tables are not of as many rows and columns as they name")
        if self.holds.dtype != bool or not (self.factor > 0).all():
            raise ValueError("its tables have columns that cannot be adjusted")
        if not (np.isfinite(self.factor).all() and np.isfinite(self.shift).all()):
            raise ValueError("its tables have columns that cannot be adjusted")

    @classmethod
    def unadjusted(
        cls, names: tuple[str, ...], n_rows: Array, columns: tuple[str, ...], holds: Mask
    ) -> Self:
        """Tables whose numbers are as they are."""
        return cls(names, n_rows, columns, holds, np.ones(holds.shape), np.zeros(holds.shape))

    @classmethod
    def none(cls) -> Self:
        """No table that is known."""
        return cls.unadjusted((), np.zeros(0), (), np.zeros((0, 0), dtype=bool))

    @property
    def starts(self) -> Array:
        """Which row is the first of each table, and how many there are; (t + 1,)."""
        return np.concatenate([[0], np.cumsum(self.n_rows)])

    def undone(self, values: Array, first: int = 0) -> Array:
        """Comparable numbers (n, d) as their tables have them, from row ``first`` on."""
        rows = first + np.arange(len(values))
        table = np.searchsorted(self.starts[1:-1], rows, side="right")
        return np.asarray((values - self.shift[table]) / self.factor[table])

    @property
    def adjusted(self) -> bool:
        """Whether any number was moved."""
        return bool((self.factor != 1).any() or self.shift.any())


ADJUSTMENTS = ("location",)
MAX_TABLES_NAMED = 3


@dataclass(frozen=True, eq=False)
class Studies(Files):
    """Several tables, for whatever takes files: :func:`together` makes one of them."""

    path: Any = ()  # the files among the tables
    tables: tuple[Any, ...] = ()
    called: tuple[str, ...] = ()  # what people call each
    rename: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by table
    units: Mapping[str, Mapping[str, Affine]] = field(default_factory=dict)  # by table
    on: str | None = None
    adjust: str | None = None
    kept: KeptTables | None = None  # what a fit found of them

    @property
    def studies(self) -> "Studies":
        return self

    @property
    def name(self) -> str:
        if len(self.called) > MAX_TABLES_NAMED:
            return f"{len(self.called)} tables"
        *most, last = self.called
        return f"{', '.join(most)} and {last}" if most else last

    @property
    def single(self) -> Path:
        return Path()


def together(
    *tables: Any,
    names: Sequence[str] | None = None,
    rename: Mapping[str, Any] | None = None,
    units: Mapping[str, Mapping[str, Any]] | None = None,
    on: str | None = None,
    adjust: str | None = None,
) -> Studies:
    """Several studies as one table: rows of all of them, columns united by name.

    What a study did not measure is a gap in all of its rows. Whatever takes a table takes this:
    ``fit``, ``predict``, ``impute``, ``concerns``, ``report``. Concerns then compare what the
    studies share, and pages show components by study.

    Parameters
    ----------
    *tables : data frames, paths, Files, lists of batches, dask.dataframe
        The studies, each by itself whatever a table can be; mixed as they come.
    names : sequence of str or None, default=None
        What the studies are called. Files are called by their names, others by their numbers.
    rename : dict or None, default=None
        Columns that are called otherwise in some study: ``{"hr": "pulse"}`` wherever there is one,
        or by study, ``{"b.csv": {"hr": "pulse"}}``.
    units : dict or None, default=None
        By study, what columns (as they are called in the end) are multiplied by to be in the same
        unit, and what is added then: ``{"b.csv": {"glucose": 18.016, "degrees": (5 / 9, -17.8)}}``.
    on : str or None, default=None
        A column that says who a row is of, such as ``"patient"``: rows of several studies with the
        same value are one row. Tables are read into memory for it.
    adjust : {"location"} or None, default=None
        ``"location"`` moves and stretches shared columns of numbers in which studies differ to the
        mean and the spread that they have in the first study that has them; the model keeps by how
        much. It takes studies to have the components in like shares: where they do not, what is
        taken out is real.

    Returns
    -------
    Studies
        A table for every verb.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from halfseen import GaussianMixture, simulate, together
    >>> rng = np.random.default_rng(0)
    >>> X, _ = simulate.gaussian_mixture(900, [0.5, 0.5], [[0] * 5, [4] * 5], 1.0, rng)
    >>> small = pd.DataFrame(X[:300], columns=["age", "pulse", "crp", "lactate", "sodium"])
    >>> large = pd.DataFrame(X[300:, :3], columns=["age", "hr", "crp"])
    >>> both = together(small, large, rename={"hr": "pulse"})
    >>> mixture = GaussianMixture(2).fit(both)
    >>> [str(name) for name in mixture.feature_names_in_]
    ['age', 'pulse', 'crp', 'lactate', 'sodium']
    >>> mixture.observed_fraction_.round(2)
    array([1.  , 1.  , 1.  , 0.33, 0.33])
    >>> mixture.predict(both).shape
    (900,)
    """
    if not tables:
        raise ValueError("together() needs tables to put together. Give at least one.")
    called = _table_names(tables, names)
    if adjust is not None and adjust not in ADJUSTMENTS:
        raise ValueError(f"adjust must be 'location' or None. Got {adjust!r} instead.")
    return Studies(
        path=tuple(path for table in tables for path in paths_of(table)),
        tables=tables,
        called=called,
        rename=_renaming(rename or {}, called),
        units=_in_units(units or {}, called),
        on=on,
        adjust=adjust,
        dask=any(getattr(table, "dask", False) is True or is_dask(table) for table in tables),
        **_of_cells(tables),
    )


def _of_cells(tables: tuple[Any, ...]) -> dict[str, Any]:
    """What files say of their cells, which must be the same for all tables."""
    files = [table for table in tables if isinstance(table, Files)]
    said = {name: [v for one in files if (v := getattr(one, name))] for name in CELL_OPTIONS}
    for name, values in said.items():
        if any(value != values[0] for value in values):
            raise ValueError(
                f"{name} is {values[0]!r} in one table and {values[-1]!r} in another. Say the same "
                "of all."
            )
    return {name: values[0] for name, values in said.items() if values}


def is_dask(X: Any) -> bool:
    """Whether X is one of Dask's collections. Dask is not loaded to find out."""
    return type(X).__module__.partition(".")[0] == "dask"


def _table_names(tables: tuple[Any, ...], names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        found = [_own_name(table, number) for number, table in enumerate(tables, 1)]
        twice = {name for name, times in Counter(found).items() if times > 1}
        every = enumerate(zip(tables, found, strict=True), 1)
        return tuple(_longer(t, n, name) if name in twice else name for n, (t, name) in every)
    if len(names) != len(tables) or len(set(names)) < len(names) or isinstance(names, str):
        raise ValueError(
            f"names must be {len(tables)} different names, one for each table. Got {names!r} "
            "instead."
        )
    return tuple(map(str, names))


def _own_name(table: Any, number: int) -> str:
    if isinstance(table, str | Path | Files):
        files = table if isinstance(table, Files) else Files(table)
        return files.name
    return f"table {number}"


def _longer(table: Any, number: int, name: str) -> str:
    paths = paths_of(table)
    folder = Path(paths[0]).parent.name if paths else ""
    return f"{folder}/{name}" if folder else f"{name} ({number})"


def _renaming(given: Mapping[str, Any], called: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """New names by table; those of no table in particular under an empty name."""
    found: dict[str, dict[str, str]] = {}
    for key, value in given.items():
        if isinstance(value, str):
            found.setdefault("", {})[str(key)] = value
        elif isinstance(value, Mapping):
            _check_table("rename", key, called)
            found[key] = {str(old): str(new) for old, new in value.items()}
        else:
            raise ValueError(
                f"rename says that '{key}' becomes {value!r}. Give the new name of a column, or "
                "the new names by column for one table."
            )
    return found


def _in_units(
    given: Mapping[str, Mapping[str, Any]], called: tuple[str, ...]
) -> dict[str, dict[str, Affine]]:
    for key, columns in given.items():
        _check_table("units", key, called)
        if not isinstance(columns, Mapping):
            raise ValueError(
                f"units says {columns!r} of '{key}'. Give what to multiply by, for each column: "
                f"{{{key!r}: {{'glucose': 18.016}}}}."
            )
    return {
        key: {str(name): _affine(name, by) for name, by in columns.items()}
        for key, columns in given.items()
    }


def _affine(name: str, by: Any) -> Affine:
    pair = by if isinstance(by, tuple | list) else (by, 0.0)
    if len(pair) != 2 or not all(isinstance(one, Real) for one in pair) or not pair[0]:
        raise ValueError(
            f"units must say of '{name}' by which number it is multiplied, or that and what is "
            f"added. Got {by!r} instead."
        )
    return Affine(float(pair[0]), float(pair[1]))


def _check_table(what: str, key: Any, called: tuple[str, ...]) -> None:
    if key not in called:
        raise ValueError(
            f"{what} names '{key}', which is none of the tables. They are {quoted(called)}."
        )


FAMILYWISE_LEVEL = 0.05
"""That some column is moved although tables are alike."""
MIN_SHARED_COLUMNS, MOST_COLUMNS_FRACTION = 4, 0.5
"""Shared columns of which as many differ: it is rather people that do than instruments."""
MAX_CODE_RANGE = 20
"""Whole numbers between closer ends are codes or counts, and no measurements."""


def harmonise_tables(studies: Studies, source: FileSource) -> KeptTables:
    """What a fit keeps of tables: as they are, or made comparable, if that is asked for."""
    lengths = np.array(source.table_lengths, dtype=float)
    kept = KeptTables.unadjusted(source.table_names, lengths, source.names, source.table_holds)
    if studies.kept is not None:
        return _as_in_fit(kept, studies.kept)
    if studies.adjust is None:
        return kept
    rows = all_columns(source, memory=studies.memory)
    seen = rows.accumulate(FeatureSums.of)
    codes = _declared_codes(source) | (seen.whole & (seen.maximum - seen.minimum < MAX_CODE_RANGE))
    sums = rows.accumulate(TableSums.about(np.nan_to_num(seen.mean), kept.starts[:-1]))
    return _harmonised(kept, sums, ~codes)


def _as_in_fit(tables: KeptTables, before: KeptTables) -> KeptTables:
    """Tables moved as tables of the same names were in a fit."""
    new = [name for name in tables.names if name not in before.names]
    if new and before.adjusted:
        known = quoted(before.names)
        warn(
            f"{quoted(new)} {'is' if len(new) == 1 else 'are'} none of the tables "
            f"that were made comparable ({known}): numbers are taken as they are. Call a table by "
            "the name of its study, with names=.",
            TablesWarning,
        )
    factor, shift = np.ones(tables.holds.shape), np.zeros(tables.holds.shape)
    for own, name in enumerate(tables.names):
        for place, column in enumerate(tables.columns):
            if name in before.names and column in before.columns:
                there = before.names.index(name), before.columns.index(column)
                factor[own, place], shift[own, place] = before.factor[there], before.shift[there]
    return replace(tables, factor=factor, shift=shift)


def _declared_codes(source: FileSource) -> Mask:
    if source.coding is None:
        return np.zeros(len(source.names), dtype=bool)
    whole = [kind for kind, known in COLUMN_KINDS.items() if known.whole]
    return np.array([kind in whole for kind in source.coding.kinds])


def _harmonised(kept: KeptTables, sums: TableSums, measured: Mask) -> KeptTables:
    """``x' = m + (x - m_t) s / s_t`` in the columns in which tables differ.

    m and s are of the first table that has the column: it stays as it is. Where no difference of
    means, or of spreads, is found there is none to remove, and moving would only add noise.
    """
    there = sums.enough & measured
    level = FAMILYWISE_LEVEL / max(2 * int(np.count_nonzero(there.any(axis=0))), 1)
    shifted = sums.of_means.chance < level
    stretched = sums.of_spreads.chance < level
    compared = np.asarray(there.any(axis=0))
    _warn_of_most(shifted & compared, compared)
    first = there.argmax(axis=0)
    scale = np.where(
        there & stretched, _of_table(sums.spread, first) / _ones_elsewhere(sums.spread, there), 1.0
    )
    moved = there & (shifted | stretched)
    centre = np.where(shifted, _of_table(sums.mean, first), sums.mean)
    return replace(kept, factor=scale, shift=np.where(moved, centre - scale * sums.mean, 0.0))


def _warn_of_most(shifted: Mask, compared: Mask) -> None:
    """Warn if most columns differ: that is rather due to people than to instruments."""
    n_shifted, n = int(np.count_nonzero(shifted)), int(np.count_nonzero(compared))
    if n < MIN_SHARED_COLUMNS or n_shifted < MOST_COLUMNS_FRACTION * n:
        return
    warn(
        f"Tables differ in {n_shifted} of the {n} columns that they share, which is rather because "
        "they are of different people than because they measured differently: "
        + setting(adjust="location")
        + " takes such a difference out as well. Compare with a fit without it.",
        TablesWarning,
    )


def _of_table(values: Array, table: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Array:
    """The values (t, d) of one table for each column; (d,)."""
    return np.asarray(values[table, np.arange(len(table))])


def _ones_elsewhere(values: Array, there: Mask) -> Array:
    return np.where(there, values, 1.0)
