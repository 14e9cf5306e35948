"""Columns of data frames, matched to a model's features by name."""

from collections import Counter
from typing import Any

import narwhals as nw
from narwhals.exceptions import DuplicateError

from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted


def in_fitted_order(estimator: Any, X: Any) -> Any:
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
    return _taken(X, list(fitted))


def in_order_of(X: Any, frame: Any) -> Any:
    """``frame`` with its columns in the order of those of ``X``, which are the same."""
    names = column_names(X)
    return frame if names == column_names(frame) else _taken(frame, names)


def column_names(X: Any) -> list[Any]:
    """The names of a data frame's columns; none if it is no data frame."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError:  # which pandas and Arrow allow
        return list(getattr(X, "column_names", X.columns))
    if isinstance(frame, nw.LazyFrame):  # one of Dask's
        return list(frame.collect_schema())
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else []


def repeated(names: list[Any]) -> list[str]:
    """The names that stand there several times."""
    return [str(name) for name, times in Counter(names).items() if times > 1]


def _taken(X: Any, names: list[Any]) -> Any:
    return nw.from_native(X).select(nw.col(*names)).to_native()


def check_names(names: list[str], fitted: list[str], preprocessed: bool = False) -> None:
    """Refuse columns that are not the fitted ones, whatever their order."""
    given, wanted = Counter(names), Counter(fitted)
    faults = {
        "lack": list(wanted - given),
        "have": [name for name in given if name not in wanted],
        "repeat": [name for name in given - wanted if name in wanted],
    }
    told = [f"{verb} {quoted(who, range(len(who)))}" for verb, who in faults.items() if who]
    if told:
        raise DataError(
            "The table's columns do not fit the model. Compared with the columns it was fitted to, "
            f"they {' and '.join(told)}. Give the {len(fitted)} columns of feature_names_in_, in "
            "any order, and no others."
            + preprocessed
            * " They are preprocessed: preprocessing_.apply makes them of numbers."
        )
