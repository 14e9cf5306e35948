"""Plans: what several places agree on before they sum their rows.

A plan is a small JSON that people read, change and send around; it holds no code and no row.
"""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from halfseen.data.arrays import Array
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.messages import setting
from halfseen.io.coding import COLUMN_KINDS, Coding, holds_words, takes_kinds
from halfseen.io.source import open_table
from halfseen.io.table import Reading
from halfseen.moments.moment_sums import MomentSums
from halfseen.persistence.atomic import write_whole
from halfseen.persistence.container import INTERPRETING, first_line, strict_json

VERSION = 1
LEAST_ROWS = 10
MOST_TRIPLES = 110
"""Columns whose sums over triples take less than 15 MB; those of more are for a second round."""
MOST_VALUES = 1000
USUAL_NORM = 1.75
"""Times the root of the number of columns, which is the norm of rows in units of their spreads."""
DELTA = 1e-6
"""The chance that privacy may fail, if nobody says: below one in the rows of most places."""


@dataclass(frozen=True)
class AgreedColumn:
    """One column of a plan: its kind and scale."""

    name: str
    kind: str  # as of columns that are declared
    low: float  # values below count as this one
    high: float
    origin: float  # what values are measured from: near the mean, so that no digits are lost
    scale: float  # and in what unit
    values: tuple[str | float, ...] = ()  # of categories, and of few counts: words, or numbers

    def __post_init__(self) -> None:
        given: Any = self  # which may come from a file, and hold anything
        numbers = (given.low, given.high, given.origin, given.scale)
        if not isinstance(given.name, str) or not given.name:
            raise ValueError("a column has no name")
        if not all(isinstance(one, int | float) and math.isfinite(one) for one in numbers):
            raise ValueError(f"'{self.name}' needs low, high, origin and scale, which are numbers")
        if not (self.low < self.high and self.scale > 0):
            raise ValueError(f"'{self.name}' needs low below high, and a scale above zero")
        if self.kind not in COLUMN_KINDS:
            raise ValueError(f"'{self.name}' is of kind {self.kind!r}, which there is not")
        if not isinstance(given.values, tuple) or len(set(given.values)) < len(given.values):
            raise ValueError(f"'{self.name}' has a value twice")
        if not all(isinstance(one, str | int | float) for one in self.values):
            raise ValueError(f"'{self.name}' has values that are neither words nor numbers")
        if holds_words(self.kind) and not 1 < len(self.values) <= MOST_VALUES:
            raise ValueError(f"'{self.name}' needs 2 to {MOST_VALUES} values, as it is {self.kind}")
        if not COLUMN_KINDS[self.kind].whole and self.values:
            raise ValueError(f"'{self.name}' has values, but is {self.kind}")

    @property
    def labels(self) -> tuple[str, ...]:
        """The words of its codes; none for numbers."""
        worded = any(isinstance(one, str) for one in self.values)
        return tuple(map(str, self.values)) if worded else ()

    @property
    def levels(self) -> Array:
        """The few values that it can hold; (l,)."""
        if self.labels:
            return np.arange(len(self.labels), dtype=float)
        return np.sort(np.array(self.values, dtype=float))


@dataclass(frozen=True)
class Noise:
    """The Gaussian noise that sums get, for (ε, δ) differential privacy of single rows."""

    epsilon: float
    delta: float
    norm: float  # that rows have at most, in units of the plan's scales: longer ones are shortened

    def __post_init__(self) -> None:
        given: Any = self  # as above
        numbers = (given.epsilon, given.delta, given.norm)
        if not all(isinstance(one, int | float) and math.isfinite(one) for one in numbers):
            raise ValueError("noise needs an epsilon, a delta and a norm, which are numbers")
        if not (self.epsilon > 0 and 0 < self.delta < 1 and self.norm > 0):
            raise ValueError("noise needs an epsilon and a norm above 0, and a delta from 0 to 1")


