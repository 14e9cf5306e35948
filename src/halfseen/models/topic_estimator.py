"""Methods of topic estimators."""

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import LikelihoodWarning, warn
from halfseen.diagnostics.topics import (
    N_WORDS,
    USUAL_RELEVANCE,
    check_relevance,
    coherence,
    most_relevant,
)
from halfseen.estimators.dask_methods import lazy_on_dask
from halfseen.estimators.parameter_checks import check_count
from halfseen.estimators.reading import new_rows, streams
from halfseen.io.sparse_matrix import ObservedBlocks
from halfseen.io.validation import feature_names
from halfseen.latent.topics import loadings


class StreamOptions(TypedDict, total=False):
    """Options of ``partial_fit``."""

    sample_weight: Any


class FitOptions(StreamOptions, total=False):
    """Options of ``fit``."""

    observed: ObservedBlocks | None
    vocabulary: Any


class CountEstimator:
    """Base class of estimators of counts.

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
        """Learn from another batch of rows.

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


MIN_EFFECTIVE_DRAWS = 20


class LoadingPosterior(NamedTuple):
    """Posterior means and standard deviations of loadings; (n, k) each."""

    mean: Array
    std: Array


class TopicEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CountEstimator):
    """Base class of estimators of topics.

    Parameters
    ----------
    feature_weights : {"auto", "observed", "sqrt", "none", "signal"} or array, default="auto"
        The weights of ``method="weighted"``. ``"auto"`` weighs a feature by how often it is
        observed and by how much of its variance is signal.
    incomplete_features : {"regress", "divide"}, default="regress"
        Find incomplete features' shares by regression on predicted loadings, or divide by their
        weights as in the paper.

    Attributes
    ----------
    components_ : ndarray of shape (k, d)
        Topics: the share of each feature in each topic. Rows sum to one; zero for features that
        are constant or were never observed.
    """

    fitted: Any
    hidden: Any
    _each: Any
    n_components_: int
    components_: Array
    kept_features_: Mask
    value_limits_: Array
    constants_: Array
    _otherwise_compare = ""
    """What else likelihoods that are too rough may be compared by."""

    def transform(self, X: Any, observed: ObservedBlocks | None = None) -> Array:
        """Posterior mean loadings of each row given its observed counts; (n, k).

        By mean-field variational inference. What it expects of counts is close to exact; of topics
        that share many features it may give one the loading of another.
        """
        shown: Array = self.hidden(X, observed)
        return shown

    def fit_transform(self, X: Any, y: Any = None, **options: Unpack[FitOptions]) -> Any:
        """Fit, and the posterior mean loadings of the same rows; (n, k)."""
        observed = options.get("observed")
        return self.fit(X, y, **options).transform(X, observed=observed)

    @lazy_on_dask
    def posterior(self, X: Any, observed: ObservedBlocks | None = None) -> LoadingPosterior:
        """Means and standard deviations of each row's loadings given its observed counts.

        By importance sampling, which takes longer than :meth:`transform` and knows that topics
        which share features trade loadings.
        """
        parameters, each = self.fitted.parameters, self._each(X, observed)
        both = each(lambda block: np.hstack(loadings(block, parameters)))
        return LoadingPosterior(*np.hsplit(both, 2))

    def inverse_transform(self, X: Any) -> Array:
        """Expected counts of rows with loadings ``X`` (n, k); (n, d)."""
        check_is_fitted(self)
        loadings = check_array(X, dtype=float)
        if loadings.shape[1] != self.n_components_:
            raise ValueError(
                f"Loadings need a column a topic, {self.n_components_} in all. "
                f"Got {loadings.shape[1]} instead."
            )
        expected: Array = loadings @ self.components_
        return expected

    def top_words(
        self, n_words: int = N_WORDS, *, relevance: float = USUAL_RELEVANCE
    ) -> list[list[str]]:
        """The most characteristic features of each topic, in the order of ``components_``.

        They are those that are likely in it and telling of it; ``relevance`` goes from 1, by their
        shares in the topic alone, to 0, by how much larger these are than in all that is counted.

        Examples
        --------
        >>> import numpy as np
        >>> from halfseen import LatentDirichletAllocation
        >>> rng = np.random.default_rng(0)
        >>> shares = rng.dirichlet([0.3, 0.3], 500) @ [[0.6, 0.4, 0, 0], [0, 0, 0.3, 0.7]]
        >>> X = np.array([rng.multinomial(20, row) for row in shares])
        >>> model = LatentDirichletAllocation(2, random_state=0)
        >>> model = model.fit(X, vocabulary=["goal", "team", "vote", "party"])
        >>> sorted(model.top_words(2))
        [['goal', 'team'], ['party', 'vote']]
        """
        names = np.array(feature_names(self), dtype=object)
        return [list(names[own]) for own in self._told_by(n_words, relevance)]

    def coherence(
        self,
        X: Any,
        observed: ObservedBlocks | None = None,
        *,
        n_words: int = N_WORDS,
        relevance: float = USUAL_RELEVANCE,
    ) -> Array:
        """The coherence (mean NPMI) of the :meth:`top_words` of each topic in ``X``; (k,).

        The mean normalised pointwise mutual information of their pairs: 0 if they are together by
        chance, 1 if only together, NaN for topics of fewer than two words.
        """
        words = self._told_by(n_words, relevance)
        return coherence(new_rows(self, X, observed), words)

    def _told_by(self, n_words: int, relevance: float) -> list[NDArray[np.intp]]:
        check_is_fitted(self)
        check_count("n_words", n_words, 1)
        check_relevance(relevance)
        shares = self.fitted.model.shares(self.fitted.parameters)
        return most_relevant(self.components_, shares @ self.components_, relevance, n_words)

    @lazy_on_dask
    def impute(self, X: Any, **asked: Any) -> Any:
        """``X`` with each gap filled by its expectation given what is observed in the row.

        Options are those that every estimator has: ``return_std``, ``draws`` and ``possible``. Of a
        sparse matrix, whose stored NaNs are gaps, these alone are filled, by expectations, and
        nothing else is made of it.
        """
        if not issparse(X):
            return super().impute(X, **asked)
        more = [name for name, value in asked.items() if value]
        if more:
            raise ValueError(
                f"Gaps of sparse matrices are filled by expectations only, without {more[0]}. "
                "Give some of the rows as an array: X[:1000].toarray()."
            )
        given: Any = X
        return self._filled_sparse(csr_array(given).astype(float))

    def _filled_sparse(self, matrix: Any) -> Any:
        """A CSR matrix with its stored NaNs filled."""
        gaps = np.flatnonzero(np.isnan(matrix.data))
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[gaps]
        feature = matrix.indices[gaps]
        model, parameters = self.fitted.model, self.fitted.parameters
        found = self._each(matrix, None)(lambda block: model.expected_loadings(block, parameters))
        rates = np.einsum("mk,mk->m", found[row], self.components_.T[feature])
        possible = np.clip(rates, *self.value_limits_[:, feature])
        filled = np.where(self.kept_features_[feature], possible, np.nan)
        constant = self.constants_[feature]
        matrix.data[gaps] = np.where(np.isnan(constant), filled, constant)
        return matrix

    @lazy_on_dask
    def score_samples(self, X: Any, observed: ObservedBlocks | None = None) -> Array:
        """Log-likelihood of the observed counts of each row; (n,)."""
        return self._sampled(X, observed)[:, 0]

    def _sampled(self, X: Any, observed: ObservedBlocks | None) -> Array:
        """Log-likelihoods by importance sampling, their errors and effective draws; (n, 3)."""
        model, parameters = self.fitted.model, self.fitted.parameters
        found: Array = self._each(X, observed)(
            lambda block: np.column_stack(model.sampled(block, parameters)[:3])
        )
        # Few effective draws mean that some draw dominates, and that its tail was missed.
        rough = int(np.count_nonzero(found[:, 2] < MIN_EFFECTIVE_DRAWS))
        if rough:
            warn(
                f"The likelihoods of {rough} of {len(found)} rows rest on fewer than "
                f"{MIN_EFFECTIVE_DRAWS} effective draws and are probably too low. Use fewer "
                f"components{self._otherwise_compare}.",
                LikelihoodWarning,
            )
        return found

    def perplexity(self, X: Any, observed: ObservedBlocks | None = None) -> float:
        """``exp(-log-likelihood per counted item)``; lower is better."""
        n_items = float(self._totals(X, observed).sum())
        return float(np.exp(-float(self.score_samples(X, observed).sum()) / max(n_items, 1.0)))

    @lazy_on_dask
    def _totals(self, X: Any, observed: ObservedBlocks | None) -> Array:
        totals: Array = self._each(X, observed)(lambda block: block.nonzeros().totals())
        return totals

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
