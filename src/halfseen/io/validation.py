"""From what users hand over to a table of floats in which NaN marks the gaps."""

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from halfseen.data.arrays import Array
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted


class FloatTable(NamedTuple):
    """Rows as floats, with the names of their columns if they have any."""

    values: np.ndarray[Any, Any]  # (n, d), NaN marks the gaps; float32 stays as it is
    names: tuple[str, ...] | None


def listener(name: str = "Estimator") -> Any:
    """Somebody who hears from scikit-learn's checks what columns are called; errors have its name.

    The checks write on whom they are given, and estimators set their own attributes.
    """
    return type(name, (BaseEstimator,), {})()


def names_heard(heard: Any) -> tuple[str, ...] | None:
    """The names of columns that somebody has heard of."""
    names = getattr(heard, "feature_names_in_", None)
    return None if names is None else tuple(names)


def read_table(X: Any, name: str = "Estimator", fewest_rows: int = 1) -> FloatTable:
    """The rows to learn from, of an array, a data frame or an Arrow batch."""
    heard = listener(name)
    table = _floats(heard, arrow_batch_as_table(X), reset=True, fewest_rows=fewest_rows)
    return FloatTable(table, names_heard(heard))


def read_batch(X: Any) -> FloatTable:
    """Some rows of a table; there may be none."""
    return read_table(X, fewest_rows=0)


def read_more(estimator: Any, X: Any) -> np.ndarray[Any, Any]:
    """Another batch of rows to learn from, which must have the columns of those before."""
    return _floats(estimator, X, reset=False)


def read_new_table(estimator: Any, X: Any) -> np.ndarray[Any, Any]:
    """A float table (n, d) for a fitted estimator."""
    check_is_fitted(estimator)
    return _floats(estimator, reorder_as_fitted(estimator, X), reset=False)


def arrow_batch_as_table(X: Any) -> Any:
    """One of Arrow's batches as a table, which scikit-learn knows to have names."""
    return pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X


def _floats(estimator: Any, X: Any, *, reset: bool, fewest_rows: int = 1) -> np.ndarray[Any, Any]:
    X = decode_dictionaries(check_in_memory(X))
    try:
        if has_dates(X):
            raise TypeError("dates are no numbers")
        with _ignore_missing_names() if hasattr(estimator, "_words_given") else nullcontext():
            table: np.ndarray[Any, Any] = validate_data(
                estimator,
                X,
                reset=reset,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=fewest_rows,
            )
    except OverflowError as error:
        raise DataError(
            "The table holds a whole number that is too large for a float. Leave out identifiers, "
            "and write amounts in a larger unit."
        ) from error
    except (TypeError, ValueError) as error:
        names = non_numeric_names(X)
        if not names:
            raise
        raise DataError(
            f"{quoted(names)} cannot be read as numbers. Leave out columns of "
            "text and dates, or code them as numbers."
        ) from error
    return table


@contextmanager
def _ignore_missing_names() -> Iterator[None]:
    """Silence scikit-learn where names were given as a vocabulary, beside the table."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


def non_numeric_names(X: Any) -> list[str]:
    """The columns of a data frame that do not hold numbers."""
    return [str(name) for name in column_names(X) if not _is_numeric(X[name])]


def _is_numeric(column: Any) -> bool:
    if str(getattr(column, "dtype", "")).startswith("str"):  # whose gaps are no NaN in a frame
        return _all_numbers(column)
    try:
        np.asarray(column, dtype=float)
    except (TypeError, ValueError):
        return False
    return np.asarray(column).dtype.kind not in "mM"  # dates are numbers only to computers


def _all_numbers(texts: Any) -> bool:
    try:
        return bool(np.isfinite(np.asarray(texts, dtype=float)).all())
    except (TypeError, ValueError):
        return False


def feature_names(estimator: Any) -> tuple[str, ...]:
    """The columns' names, or their numbers where they have none."""
    names = getattr(estimator, "feature_names_in_", range(estimator.n_features_in_))
    return tuple(str(name) for name in names)


def memory_rows(table: np.ndarray[Any, Any]) -> MemoryRows:
    """The rows of a table (n, d)."""
    return MemoryRows(table, tuple(map(str, range(table.shape[1]))))


NO_DATES = "Leave out dates and times, or turn them into numbers such as days since a start."

NO_COMPLEX = "Complex data not supported."  # in scikit-learn's words, without the table itself


def check_in_memory(X: Any) -> Any:
    """``X`` with NaN for what is masked; refused if it is not a table of numbers in memory."""
    masked = _masked(X)
    if masked is not None:
        return _opened(masked)
    if isinstance(X, np.ndarray):
        _check_numbers(X)
        return X
    _check_frame(X)
    if isinstance(X, list | tuple):
        _check_numbers(_array(X))
    return X


def decode_dictionaries(X: Any) -> Any:
    """An Arrow table whose columns hold values and not their places among those that there are.

    As an array, a gap among places would be the last of the values.
    """
    if not isinstance(X, pa.Table):
        return X
    for place, field in enumerate(X.schema):
        if pa.types.is_dictionary(field.type):
            values = X.column(place).cast(field.type.value_type)
            X = X.set_column(place, field.name, values)
    return X


def _masked(X: Any) -> Any:
    """A masked array, also if it is given row by row; None if nothing is masked."""
    if isinstance(X, np.ma.MaskedArray):
        return X
    by_rows = isinstance(X, list | tuple) and any(isinstance(x, np.ma.MaskedArray) for x in X)
    return np.ma.array(list(X)) if by_rows else None


