"""Latent Dirichlet allocation from tables of counts with gaps."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Unpack

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.messages import setting
from halfseen.data.rows import Block
from halfseen.estimators.dask_methods import lazy_on_dask, lazy_transformer
from halfseen.estimators.estimator import Estimator
from halfseen.estimators.parameter_checks import (
    check_non_negative,
    check_sweeps,
    check_within_or_auto,
)
from halfseen.io.batches import is_batches
from halfseen.io.dask_collections import is_dask
from halfseen.io.sparse_matrix import ObservedBlocks
from halfseen.latent.topics.model import Loadings
from halfseen.latent.topics.refinement import document_completion
from halfseen.models.lda.model import ABOUT, Shares, given_length, lda
from halfseen.models.lda.parameters import LdaParameters
from halfseen.models.topic_estimator import FitOptions, TopicEstimator

METHODS = ("importance", "completion")
FURTHEST = 1e9
"""Of concentrations, and one over it: documents are all alike, or of one topic each, long before,
and sums with what is known of their lengths still have digits."""


class LdaOptions(FitOptions, total=False):
    """What ``fit`` takes besides the table."""

    totals: Any


@lazy_transformer
class LatentDirichletAllocation(TopicEstimator, Estimator):
    """Topics whose shares differ from row to row and sum to one, from counts with gaps.

    Row n has shares ``θ_n ~ Dirichlet(α)`` of the topics, and each of its l items is of feature d
    with chance ``Σ_k θ_nk a_kd``. A zero is an observed count; NaN marks a count that was not
    recorded. Lengths may be whatever they are. Where counts are missing, a row's length is taken
    from ``totals`` if they are given to :meth:`fit`, and otherwise found from what it recorded.
    Assumes that counts are missing completely at random.

    Parameters
    ----------
    n_components : int or "auto", default=1
        How many topics there are. ``"auto"`` chooses: see :func:`halfseen.choose_components`.
    feature_weights : {"auto", "observed", "sqrt", "none", "signal"} or array, default="auto"
        The weights of ``method="weighted"``. ``"auto"`` weighs a feature by how often it is
        observed and by how much of its variance is signal.
    incomplete_features : {"regress", "divide"}, default="regress"
        Find incomplete features' shares by regression on predicted loadings, or divide by their
        weights as in the paper.
    outliers : {"auto"} or None, default="auto"
        Leave counts and rows that are far beyond what the others allow out of what is learned, if
        there are any, or take every count at its word.
    concentration : float or "auto", default="auto"
        The sum of ``alpha_``, from 1e-9 to 1e9: small if rows have few topics each. ``"auto"``
        tries a grid in the moments, which is rough, and learns it in refining.
    smoothing : float, default=0.1
        Items of each feature that refining adds to every topic, so that rare features are not
        thought impossible in a topic for want of rows.
    refine : {"auto", "saem"} or None, default="auto"
        Polish by ``n_sweeps`` of stochastic approximation EM (in text, where cells count less than
        a fifth of an item on average, by as many sweeps of expectations and a tenth as many of
        draws), or stay with what the moments say. ``"auto"`` refines where cells count less than
        one item on average, as words in documents do; ``diagnostics_.refine_reason`` says why.
    n_sweeps : int, default=100
        Sweeps over the rows in refining.

    Attributes
    ----------
    components_ : ndarray of shape (k, d)
        Topics: the share of each feature in each topic. Rows sum to one; zero for features that
        are constant or were never observed.
    alpha_ : ndarray of shape (k,)
        Of the Dirichlet law of shares; ``alpha_ / alpha_.sum()`` are the topics' shares in the
        average row.
    length_shape_ : float
        Lengths of rows are negative binomial, of this shape; for :meth:`sample` and gaps alone.
    length_rate_ : float
        ``length_shape_ / length_rate_`` is the mean length.

    References
    ----------
    D. Blei, A. Ng, M. Jordan (2003), Latent Dirichlet allocation. A. Anandkumar, D. Foster, D. Hsu,
    S. Kakade, Y. Liu (2012), A spectral algorithm for latent Dirichlet allocation.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import LatentDirichletAllocation
    >>> rng = np.random.default_rng(0)
    >>> topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    >>> shares = rng.dirichlet([1.0, 1.0], size=1000) @ topics
    >>> X = np.array([rng.multinomial(30, row) for row in shares], dtype=float)
    >>> X[rng.random(1000) < 0.5, 3] = np.nan
    >>> model = LatentDirichletAllocation(n_components=2, random_state=0).fit(X)
    >>> np.sort(model.components_, axis=0).round(1)
    array([[0. , 0. , 0. , 0. ],
           [0.5, 0.5, 0.5, 0.5]])
    >>> float(model.transform(X).sum(axis=1).round(6).min())
    1.0
    """

    about = ABOUT
    Parameters = LdaParameters
    refinements: ClassVar[tuple[str, ...]] = ("saem", "auto")

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        method: str = "weighted",
        feature_weights: Any = "auto",
        complete_above: float = 0.95,
        incomplete_features: str = "regress",
        decomposer: str = "joint",
        third_moment: str = "auto",
        moments: str = "available",
        outliers: str | None = "auto",
        prior: float | None = 1.0,
        concentration: float | str = "auto",
        smoothing: float = 0.1,
        refine: str | None = "auto",
        n_sweeps: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.method = method
        self.feature_weights = feature_weights
        self.complete_above = complete_above
        self.incomplete_features = incomplete_features
        self.decomposer = decomposer
        self.third_moment = third_moment
        self.moments = moments
        self.outliers = outliers
        self.prior = prior
        self.concentration = concentration
        self.smoothing = smoothing
        self.refine = refine
        self.n_sweeps = n_sweeps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self) -> None:
        check_sweeps(self)
        check_non_negative(self, "smoothing")
        check_within_or_auto(self, "concentration", 1 / FURTHEST, FURTHEST)

    def _model(self) -> Loadings[LdaParameters]:
        given = None if self.concentration == "auto" else float(self.concentration)
        totals = getattr(self, "_totals_given", None)  # while a call that was told them goes on
        kind = Shares(self.n_sweeps, self._prior_strength * float(self.smoothing), given, totals)
        return lda(kind, outliers=self.outliers is not None)

    def fit(  # type: ignore[override]
        self, X: Any, y: Any = None, **options: Unpack[LdaOptions]
    ) -> Any:
        """Learn the model from counts ``X`` (n, d), in which NaN marks the gaps.

        X is whatever :meth:`GammaPoisson.fit` takes. Options are ``sample_weight`` (n,),
        ``observed``, an :class:`halfseen.ObservedBlocks`, and ``totals`` (n,): how many items each
        row has in all, with those that were not recorded.
        """
        totals = options.pop("totals", None)
        weight = options.get("sample_weight")
        if totals is not None and self.n_components == "auto":
            raise ValueError(
                setting(n_components="auto")
                + " compares fits to parts of the rows, and totals are those of "
                "all rows. Choose the number without totals, and fit with it and totals."
            )
        with self._knowing(None if totals is None else _checked(totals, weight)):
            return super().fit(X, y, **options)  # type: ignore[misc]

    @contextmanager
    def _knowing(self, totals: Array | None) -> Iterator[None]:
        """While it lasts, the model knows the totals of rows."""
        self._totals_given = totals
        try:
            yield
        finally:
            del self._totals_given

    def _fit(self, settings: Any, model: Any, rows: Any, *given: Any) -> Any:
        if self._totals_given is not None:
            _check_all_there(self._totals_given, rows.accumulate(len))
        return super()._fit(settings, model, rows, *given)

    def transform(
        self, X: Any, observed: ObservedBlocks | None = None, totals: Any = None
    ) -> Array:
        """The topics' shares in each row given its observed counts; (n, k).

        By mean-field variational inference. ``totals`` (n,) are lengths of rows, if known.
        """
        with self._knowing(_of_rows(X, totals)):
            shares: Array = self.hidden(X, observed)
        return shares

    @lazy_on_dask
    def score_samples(
        self, X: Any, observed: ObservedBlocks | None = None, totals: Any = None
    ) -> Array:
        """Log-likelihood of the observed counts of each row; (n,).

        ``totals`` (n,) are lengths of rows, if known: then how much was not recorded is among what
        the likelihood is of.
        """
        with self._knowing(_of_rows(X, totals)):
            return self._sampled(X, observed)[:, 0]

    @lazy_on_dask
    def impute(self, X: Any, *, totals: Any = None, **asked: Any) -> Any:
        """``X`` with each gap filled by its expectation given what is observed in the row.

        Options are those that every estimator has: ``return_std``, ``draws`` and ``possible``.
        ``totals`` (n,) are lengths of rows, if known: what a row has beyond what it recorded is
        then spread over its gaps.
        """
        with self._knowing(_of_rows(X, totals)):
            return super().impute(X, **asked)

    def perplexity(
        self,
        X: Any,
        observed: ObservedBlocks | None = None,
        *,
        totals: Any = None,
        method: str = "importance",
    ) -> float:
        """``exp(-log-likelihood per item)``, of items in their order: lower is better.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Counts, of rows that the model was not learned from.
        observed : ObservedBlocks or None, default=None
            Which blocks of columns the rows of a sparse matrix have.
        totals : array of shape (n,) or None, default=None
            Lengths of rows, if known. By importance sampling, items that were not recorded then
            count too, as such; by completion, they tell of shares.
        method : {"importance", "completion"}, default="importance"
            All items of a row, its topics being integrated out by importance sampling; or half of
            them, at random, given the topics' shares that the other half implies.
        """
        if method not in METHODS:
            raise ValueError(
                f"method must be 'importance' or 'completion'. Got {method!r} instead."
            )
        of_rows = given_length if method == "importance" else document_completion
        with self._knowing(_of_rows(X, totals)):
            model, parameters = self.fitted.model, self.fitted.parameters

        def columns(block: Block) -> Array:
            return np.column_stack(of_rows(block, parameters, model.kind.rest(block, parameters)))

        found, items = self._each(X, observed)(columns).sum(axis=0)
        return float(np.exp(-found / max(items, 1.0)))


def _of_rows(X: Any, totals: Any) -> Array | None:
    """Totals of new rows, which are known by their numbers."""
    if totals is None:
        return None
    if is_dask(X) or is_batches(X):
        raise ValueError(
            "totals are those of rows by their numbers, which parts of a table do not know. Give "
            "one table in memory, or one part after the other with its own totals."
        )
    found = _checked(totals, None)
    if hasattr(X, "shape"):
        _check_all_there(found, X.shape[0])
    return found


def _checked(totals: Any, sample_weight: Any) -> Array:
    """Totals of the rows that count."""
    found = np.asarray(totals)
    if found.dtype.kind not in "buif" or found.ndim != 1 or not _possible(found).all():
        raise ValueError(
            "totals must hold one finite number of at least 0 a row: how many items it has in all."
        )
    found = found.astype(float)
    return found if sample_weight is None else found[np.asarray(sample_weight) > 0]


def _possible(totals: Any) -> Mask:
    """Which are finite and not below zero."""
    possible: Mask = np.isfinite(totals) & (totals >= 0)
    return possible


def _check_all_there(totals: Array, n_rows: int) -> None:
    """There is a total for each row."""
    if len(totals) != n_rows:
        raise ValueError(
            f"totals are {len(totals)} numbers for {n_rows} rows. Give one for each row, also for "
            "those in which nothing is observed."
        )