@dataclass(frozen=True)
class Plan:
    """What several places agree on before they sum their rows.

    Attributes
    ----------
    model : str
        The model that is to be learned, by its name on the command line.
    parameters : dict
        What the estimator is made with, such as ``{"n_components": 3}``.
    columns : tuple
        Of each column its ``name``, ``kind``, ``low`` and ``high`` (beyond which values are
        clipped), ``origin`` and ``scale``, and the ``values`` of categories.
    least_rows : int
        Sums of fewer rows are refused: of all rows, of those that hold two columns, or one of two
        and not the other, and of those with one category.
    noise : Noise or None
        The differential privacy that sums are to have, and the norm that rows are clipped to.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import GaussianMixture, Plan, summed
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 4)) + 6 * rng.integers(2, size=(2000, 1))
    >>> plan = Plan.of(X[:500], GaussianMixture(2))
    >>> sums = summed(X[:500], plan) + summed(X[500:], plan)
    >>> GaussianMixture(2).fit(sums).means_.shape
    (2, 4)
    """

    model: str
    parameters: Mapping[str, Any]
    columns: tuple[AgreedColumn, ...]
    least_rows: int = LEAST_ROWS
    noise: Noise | None = None

    def __post_init__(self) -> None:
        names = self.names
        if not names or len(set(names)) < len(names):
            raise ValueError("a plan needs columns, each of another name")
        given: Any = self  # as above
        if not isinstance(given.model, str) or not isinstance(given.parameters, Mapping):
            raise ValueError("a plan needs a model, by name, and its parameters")
        if type(self.least_rows) is not int or self.least_rows < 0:
            raise ValueError(f"least_rows is a whole number from 0 on, and not {self.least_rows!r}")

    @classmethod
    def of(
        cls,
        X: Any,
        estimator: Any,
        *,
        least_rows: int = LEAST_ROWS,
        noise: Noise | None = None,
    ) -> Self:
        """A draft for ``estimator`` from one place's table, whatever ``fit`` takes.

        Origins, scales and ranges are rounded to a digit or two, so that they tell little of any
        row: read them before they are sent around, and make ranges as wide as other places need.
        """
        parameters = _changed_parameters(estimator)
        columns = _draft_columns(X, estimator)
        return cls(estimator.about.name, parameters, columns, least_rows, noise)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def each(self, what: str) -> Array:
        """One number per column; (d,)."""
        return np.array([getattr(column, what) for column in self.columns], dtype=float)

    @property
    def few_columns(self) -> bool:
        """Whether sums over triples of columns are small enough for the first round."""
        return len(self.columns) <= MOST_TRIPLES

    @property
    def coding(self) -> Coding:
        """How words become numbers."""
        return Coding(
            self.names,
            tuple(column.kind for column in self.columns),
            tuple(column.labels for column in self.columns),
            ("",) * len(self.columns),
        )

    def to_json(self) -> str:
        """The plan as people and programs read it."""
        content = {"halfseen plan": VERSION, **asdict(self)}
        if self.noise is None:
            del content["noise"]
        for column in content["columns"]:
            if not column["values"]:
                del column["values"]
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str, name: str = "The plan") -> Self:
        """Read a plan from JSON; raises :class:`DataError` if it is invalid."""
        try:
            return cls._made(strict_json(text))
        except INTERPRETING as error:
            raise DataError(
                f"{name} is not a plan that halfseen can follow: {first_line(error)}. Correct it, "
                "or draft another with 'halfseen sums DATA --draft plan.json'."
            ) from error

    @classmethod
    def _made(cls, content: Any) -> Self:
        if not isinstance(content, dict) or "halfseen plan" not in content:
            raise ValueError("it does not say that it is one")
        version = content.pop("halfseen plan")
        if version != VERSION:
            raise ValueError(f"it is of version {version}, and this halfseen knows {VERSION}")
        _check_names(cls, content)
        columns = content.pop("columns")
        if not isinstance(columns, list):
            raise ValueError("its columns are no list")
        noise = content.pop("noise", None)
        return cls(
            columns=tuple(_read_column(one) for one in columns),
            noise=None if noise is None else _record(Noise, noise),
            **content,
        )

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the plan to a JSON file, whole or not at all."""
        write_whole(path, f"{self.to_json()}\n".encode(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The plan in a JSON file."""
        try:
            text = Path(path).read_bytes().decode()
        except UnicodeDecodeError as error:
            raise DataError(f"{path} is not a plan: it is no text. Give a JSON file.") from error
        return cls.from_json(text, os.fspath(path))

    def noised(self, epsilon: float, delta: float = DELTA, norm: float | None = None) -> Self:
        """The plan with noise; the default ``norm`` hardly shortens usual rows."""
        usual = round(USUAL_NORM * math.sqrt(len(self.columns)), 2)
        return replace(self, noise=Noise(epsilon, delta, usual if norm is None else norm))


def _read_column(content: Any) -> AgreedColumn:
    if isinstance(content, dict) and isinstance(content.get("values"), list):
        content = {**content, "values": tuple(content["values"])}
    made: AgreedColumn = _record(AgreedColumn, content)
    return made


def _record(kind: Any, content: Any) -> Any:
    if not isinstance(content, dict):
        raise ValueError(f"it has {content!r} where it should say several things by name")
    _check_names(kind, content)
    return kind(**content)


def _check_names(kind: Any, content: dict[str, Any]) -> None:
    unknown = sorted(set(content) - {one.name for one in fields(kind)})
    if unknown:
        raise ValueError(f"it says '{unknown[0]}', which plans do not have")


# The columns of a plan, from one place's table: rounded, so that no row shows in them.


LOCAL_PARAMETERS = ("kinds", "n_jobs", "verbose", "random_state")
"""Parameters that are no part of a plan: columns have their kinds there."""


SAFETY_FACTOR = 5
"""Times as often as has to be: other places may have fewer rows."""


