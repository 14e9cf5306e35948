"""Latent Dirichlet allocation of counts with gaps."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Unpack

import numpy as np
from scipy.special import gammaln

from halfseen.data.arrays import Array, Mask
from halfseen.data.messages import setting
from halfseen.data.rows import Block, Rows
from halfseen.estimators.dask_methods import lazy_on_dask, lazy_transformer
from halfseen.estimators.estimator import Estimator
from halfseen.estimators.parameter_checks import (
    check_non_negative,
    check_sweeps,
    check_within_or_auto,
)
from halfseen.inference.model import Abilities, About, EMResult
from halfseen.io.source import source_of
from halfseen.io.sparse_matrix import ObservedBlocks
from halfseen.latent.importance_sampling import importance_sample
from halfseen.latent.loadings import (
    Rest,
    unrecorded,
)
from halfseen.latent.topic_concerns import alike, bursty, odd_counts
from halfseen.latent.topic_refinement import (
    MAX_ITEMS_OF_TEXT,
    document_completion,
    mean_items_per_cell,
)
from halfseen.latent.topics import LoadingDistribution, Loadings
from halfseen.models.lda.cumulants import CountCumulants, by_shares
from halfseen.models.lda.parameters import LdaParameters, ReadTopics
from halfseen.models.lda.stochastic_em import refine
from halfseen.models.topic_estimator import FitOptions, TopicEstimator
from halfseen.moments.survey import Survey

MOST_SCORED = 600
"""Rows by which numbers of topics are compared: likelihoods take a millisecond each."""
ABOUT = About(
    name="lda",
    noun="topic",
    gives="topics, of items in documents of any length",
    assumes="Items of a row are drawn independently, each from the shares of topics in the row.",
    weighting="signal",
    labels=False,
    counts=True,
)
NO_INTERVALS = (
    "There are no intervals for latent Dirichlet allocation: its topics are not moments that rows "
    "can be weighed in again. Use GammaPoisson with "
    + setting(refine=None)
    + " for intervals of topics."
)
NOT_STREAMED = (
    "Lengths of rows are found by going over them again, and those of a stream are gone. Use fit()."
)


@dataclass(frozen=True, eq=False)
class Shares(LoadingDistribution[LdaParameters]):
    """Loadings that are shares ``θ ~ Dirichlet(α)`` times a row's mean length."""

    n_sweeps: int
    smoothing: float
    concentration: float | None  # None if it is to be found
    totals: Array | None = None  # (n,)  of all rows, by number, if they are known

    @property
    def uses_row_numbers(self) -> bool:
        return self.totals is not None

    def from_moments(self, read: ReadTopics) -> LdaParameters:
        return read.parameters()

    def refine(
        self, rows: Rows, start: LdaParameters, kept: Survey, seed: int
    ) -> EMResult[LdaParameters]:
        return refine(
            rows,
            start,
            seed=seed,
            n_sweeps=self.n_sweeps,
            smoothing=self.smoothing,
            concentration=self.concentration,
            totals=self.totals,
            text=mean_items_per_cell(kept) < MAX_ITEMS_OF_TEXT,
        )

    def rest(self, block: Block, parameters: LdaParameters) -> Rest | None:
        if self.totals is None:
            return None
        totals = self.totals[block.start : block.start + len(block)]
        return unrecorded(block, parameters.topics, totals)

    def shown(self, loadings: Array) -> Array:
        shares: Array = loadings / np.maximum(loadings.sum(axis=-1, keepdims=True), 1e-300)
        return shares

    def drawn(self, parameters: LdaParameters, n_rows: int, random: Any) -> Array:
        size = (n_rows, len(parameters.shapes))
        gammas = np.maximum(random.gamma(parameters.shapes, size=size), 1e-300)
        lengths = random.gamma(parameters.length_shape, 1 / parameters.rate, size=(n_rows, 1))
        drawn: Array = lengths * self.shown(gammas)
        return drawn


def lda(kind: Shares, *, outliers: bool) -> Loadings[LdaParameters]:
    """The model."""
    return Loadings(
        kind=kind,
        about=ABOUT,
        abilities=Abilities(
            thin_products=True,
            rank_tests=True,
            not_streamed=NOT_STREAMED,
            no_intervals=NO_INTERVALS,
            no_weights="",
            refine_candidates=False,
            scored_rows=MOST_SCORED,
        ),
        cumulants=CountCumulants(),
        moment_start=partial(by_shares, totals=kind.totals, concentration=kind.concentration),
        checks=(odd_counts, bursty, alike),
        outliers=outliers,
    )


