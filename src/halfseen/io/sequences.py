"""Tables whose rows follow each other: which row is of which sequence, and in which order."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.errors import DataError
from halfseen.data.messages import parameter, setting
from halfseen.data.sequences import Numbers, Sequences

ROWS_A_BATCH = 1 << 14
STEP_TOLERANCE = 1e-6
"""Of a step: rows that far apart are at the same place."""
MAX_GRID_RATIO = 20
"""Rows of a grid for each that was given: more, and the step is a mistake."""


@dataclass(frozen=True, eq=False)
class Sequenced:
    """A table with the sequence of each row.

    By the ``lengths`` of sequences that lie one after the other, or by the columns ``sequence`` and
    ``order``: their names, or labels and numbers for each row. Without any, all rows are one
    sequence. With a ``step`` rows are put on a regular grid, on which those between are missing.
    Rows of ``single`` have no neighbours.
    """

    table: Any
    lengths: Any = None
    sequence: Any = None
    order: Any = None
    step: float | None = None
    single: Any = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Key columns, which are no features."""
        return tuple(key for key in (self.sequence, self.order) if isinstance(key, str))


class Keys(NamedTuple):
    """The sequence and the order of each row."""

    label: NDArray[Any] | None  # (n,)  of its sequence
    order: NDArray[Any] | None  # (n,)


class Arrangement(NamedTuple):
    """Rows arranged in sequences."""

    lengths: Numbers  # (s,)
    place: Numbers | None  # (n,)  of each row as given; None if they stay as they are

    @property
    def sequences(self) -> Sequences:
        """As engines know them."""
        return Sequences.of_lengths(self.lengths, self.place)

    def table(self, given: NDArray[Any]) -> NDArray[Any]:
        """A table (n, d) in the order of sequences, with gaps for missing steps."""
        if self.place is None:
            return given
        every = np.full((int(self.lengths.sum()), given.shape[1]), np.nan, dtype=given.dtype)
        every[self.place] = given
        return every


def arrange(given: Sequenced, keys: Keys, n_rows: int, n_single: int = 0) -> Arrangement:
    """Where ``n_rows`` rows belong, the last ``n_single`` of them having no neighbours."""
    n = n_rows - n_single
    alone = np.ones(n_single, dtype=np.int64)
    if given.lengths is not None:
        if keys.label is not None or keys.order is not None:
            raise ValueError("Give lengths, or sequence and order, not both.")
        found = Arrangement(_lengths(given.lengths, n), None)
    elif keys.label is None and keys.order is None:
        found = Arrangement(np.array([n], dtype=np.int64), None)
    else:
        found = _sorted(keys, n, given.step)
    if not n_single:
        return found
    place = found.place
    if place is not None:
        place = np.concatenate([place, int(found.lengths.sum()) + np.arange(n_single)])
    return Arrangement(np.concatenate([found.lengths, alone]), place)


def _lengths(lengths: Any, n: int) -> Numbers:
    found = np.asarray(lengths)
    whole = found.ndim == 1 and found.dtype.kind in "iu" and bool((found > 0).all())
    if not whole or int(found.sum()) != n:
        said = f"{found.sum()}" if whole else repr(lengths)[:60]
        raise ValueError(
            f"lengths must be whole numbers above 0 that sum to the {n} rows of X. Got {said} "
            "instead."
        )
    return found.astype(np.int64)


def _sorted(keys: Keys, n: int, step: Any) -> Arrangement:
    codes = np.zeros(n, dtype=np.int64) if keys.label is None else _codes(keys.label, n)
    order = np.arange(n, dtype=float) if keys.order is None else _numbers(keys.order, n)
    by = np.lexsort((order, codes))
    same = np.diff(codes[by]) == 0
    if keys.order is not None:
        order = _grid_places(order, by, same, step)
    elif step is not None:
        raise ValueError(
            "step is that of the order of rows. Give " + parameter("order", "order=") + " too."
        )
    at = order[by] - np.repeat(order[by][_begins(same)], _runs(same)) if step is not None else None
    if at is None:
        place = np.empty(n, dtype=np.int64)
        place[by] = np.arange(n)
        lengths = _runs(same)
    else:
        last = np.append(~same, True)
        lengths = (at[last] + 1).astype(np.int64)
        if lengths.sum() > MAX_GRID_RATIO * n:
            raise DataError(
                f"A grid of step {step:g} has {int(lengths.sum()):,} rows for {n:,} that were "
                "given. Use a larger step."
            )
        before = np.repeat(np.cumsum(lengths) - lengths, _runs(same))
        place = np.empty(n, dtype=np.int64)
        place[by] = before + at.astype(np.int64)
    as_they_are = int(lengths.sum()) == n and bool((place == np.arange(n)).all())
    return Arrangement(lengths, None if as_they_are else place)


