"""Tables of counts: what they must hold, and how models of counts are fitted to them."""

from typing import Any, TypedDict, Unpack

import numpy as np
from sklearn.utils.metaestimators import available_if

from halfseen.estimators.partial_fits import streams
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.errors import DataError
from halfseen.rows.naming import features, quoted
from halfseen.tables.observed_blocks import ObservedBlocks

MOST_COUNTED = 2.0**50
"""Of larger ones sums and halves are no whole numbers any more."""


def poisson(random: Any, rates: Array) -> Array:
    """Counts of these rates; beyond what can be counted, the rates themselves.

    These vary by less than a millionth of a percent, and generators refuse them.
    """
    counts: Array = random.poisson(np.minimum(rates, MOST_COUNTED)).astype(float)
    return np.where(rates > MOST_COUNTED, np.floor(rates), counts)


def check_counts(seen: Survey) -> None:
    """Counts are whole numbers of at least zero."""
    negative = np.flatnonzero(seen.sums.minimum < 0)
    if len(negative):
        raise DataError(
            f"Negative values in data: {quoted(seen.names, negative)} should hold counts. "
            "Use NaN, not a negative number, for a count that is missing."
        )
    fractional = np.flatnonzero(~seen.sums.whole)
    if len(fractional):
        raise DataError(
            f"{features(seen.names, fractional)} should hold counts, but some values are not whole "
            "numbers. Use raw counts, not rates or proportions, or GaussianMixture for "
            "measurements."
        )

    large = np.flatnonzero((seen.sums.maximum > MOST_COUNTED) & (seen.sums.count > 0))
    if len(large):
        worst = large[np.argmax(seen.sums.maximum[large])]
        raise DataError(
            f"{features(seen.names, large)} should hold counts, but '{seen.names[worst]}' holds "
            f"{seen.sums.maximum[worst]:.6g}, more than can be counted ({MOST_COUNTED:.2g}). Use "
            "NaN for a count that is missing, or GaussianMixture for measurements."
        )


class StreamOptions(TypedDict, total=False):
    """What ``partial_fit`` takes besides the batch."""

    sample_weight: Any


class FitOptions(StreamOptions, total=False):
    """What ``fit`` takes besides the table."""

    observed: ObservedBlocks | None
    vocabulary: Any


class OfCounts:
    """For estimators of models of counts.

    A parameter called sample_weight would make scikit-learn's checks fit fractions, tags or no
    tags.
    """

    def fit(self: Any, X: Any, y: Any = None, **options: Unpack[FitOptions]) -> Any:
        """Learn the model from counts ``X`` (n, d), in which NaN marks the gaps.

        X is an array or a data frame; a SciPy sparse matrix whose stored NaNs are gaps, if the
        model takes such; the path of a Parquet, Arrow, Feather, CSV, TSV or NumPy file or of a
        folder of them (:class:`halfseen.Files` to choose columns); or a list of batches of rows, or
        any other object that gives the same batches each time it is gone through; or a
        ``dask.array``, dense or of CSR blocks, or ``dask.dataframe``, which Dask's workers sum.
        Options are ``sample_weight`` (n,), a row with a weight of 2 counting as if it were there
        twice; ``observed``, an :class:`halfseen.ObservedBlocks` that says which blocks of columns
        the rows of a sparse matrix have; and ``vocabulary``, the words that columns without names
        stand for, such as ``CountVectorizer.get_feature_names_out()``, which the model keeps as
        ``feature_names_in_``.
        """
        sample_weight = options.pop("sample_weight", None)
        observed = options.pop("observed", None)
        vocabulary = options.pop("vocabulary", None)
        _check_no_more(self, "fit", options)
        return self._learn(X, sample_weight, observed, vocabulary)

    @available_if(streams)  # type: ignore[untyped-decorator]
    def partial_fit(
        self: Any, X: Any, y: Any = None, *, refit: bool = True, **options: Unpack[StreamOptions]
    ) -> Any:
        """Learn from another batch of rows, which need not be kept.

        The sums of all batches so far are in ``stream_``, to be saved and taken up again; X may
        also be such a :class:`halfseen.Stream`, which is added. The model is read off the moments
        alone: ``refine`` needs rows that can be gone over again. The first batch should be typical,
        as moments are taken about its means. With ``refit=False`` rows are added and nothing is
        learned, which is faster, and right while there are too few. The one option is
        ``sample_weight``.
        """
        sample_weight = options.pop("sample_weight", None)
        _check_no_more(self, "partial_fit", options)
        return self._learn_more(X, sample_weight, refit)


def _check_no_more(estimator: Any, verb: str, options: Any) -> None:
    if options:
        name = type(estimator).__name__
        raise TypeError(f"{name}.{verb}() got an unexpected argument {min(options)!r}")
