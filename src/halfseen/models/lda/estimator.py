"""Latent Dirichlet allocation from tables of counts with gaps."""

from dataclasses import replace
from typing import Any, ClassVar, Unpack

import numpy as np

from halfseen.estimators.checks import check_non_negative, check_positive_integer
from halfseen.estimators.estimator import Estimator
from halfseen.estimators.lazily import lazy_transformer
from halfseen.models.counts import FitOptions
from halfseen.models.lda.model import ABOUT, Shares, lda
from halfseen.models.lda.parameters import LdaParameters
from halfseen.models.lda.perplexity import completed, given_length
from halfseen.models.topics import OfTopics
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.rows import Block
from halfseen.structures.loadings.model import Loadings
from halfseen.tables.observed_blocks import ObservedBlocks

METHODS = ("importance", "completion")


class LdaOptions(FitOptions, total=False):
    """What ``fit`` takes besides the table."""

    totals: Any


@lazy_transformer
class LatentDirichletAllocation(OfTopics, Estimator):
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
        The sum of ``alpha_``: small if rows have few topics each. ``"auto"`` tries a grid in the
        moments, which is rough, and learns it in refining.
    smoothing : float, default=0.1
        Items of each feature that refining adds to every topic, so that rare features are not
        thought impossible in a topic for want of rows.
    refine : {"auto", "saem"} or None, default="auto"
        Polish by ``n_sweeps`` of stochastic approximation EM (in text, where cells count less than
        a tenth of an item on average, by 100 sweeps of expectations and a tenth as many of draws),
        or stay with what the moments say. ``"auto"`` polishes where cells count less than one item
        on average, as words in documents do; ``diagnostics_.refine_reason`` says why.
    n_sweeps : int, default=100
        Sweeps of stochastic approximation EM over the rows.

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
        self.concentration = concentration
        self.smoothing = smoothing
        self.refine = refine
        self.n_sweeps = n_sweeps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self) -> None:
        check_positive_integer(self, "n_sweeps")
        check_non_negative(self, "smoothing")
        if self.concentration != "auto":
            value: Any = self.concentration
            if isinstance(value, bool | str) or not 0 < float(value) < np.inf:
                raise ValueError(
                    "The 'concentration' parameter of LatentDirichletAllocation must be a number "
                    f"above 0, or 'auto'. Got {value!r} instead."
                )

    def _model(self) -> Loadings[LdaParameters]:
        given = None if self.concentration == "auto" else float(self.concentration)
        totals = getattr(self, "_totals_given", None)  # while a fit that was told them goes on
        kind = Shares(self.n_sweeps, float(self.smoothing), given, totals)
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
                "n_components='auto' compares fits to parts of the rows, and totals are those of "
                "all rows. Choose the number without totals, and fit with it and totals."
            )
        self._totals_given = None if totals is None else _checked(totals, weight)
        try:
            return super().fit(X, y, **options)  # type: ignore[misc]
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
        model, parameters = self._knowing(totals), self.fitted.parameters
        shares: Array = self._each(X, observed)(lambda block: model.hidden(block, parameters))
        return shares

    def perplexity(
        self,
        X: Any,
        observed: ObservedBlocks | None = None,
        *,
        method: str = "importance",
    ) -> float:
        """``exp(-log-likelihood per item)``, of items in their order: lower is better.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
            Counts, of rows that the model was not learned from.
        observed : ObservedBlocks or None, default=None
            Which blocks of columns the rows of a sparse matrix have.
        method : {"importance", "completion"}, default="importance"
            All items of a row, its topics being integrated out by importance sampling; or half of
            them, at random, given the topics' shares that the other half implies.
        """
        if method not in METHODS:
            raise ValueError(
                f"method must be 'importance' or 'completion'. Got {method!r} instead."
            )
        parameters = self.fitted.parameters
        of_rows = given_length if method == "importance" else completed

        def columns(block: Block) -> Array:
            return np.column_stack(of_rows(block, parameters))

        found, items = self._each(X, observed)(columns).sum(axis=0)
        return float(np.exp(-found / max(items, 1.0)))

    def _knowing(self, totals: Any) -> Loadings[LdaParameters]:
        model: Any = self.fitted.model
        if totals is not None:
            model = replace(model, kind=replace(model.kind, totals=_checked(totals, None)))
        known: Loadings[LdaParameters] = model
        return known


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
