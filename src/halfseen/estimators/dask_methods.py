"""Lazy methods for tables held by Dask."""

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from halfseen.io.coding import non_numeric_columns
from halfseen.io.containers import as_float_columns
from halfseen.io.dask_collections import Partitions, partitions_of
from halfseen.io.source import source_of
from halfseen.io.sparse_matrix import check_no_blocks_on_dask

E = TypeVar("E", bound=type)


def lazy_on_dask(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method return Dask collections for Dask collections.

    Each partition goes through the method itself, on a worker, so that it gives what it gives in
    memory: arrays become a ``dask.array``, data frames a ``dask.dataframe``.
    """

    @wraps(method)
    def either(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not source_of(X).delayed:
            return method(self, X, *args, **options)
        check_is_fitted(self)
        for option in (*args, *options.values()):
            check_no_blocks_on_dask(option)
        parts = partitions_of(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a row that is not the user's
            example = method(self, _readable(self, parts.example), *args, **options)
        seed = check_random_state(self.random_state).randint(2**31)
        call = _Call(method.__name__, self, args, options, seed, _nothing_like(example))
        words = non_numeric_columns(self)
        return _assembled(example, X, parts, _mapped(call, parts), words)

    return either


def _readable(model: Any, example: Any) -> Any:
    """An example row with object columns as numbers if they were numbers in the fit."""
    coding = getattr(model, "coding_", None)
    if coding is None or isinstance(example, np.ndarray):
        return example
    example = example.iloc[:1]  # two rows that nobody has would be at the same place of a sequence
    words, readable = non_numeric_columns(model), example.copy()
    for name, kind in example.dtypes.items():
        if name not in words and kind.kind not in "biuf":
            readable[name] = np.nan
    return readable


def lazy_transformer(estimator: E) -> E:
    """Class decorator that makes ``transform`` lazy for Dask collections.

    Its set_output would make a frame in memory of what it is handed.
    """
    for name, wrapper in (("transform", lazy_on_dask), ("fit_transform", _in_two_steps)):
        setattr(estimator, name, wrapper(getattr(estimator, name)))
    return estimator


def _in_two_steps(method: Callable[..., Any]) -> Callable[..., Any]:

    @wraps(method)
    def either(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not source_of(X).delayed:
            return method(self, X, *args, **options)
        return self.fit(X, *args, **options).transform(X)

    return either


@dataclass(frozen=True, eq=False)
class _Call:
    """A method of a fitted model; each partition has its own random stream."""

    name: str
    model: Any
    args: Any
    options: Any
    seed: int
    nothing: Any  # what it gives of no rows

    def __call__(self, number: int, table: Any) -> Any:
        if not table.shape[0]:
            return self.nothing
        model = copy.copy(self.model)
        model.random_state = int(np.random.default_rng([self.seed, number]).integers(2**31))
        return getattr(model, self.name)(table, *self.args, **self.options)


def _mapped(call: _Call, parts: Partitions) -> list[Any]:
    """Delayed results of all partitions; the graph holds the model once."""
    from dask import delayed

    shared = delayed(call, traverse=False)
    return [shared(number, part) for number, part in enumerate(parts.delayed)]


def _nothing_like(example: Any) -> Any:
    if isinstance(example, tuple | list):
        return tuple(map(_nothing_like, example))
    return example[:0]


def _assembled(
    example: Any, X: Any, parts: Partitions, results: list[Any], words: frozenset[str]
) -> Any:
    """One Dask collection of all partitions' results, or a tuple of them."""
    if isinstance(example, tuple | list):
        each = [
            _assembled(value, X, parts, [result[place] for result in results], words)
            for place, value in enumerate(example)
        ]
        return type(example)(*each) if hasattr(example, "_fields") else type(example)(each)
    if isinstance(example, np.ndarray):
        return _array(example, X, parts, results)
    return _frame(example, X, parts, results, words)


def _array(example: np.ndarray[Any, Any], X: Any, parts: Partitions, results: list[Any]) -> Any:
    import dask.array

    blocks = [
        dask.array.from_delayed(
            result, (np.nan if n is None else n, *example.shape[1:]), dtype=example.dtype
        )
        for result, n in zip(results, parts.lengths, strict=True)
    ]
    return dask.array.concatenate(blocks, allow_unknown_chunksizes=True)


def _frame(
    example: Any, X: Any, parts: Partitions, results: list[Any], words: frozenset[str]
) -> Any:
    import dask.dataframe
    from dask import delayed

    meta = as_float_columns(example.iloc[:0], words)
    types = {name: kind for name, kind in meta.dtypes.items() if name not in words}
    typed = [delayed(_as_types)(result, types) for result in results]
    divisions = getattr(X, "divisions", None)
    return dask.dataframe.from_delayed(typed, meta=meta, divisions=divisions, verify_meta=False)


def _as_types(frame: Any, types: dict[Any, Any]) -> Any:
    return frame.astype(types)
