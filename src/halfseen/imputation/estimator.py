"""The ``Imputer``: a scikit-learn transformer for tables of mixed columns."""

from collections.abc import Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import whole_table
from halfseen.estimators.dask_methods import lazy_transformer
from halfseen.estimators.parameter_checks import check_seed, check_threads, refuse
from halfseen.estimators.reading import opened, same_rows
from halfseen.imputation.fitting import Learned, learned_from
from halfseen.imputation.time_budget import NO_END, TimeBudget
from halfseen.io.coded_tables import CodedTable, encode_new_table
from halfseen.io.coding import Coding, warn_unseen_categories
from halfseen.io.containers import arrow_table, as_array, as_frame, fill_like, table_like
from halfseen.io.files import Files
from halfseen.io.open_files import table_with_labels
from halfseen.io.source import source_of
from halfseen.io.validation import arrow_batch_as_table, feature_names


@lazy_transformer
class Imputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fill gaps in tables of mixed columns: numbers, counts, categories, words.

    Mixtures of 2 to 24 classes of rows, averaged, say what each cell should be given the others of
    its row, and so do mixtures of normals with covariances of numbers. Each is taken as far as it
    comes near to rows that it was not learned from. What is left over is regressed on all other
    columns: a ridge for numbers, a ridge softmax for categories, as strong as rows that were held
    out like it, and not at all where they do not. Nothing has to be chosen.

    Parameters
    ----------
    kinds : "auto" or dict, default="auto"
        Kinds of columns by name (or number), as for :class:`LatentClass`.
    draws : int or None, default=None
        For how many draws of :meth:`draw` to learn. Each has parameters of its own, from rows drawn
        with replacement, so that results pooled over draws are as unsure as the gaps leave them.
    add_indicator : bool, default=False
        Add a column for each column with gaps, which says where they were.
    possible : bool, default=True
        Fill only with values that a column can have: whole numbers where it has no others, no more
        decimals than its values have, and the median of ratings. If not, numbers are filled with
        what is expected, which is nearer on average.
    max_seconds : float or None, default=None
        Fit no longer than that, nearly: fewer mixtures, and columns that are not regressed.
    random_state : int, RandomState or None, default=None
        Seeds starts of mixtures, and which rows are held out; the same one every time if None.
    n_jobs : int or None, default=None
        Threads over blocks of rows.
    verbose : int, default=0
        Show progress.

    Attributes
    ----------
    coding_ : Coding
        How text became numbers: the labels of each column.
    learned_ : Learned
        What was learned: classes, regressions, ranges and constants of columns;
        ``learned_.accuracy`` says how well columns that have gaps are filled.
    n_features_in_ : int
        How many columns there are; ``feature_names_in_`` names them, if they have names.

    Notes
    -----
    Of large tables at most about 100,000 rows are learned from, so that files, batches and Dask
    collections of any length can be. Batches and partitions are filled one at a time; a file that
    does not fit into memory is filled by ``halfseen impute`` on the command line. An imputer has no
    file of its own yet: keep it with ``pickle`` or ``joblib``.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman (2009), The elements of statistical learning. D. Böhning
    (1992), Multinomial logistic regression algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from halfseen import Imputer
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(500) < 0.4
    >>> table = pd.DataFrame({
    ...     "temperature": rng.normal(np.where(ill, 39.5, 36.8), 0.4).round(1),
    ...     "cough": np.where(rng.random(500) < np.where(ill, 0.95, 0.05), "yes", "no"),
    ... })
    >>> table.loc[0] = [39.8, None]
    >>> filled = Imputer().fit_transform(table)
    >>> filled.loc[0, "cough"], int(filled.isna().sum().sum())
    ('yes', 0)
    """

    takes_kinds: ClassVar[bool] = True

    def __init__(
        self,
        kinds: Any = "auto",
        *,
        draws: int | None = None,
        add_indicator: bool = False,
        possible: bool = True,
        max_seconds: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.kinds = kinds
        self.draws = draws
        self.add_indicator = add_indicator
        self.possible = possible
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn to fill tables like ``X`` (n, d), in which NaN, None and the like mark the gaps.

        X is an array or a data frame (pandas, polars, Arrow), the path of a file or of a folder of
        them, or a list of batches.
        """
        _check_parameters(self)
        budget = TimeBudget(NO_END if self.max_seconds is None else float(self.max_seconds))
        rows = opened(self, X).rows
        number, seed = int(self.draws or 0), self._seed()
        self.learned_: Learned = learned_from(
            rows, self.coding_, number, seed, budget, self.possible
        )
        return self

    def _seed(self) -> int:
        if self.random_state is None:
            return 0
        return int(check_random_state(self.random_state).randint(2**31))

    def transform(self, X: Any, *, return_std: bool = False) -> Any:
        """``X`` with each gap filled; what was observed is not touched.

        Arrays come back as arrays and data frames as data frames, with names, index and types as
        they were; batches as a list of such, and files as an Arrow table.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches
            The table to fill, of the columns that were learned.
        return_std : bool, default=False
            Return also how far off each fill is likely to be: a standard deviation, zero where
            the cell was observed and NaN in columns that are not used; of words and codes, the
            probability that it is another.
        """
        check_is_fitted(self)
        source = source_of(X)
        if source.files is not None:
            return self._fill(_in_memory(self, source.files), return_std)[0]
        fill = partial(self._fill, return_std=return_std)
        if source.several:
            each = [fill(batch) for batch in source.tables()]
            done, counts = [one for one, _ in each], sum(unseen for _, unseen in each)
        else:
            done, counts = fill(X)
        warn_unseen_categories(self.coding_, np.asarray(counts))
        return done

    def draw(self, X: Any, number: int | None = None) -> list[Any]:
        """Completed tables for multiple imputation: gaps are drawn, observed cells stay.

        Gaps of a row are drawn together, and every table is drawn by other parameters. Analyse
        each, and combine what comes out with :func:`halfseen.pool`.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            The table to complete.
        number : int or None, default=None
            How many; as many as the imputer was fitted for if None.

        Examples
        --------
        >>> import numpy as np
        >>> from halfseen import Imputer, pool
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=400)
        >>> X = np.column_stack([x, x + rng.normal(size=400)])
        >>> X[rng.random(400) < 0.3, 1] = np.nan
        >>> tables = Imputer(draws=10, random_state=0).fit(X).draw(X)
        >>> means = [table[:, 1].mean() for table in tables]
        >>> found = pool(means, [table[:, 1].var(ddof=1) / 400 for table in tables], df=399)
        >>> bool(found.low[0] < 0 < found.high[0])
        True
        """
        check_is_fitted(self)
        wanted, X = _check_enough(self, number), arrow_batch_as_table(X)
        table, unseen = self._read(X)
        warn_unseen_categories(self.coding_, unseen.sum(axis=0))
        rows = MemoryRows(table.astype(float), feature_names(self))
        random = check_random_state(self.random_state)
        drawn = self.learned_.drawn(rows, wanted, random)
        return [self._given(X, table, one, unseen) for one in drawn]

    def _fill(self, X: Any, return_std: bool) -> tuple[Any, Array]:
        """A table in memory, filled, and how many cells of each column hold what is unseen."""
        X, learned = arrow_batch_as_table(X), self.learned_
        table, unseen = self._read(X)
        rows = MemoryRows(table.astype(float), feature_names(self))
        mean, spread = learned.filled(rows, self.possible)
        done = self._given(X, table, mean, unseen)
        counts: Array = unseen.sum(axis=0)
        if not return_std:
            return done, counts
        gaps = np.isnan(table) & ~unseen
        return (done, table_like(X, np.where(gaps, spread, 0.0))), counts

    def _read(self, X: Any) -> CodedTable:
        return encode_new_table(self, X)

    def _given(self, X: Any, table: Array, values: Array, unseen: Mask) -> Any:
        """A filled table in the container type of ``X``."""
        done = fill_like(X, table, values, self.coding_, unseen)
        if as_frame(done) is None and not isinstance(done, np.ndarray):  # rows without gaps
            done = as_array(X, table.dtype)
        if not self.add_indicator:
            return done
        return with_indicators(done, np.isnan(table), self._indicated())

    def _indicated(self) -> dict[int, str]:
        """Columns with a missingness indicator, and its name."""
        names = OneToOneFeatureMixin.get_feature_names_out(self)
        return {int(j): f"missingindicator_{names[j]}" for j in np.flatnonzero(self.learned_.gappy)}

    def probabilities(self, X: Any) -> dict[str, Array]:
        """For each column of few values, by name: probabilities (n, l) of its categories.

        Cells that are observed have theirs with certainty. Categories are in the order of
        ``categories_``.
        """
        check_is_fitted(self)
        table, unseen = self._read(arrow_batch_as_table(X))
        warn_unseen_categories(self.coding_, unseen.sum(axis=0))
        rows = MemoryRows(table.astype(float), feature_names(self))
        return self.learned_.probabilities(rows)

    @property
    def categories_(self) -> dict[str, list[Any]]:
        """The categories of each column of few values, by name: words, or numbers."""
        check_is_fitted(self)
        return self.learned_.categories(self.coding_)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns, and of indicators if there are any."""
        names = super().get_feature_names_out(input_features)
        if not self.add_indicator:
            return names
        return np.concatenate([names, np.array(list(self._indicated().values()), dtype=object)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


def _in_memory(imputer: Imputer, X: Files) -> Any:
    """What is in files, as an Arrow table if the columns have names."""
    coding: Coding = imputer.coding_
    rows = same_rows(imputer, X)
    table = whole_table(rows)
    if (coding.worded | coding.left_out).any():
        return table_with_labels(X, coding, table)
    named = hasattr(imputer, "feature_names_in_")
    return arrow_table(rows.names, table) if named else table


def _check_parameters(imputer: Any) -> None:
    seconds, draws = imputer.max_seconds, imputer.draws
    if seconds is not None:
        a_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
        if not (a_number and float(seconds) > 0):
            refuse(imputer, "max_seconds", "a number above 0, or None")
    if draws is not None:
        an_int = isinstance(draws, Integral) and not isinstance(draws, bool)
        if not (an_int and int(draws) >= 1):
            refuse(imputer, "draws", "an int of at least 1, or None")
    for name in ("add_indicator", "possible"):
        if not isinstance(getattr(imputer, name), bool):
            refuse(imputer, name, "True or False")
    check_threads(imputer, "n_jobs")
    check_seed(imputer, "random_state")


def _check_enough(imputer: Any, number: Any) -> int:
    """How many draws are asked for, if the fit learned for as many."""
    learned = 0 if imputer.draws is None else int(imputer.draws)
    if not learned:
        raise ValueError(
            "Draws need parameters that vary, which fit learns if it is told for how many draws. "
            "Use Imputer(draws=20).fit(X)."
        )
    wanted: Any = learned if number is None else number
    right = isinstance(wanted, Integral) and not isinstance(wanted, bool)
    if not (right and 1 <= int(wanted) <= learned):
        raise ValueError(
            f"The imputer was fitted for draws={learned}, so that there may be 1 to {learned}. Got "
            f"{number!r} instead."
        )
    return int(wanted)


def with_indicators(filled: Any, gaps: Mask, names: Mapping[int, str]) -> Any:
    """A table with a column for each of some columns, given by number, that says where it lacked.

    ``gaps`` (n, d) are those of the table before it was filled.
    """
    frame = as_frame(filled)
    if frame is None:
        return np.hstack([filled, gaps[:, list(names)].astype(filled.dtype)])
    if not names:
        return filled
    like = next(frame.iter_columns())
    columns = [
        nw.new_series(name, np.ascontiguousarray(gaps[:, place]), backend=like.implementation)
        for place, name in names.items()
    ]
    if frame.implementation.is_pandas_like():
        index = frame.to_native().index
        columns = [_indexed(column, index) for column in columns]
    return frame.with_columns(*columns).to_native()


def _indexed(column: Any, index: Any) -> Any:
    native = column.to_native()
    native.index = index
    return nw.from_native(native, series_only=True)