def _changed_parameters(estimator: Any) -> dict[str, Any]:
    """Parameters of an estimator that differ from their defaults."""
    usual = type(estimator)().get_params()
    own = {
        name: value
        for name, value in estimator.get_params().items()
        if name not in LOCAL_PARAMETERS and value is not usual[name] and value != usual[name]
    }
    if estimator.n_components == "auto":
        raise ValueError(
            setting(n_components="auto")
            + " goes over the rows again, and a plan is for rows that are not at "
            "hand. Say how many: halfseen.choose_components() on one place's rows tells."
        )
    try:
        json.dumps(own)
    except TypeError as error:
        raise ValueError(f"A plan cannot hold what is no number or text: {error}.") from error
    return {"n_components": int(estimator.n_components), **own}


def _draft_columns(X: Any, estimator: Any) -> tuple[AgreedColumn, ...]:
    """The columns of ``X``, as an estimator finds them."""
    rows = open_table(X, Reading.of(estimator)).rows
    kinds, values = _kinds(X, estimator, rows.names)
    sums = rows.accumulate(FeatureSums.of)
    mean = np.nan_to_num(sums.mean)
    counted = [_countable(kinds[n], m) for n, m in zip(rows.names, sums.maximum, strict=True)]
    if not takes_kinds(estimator):
        counted = []
    moments = rows.accumulate(MomentSums.about(mean, triples=False, values=counted))
    squares = moments.second.diagonal()[len(mean) :]
    spread = np.sqrt(squares / np.maximum(sums.count, 1.0))
    for i, own in enumerate(counted):
        if len(own):
            often = moments.levels[sum(map(len, counted[:i])) :][: len(own)]
            values[rows.names[i]] = _common(own, often)
    used = [i for i, name in enumerate(rows.names) if kinds[name] not in ("identifier", "ignored")]
    never = [rows.names[i] for i in used if sums.count[i] == 0]
    if never:
        raise DataError(
            f"Column '{never[0]}' holds nothing here, so that its range and scale cannot be "
            "drafted. Draft the plan where it is measured, or write it by hand."
        )
    return tuple(
        _column(
            rows.names[i],
            kinds[rows.names[i]],
            values.get(rows.names[i], ()),
            *(float(one[i]) for one in (sums.minimum, sums.maximum, mean, spread)),
        )
        for i in used
    )


def _countable(kind: str, highest: float) -> Array:
    """The counts that are released one by one; (l,)."""
    return np.arange(min(highest, MOST_VALUES - 1) + 1) if kind == "count" else np.empty(0)


def _common(counts: Array, often: Array) -> tuple[float, ...]:
    """Counts from zero up to the last common one; higher ones are merged."""
    rare = np.flatnonzero(often < SAFETY_FACTOR * LEAST_ROWS)
    n = max(int(rare[0]) if len(rare) else len(counts), 2)
    return tuple(map(float, counts[:n]))


def _kinds(
    X: Any, estimator: Any, names: tuple[str, ...]
) -> tuple[dict[str, str], dict[str, tuple[Any, ...]]]:
    """The kinds of columns by name, and the values of categories."""
    if not takes_kinds(estimator):
        return dict.fromkeys(names, "count" if estimator.about.counts else "continuous"), {}
    one = clone(estimator).set_params(n_components=1, refine=None).fit(X)
    coding: Coding = one.coding_
    labels = dict(zip(coding.names, coding.labels, strict=True))
    kinds = {name: "continuous" if kind == "number" else kind for name, kind in one.kinds_.items()}
    values: dict[str, tuple[Any, ...]] = {
        name: labels[name] or tuple(map(float, one.profiles_[name]["probabilities"]))
        for name, kind in kinds.items()
        if holds_words(kind) and (labels[name] or name in one.profiles_)
    }
    return kinds, values


def _column(
    name: str,
    kind: str,
    values: tuple[Any, ...],
    lowest: float,
    highest: float,
    mean: float,
    spread: float,
) -> AgreedColumn:
    if values:
        top = len(values) - 1.0 if isinstance(values[0], str) else max(values)
        bottom = 0.0 if isinstance(values[0], str) else min(values)
        return AgreedColumn(name, kind, bottom, max(top, bottom + 1), bottom, 1.0, values)
    width = highest - lowest or abs(highest) or 1.0
    step = 10.0 ** math.floor(math.log10(width))
    low = math.floor((lowest - width / 2) / step) * step  # others may have what is not here
    low = max(low, 0.0) if lowest >= 0 else low
    high = math.ceil((highest + width / 2) / step) * step
    scale = _rounded(spread if spread > 0 else width)
    origin = round(mean / scale) * scale
    return AgreedColumn(name, kind, low, max(high, low + step), origin, scale)


def _rounded(number: float) -> float:
    """Numbers rounded to one significant digit.

    >>> _rounded(0.0374), _rounded(17.2)
    (0.04, 20.0)
    """
    return float(f"{number:.1g}")
