"""How models of counts are fitted to tables of them."""

from typing import Any, TypedDict, Unpack

from sklearn.utils.metaestimators import available_if

from halfseen.estimators.partial_fits import streams
from halfseen.tables.observed_blocks import ObservedBlocks


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