SEED = 0
SLIGHT, RARE = 1e-6, 1e-9
"""Shape and rate of a law of lengths that says nothing of them."""


def given_length(
    block: Block, parameters: LdaParameters, rest: Rest | None = None
) -> tuple[Array, Array]:
    """Log-probabilities of the items of rows, and their numbers; (n,) each.

    With a law of lengths that says nothing, ``p(x)`` is ``p(x | r)`` times the chance that r items
    are recorded, whatever the gaps. Where the ``rest`` is known, its items are among the r, each
    as one that was not recorded.
    """
    indifferent = replace(parameters, length_shape=SLIGHT, rate=RARE)
    counts = block.nonzeros()
    others = np.zeros(len(block)) if rest is None else rest.counts
    items = counts.totals() + others
    of_counts = importance_sample(block, indifferent, SEED, rest=rest).log_likelihood
    orders = gammaln(items + 1) - counts.row_sums(gammaln(counts.counts + 1)) - gammaln(others + 1)
    of_length = gammaln(SLIGHT + items) - gammaln(SLIGHT) - gammaln(items + 1)
    of_length += SLIGHT * np.log(RARE)
    return np.where(items > 0, of_counts - orders - of_length, 0.0), items


METHODS = ("importance", "completion")
FURTHEST = 1e9
"""Of concentrations, and one over it: documents are all alike, or of one topic each, long before,
and sums with what is known of their lengths still have digits."""


class LdaOptions(FitOptions, total=False):
    """Options of ``fit``."""

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
        Refine by ``n_sweeps`` of stochastic approximation EM (in text, where cells count less than
        a fifth of an item on average, by as many sweeps of expectations and a tenth as many of
        draws), or stay with what the moments say. ``"auto"`` refines where cells count less than
        one item on average, as words in documents do; ``diagnostics_.refine_reason`` says why.
    n_sweeps : int, default=100
        Sweeps over the rows in refining.

    Attributes
    ----------
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

    concentration: float | str
    smoothing: float
    n_sweeps: int

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
        self._keep_parameters(locals())

    def _check(self) -> None:
        check_sweeps(self)
        check_non_negative(self, "smoothing")
        check_within_or_auto(self, "concentration", 1 / FURTHEST, FURTHEST)

    def _model(self) -> Loadings[LdaParameters]:
        given = None if self.concentration == "auto" else float(self.concentration)
        totals = getattr(self, "_totals_given", None)  # while a call that was told them goes on
        kind = Shares(self.n_sweeps, (self.prior or 0.0) * float(self.smoothing), given, totals)
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
        """A context in which the model knows the totals of rows."""
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
        """Posterior mean shares of topics in each row; (n, k).

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
        """``exp(-log-likelihood per item)``; lower is better.

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
    """Totals of new rows."""
    if totals is None:
        return None
    source = source_of(X)
    if source.delayed or source.several:
        raise ValueError(
            "totals are those of rows by their numbers, which parts of a table do not know. Give "
            "one table in memory, or one part after the other with its own totals."
        )
    found = _checked(totals, None)
    if hasattr(X, "shape"):
        _check_all_there(found, X.shape[0])
    return found


def _checked(totals: Any, sample_weight: Any) -> Array:
    """Totals of the rows, checked."""
    found = np.asarray(totals)
    if found.dtype.kind not in "buif" or found.ndim != 1 or not _possible(found).all():
        raise ValueError(
            "totals must hold one finite number of at least 0 a row: how many items it has in all."
        )
    found = found.astype(float)
    return found if sample_weight is None else found[np.asarray(sample_weight) > 0]


def _possible(totals: Any) -> Mask:
    possible: Mask = np.isfinite(totals) & (totals >= 0)
    return possible


def _check_all_there(totals: Array, n_rows: int) -> None:
    if len(totals) != n_rows:
        raise ValueError(
            f"totals are {len(totals)} numbers for {n_rows} rows. Give one for each row, also for "
            "those in which nothing is observed."
        )