def _begins(same: NDArray[np.bool_]) -> NDArray[np.intp]:
    return np.append(0, np.flatnonzero(~same) + 1)


def _runs(same: NDArray[np.bool_]) -> Numbers:
    """The lengths of sequences, from whether each row is of the same one as the row before."""
    return np.diff(np.append(_begins(same), len(same) + 1)).astype(np.int64)


def _codes(labels: NDArray[Any], n: int) -> Numbers:
    if labels.shape != (n,):
        raise ValueError(
            f"sequence must hold a label for each of the {n} rows. Got an array of shape "
            f"{labels.shape} instead."
        )
    missing = [one is None or one != one for one in labels.tolist()]
    if any(missing):
        raise DataError(
            f"{sum(missing)} rows do not say which sequence they are of, row {missing.index(True)} "
            "first. Give rows without neighbours a label of their own."
        )
    plain = labels.astype(str) if labels.dtype == object else labels
    _, first, codes = np.unique(plain, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[codes.reshape(-1)]


def _numbers(order: NDArray[Any], n: int) -> Array:
    """Times as numbers: dates as days."""
    if order.shape != (n,):
        raise ValueError(
            f"order must hold a number for each of the {n} rows. Got an array of shape "
            f"{order.shape} instead."
        )
    try:
        if order.dtype == object and any(hasattr(one, "year") for one in order[:1]):
            order = order.astype("datetime64[ns]")
        if order.dtype.kind in "mM":
            missing, kind = np.isnat(order), order.dtype.kind
            order = order.astype(f"{kind}8[ns]")
            day = np.timedelta64(1, "D") / np.timedelta64(1, "ns")
            order = np.where(missing, np.nan, order.astype("int64") / day)
        numbers: Array = order.astype(float)
    except (TypeError, ValueError) as error:
        raise DataError(
            "The order of rows is neither numbers nor dates. Give a column that is."
        ) from error
    if not np.isfinite(numbers).all():
        first = int(np.argmin(np.isfinite(numbers)))
        raise DataError(
            f"{int((~np.isfinite(numbers)).sum())} rows do not say where in their sequence they "
            f"are, row {first} first. Fill in the order, or leave these rows out."
        )
    return numbers


def _grid_places(order: Array, by: NDArray[np.intp], same: NDArray[np.bool_], step: Any) -> Array:
    """Places of rows on a grid of steps, as whole numbers; refuse what fits none."""
    wrong_kind = isinstance(step, bool) or not isinstance(step, Real)
    if step is not None and (wrong_kind or not float(step) > 0):
        raise ValueError(f"step must be a number above 0, or None. Got {step!r} instead.")
    away = np.diff(order[by])[same]
    usual = float(np.median(away)) if step is None and len(away) else float(step or 1.0)
    at = order
    if step is not None:
        at = _places(order, by, same, usual)
        close = np.diff(at[by])[same] <= STEP_TOLERANCE
    else:
        close = away <= STEP_TOLERANCE * usual
    if close.any():
        wrong = int(by[np.flatnonzero(same)[np.argmax(close)]])
        raise DataError(
            f"Several rows of one sequence are at the same place, such as row {wrong} and one "
            f"after it. Join them, or use a smaller step{_smaller_step(order, by, same, usual)}."
            if step is not None
            else f"Several rows of one sequence have the same order, such as row {wrong} and one "
            "after it. Join them, or number them apart."
        )
    if step is None and len(away) and (np.abs(away - usual) > STEP_TOLERANCE * usual).any():
        fits = _separating_step(order, by, same, usual)
        raise DataError(
            f"The steps between rows are not alike: mostly {usual:g}, but from {away.min():g} to "
            f"{away.max():g}. Give "
            + setting(step=float(fits or usual))
            + ", or another, so that rows between count as missing, or leave out the order if rows "
            "lie in it and each is one step."
        )
    return at


def _places(order: Array, by: NDArray[np.intp], same: NDArray[np.bool_], step: float) -> Array:
    """The nearest places of rows on a grid that begins with their sequence."""
    relative = np.empty(len(order))
    relative[by] = order[by] - np.repeat(order[by][_begins(same)], _runs(same))
    return np.asarray(np.round(relative / step))


def _separating_step(
    order: Array, by: NDArray[np.intp], same: NDArray[np.bool_], most: float
) -> float | None:
    """The largest whole part of ``most`` at which no two rows share a place; None if none."""
    for parts in range(1, MAX_GRID_RATIO):
        step = float(f"{most / parts:.3g}")
        if (np.diff(_places(order, by, same, step)[by])[same] > STEP_TOLERANCE).all():
            return step
    return None


def _smaller_step(order: Array, by: NDArray[np.intp], same: NDArray[np.bool_], step: float) -> str:
    smaller = _separating_step(order, by, same, step)
    return "" if smaller is None else f", such as {smaller:g}"