def _opened(X: Any) -> np.ndarray[Any, Any]:
    _check_numbers(X.data)
    if X.dtype.kind not in "biuf":
        return np.asarray(X.astype(object).filled(np.nan))
    single = X.dtype.kind == "f" and X.dtype.itemsize <= 4
    return np.asarray(X.astype(np.float32 if single else np.float64).filled(np.nan))


def _check_numbers(X: np.ndarray[Any, Any] | None) -> None:
    if X is not None and X.dtype.kind == "c":
        raise DataError(
            f"{NO_COMPLEX} The table holds {X.dtype}. Give the parts of each as columns."
        )
    if X is not None and X.dtype.kind in "mM":
        raise DataError(f"The table holds {X.dtype}, not numbers. {NO_DATES}")


def _array(X: Any) -> np.ndarray[Any, Any] | None:
    try:
        return np.asarray(X)
    except (TypeError, ValueError, OverflowError):
        return None  # which scikit-learn refuses


def _check_frame(X: Any) -> None:
    """Refuse frames that are not in memory, have a name twice, or hold dates."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError as error:
        twice = duplicated_names(column_names(X))
        raise DataError(
            f"The data frame has several columns named {quoted(twice)}. Give each its own name."
        ) from error
    if isinstance(frame, nw.LazyFrame):
        raise DataError(
            f"A {type(X).__name__} holds no rows yet, and a fit goes through them several times. "
            "Call its collect() first, or write it to a Parquet file and give that."
        )


def has_dates(X: Any) -> bool:
    """Whether a column of a data frame holds dates or times, which NumPy would take for numbers."""
    frame = nw.from_native(X, pass_through=True)
    kinds = frame.schema.values() if isinstance(frame, nw.DataFrame) else ()
    return any(kind.is_temporal() for kind in kinds)


def reorder_as_fitted(estimator: Any, X: Any) -> Any:
    """A data frame with the columns in the order of the fit, if the model goes by name.

    Models from files do: the tables they meet come from elsewhere. Models just fitted leave names
    to scikit-learn, whose contract is that another order is refused.
    """
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is None or not getattr(estimator, "columns_by_name_", False):
        return X
    names = column_names(X) or list(fitted)
    if names == list(fitted) or not all(isinstance(name, str) for name in names):
        return X
    check_names(names, list(fitted), estimator.preprocessing_ is not None)
    return _select(X, list(fitted))


def reorder_like(X: Any, frame: Any) -> Any:
    """``frame`` with its columns in the order of those of ``X``, which are the same."""
    names = column_names(X)
    return frame if names == column_names(frame) else _select(frame, names)


def column_names(X: Any) -> list[Any]:
    """The names of a data frame's columns; none if it is no data frame."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError:  # which pandas and Arrow allow
        return list(getattr(X, "column_names", X.columns))
    if isinstance(frame, nw.LazyFrame):  # one of Dask's
        return list(frame.collect_schema())
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else []


def duplicated_names(names: list[Any]) -> list[str]:
    """The names that stand there several times."""
    return [str(name) for name, times in Counter(names).items() if times > 1]


def _select(X: Any, names: list[Any]) -> Any:
    return nw.from_native(X).select(nw.col(*names)).to_native()


def check_names(names: list[str], fitted: list[str], preprocessed: bool = False) -> None:
    """Refuse columns that are not the fitted ones, whatever their order."""
    given, wanted = Counter(names), Counter(fitted)
    faults = {
        "lack": list(wanted - given),
        "have": [name for name in given if name not in wanted],
        "repeat": [name for name in given - wanted if name in wanted],
    }
    told = [f"{verb} {quoted(who)}" for verb, who in faults.items() if who]
    if told:
        raise DataError(
            "The table's columns do not fit the model. Compared with the columns it was fitted to, "
            f"they {' and '.join(told)}. Give the {len(fitted)} columns of feature_names_in_, in "
            "any order, and no others."
            + preprocessed
            * " They are preprocessed: preprocessing_.apply makes them of numbers."
        )


MAX_TOTAL_WEIGHT = 1e18
MIN_OTHER_WEIGHT = 1e-12
"""Of all weight, that must be on more than one row."""


def check_sample_weight(name: str, sample_weight: Any, n_rows: int) -> Array | None:
    """Checked weights (n,), or None if every row counts once; ``name`` is the estimator's."""
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError(
            f"The 'sample_weight' of {name}.fit is masked in some rows. Give these rows a weight "
            "too: 0 leaves them out."
        )
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"The 'sample_weight' of {name}.fit must hold one number a row, {n_rows} in all. "
            f"Got an array of shape {weights.shape} instead."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError(
            f"The 'sample_weight' of {name}.fit must hold finite numbers of at least zero, not all "
            "zero. Repeat a row by giving it a weight of 2; leave it out with 0."
        )
    with np.errstate(over="ignore"):
        total, most = float(weights.sum()), float(weights.max())
    if total > MAX_TOTAL_WEIGHT:
        raise ValueError(
            f"The 'sample_weight' of {name}.fit sums to {total:.3g}, as if there were so many "
            f"rows, and can be {MAX_TOTAL_WEIGHT:g} at most. Divide the weights by their mean."
        )
    if most > (1 - MIN_OTHER_WEIGHT) * total and np.count_nonzero(weights) > 1:
        raise ValueError(
            f"The 'sample_weight' of {name}.fit gives row {int(weights.argmax())} a weight of "
            f"{most:.3g}, beside which all others together count for nothing. Give it a weight "
            "like theirs, or leave it out with 0."
        )
    return weights
