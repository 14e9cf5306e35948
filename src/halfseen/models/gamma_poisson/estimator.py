"""Gamma-Poisson topics from tables of counts with gaps."""

import os
import warnings
from typing import Any, NamedTuple, Self, TypedDict, Unpack

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from halfseen.doubt.bootstrap import N_REPLICATES, Uncertain, bootstrapped
from halfseen.doubt.intervals import FRACTION, POSITIVE, Interval
from halfseen.estimators.from_table import fit_table
from halfseen.estimators.imputation import impute
from halfseen.estimators.lazily import lazy_on_dask
from halfseen.estimators.parameters import (
    check_choice_or_none,
    check_positive_integer,
    check_sample_size,
)
from halfseen.estimators.predictive import of_topics
from halfseen.estimators.reporting import list_concerns, write_page
from halfseen.estimators.sanity import warn_of_empty
from halfseen.estimators.streaming import streams, with_batch
from halfseen.method.fit import (
    Fit,
    check_shared_parameters,
    fit_stream,
    keep_shared,
)
from halfseen.method.recipe import Recipe
from halfseen.method.refinement import Refined, Refinement
from halfseen.models.counts import check_counts
from halfseen.models.forms import kind_of
from halfseen.models.gamma_poisson.cumulants import GammaPoissonModel
from halfseen.models.gamma_poisson.importance import importance_sample
from halfseen.models.gamma_poisson.loading_moments import TopicParameters
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.models.gamma_poisson.posterior import factorised_posterior, likelihood_bound
from halfseen.models.gamma_poisson.regression import TopicRegression
from halfseen.models.gamma_poisson.stochastic_em import polish
from halfseen.moments.survey import Survey, survey
from halfseen.rows.arrays import Array
from halfseen.rows.errors import LikelihoodWarning
from halfseen.rows.memory import MemoryRows
from halfseen.rows.rows import Block, Rows
from halfseen.rows.sparse.rows import SparseRows
from halfseen.store.model_file import save
from halfseen.tables.arrays_and_frames import in_memory, read_new_table, row_by_row
from halfseen.tables.columns import in_fitted_order
from halfseen.tables.observed_blocks import ObservedBlocks, check_no_blocks
from halfseen.tables.sparse_matrix import read_sparse

FEW_DRAWS = 20
LIKELIHOOD_SEED = 0
"""Of the likelihood's importance draws: scores are the same whenever they are asked for."""
MOST_SCORED = 600
"""Rows by which numbers of topics are compared: likelihoods take a millisecond each."""


class Likelihood(NamedTuple):
    """Log-likelihoods of rows and how exact they are, each (n,)."""

    log_likelihood: Array
    standard_error: Array
    effective_draws: Array  # of the draws of importance sampling
    bound: Array  # what the log-likelihood cannot be below


class Loadings(NamedTuple):
    """What is known of rows' loadings given their observed counts, each (n, k)."""

    mean: Array
    std: Array


class StreamOptions(TypedDict, total=False):
    """What :meth:`GammaPoisson.partial_fit` takes besides the batch."""

    sample_weight: Any


class FitOptions(StreamOptions, total=False):
    """What :meth:`GammaPoisson.fit` takes besides the table."""

    observed: ObservedBlocks | None


@lazy_on_dask("transform", "posterior", "likelihood", "score_samples", "impute", "_totals")
class GammaPoisson(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Topics whose gamma-distributed loadings add up to Poisson counts, from tables with gaps.

    Row n has a loading ``α_nk ~ Gamma(shape c_k, rate b)`` on each topic, and feature d the count
    ``x_nd ~ Poisson(Σ_k α_nk a_kd)``. A zero is an observed count; NaN marks a count that was not
    recorded. Assumes that counts are missing completely at random and that row totals vary more
    than Poisson ones.

    Parameters
    ----------
    n_components : int or "auto", default=1
        How many topics there are. ``"auto"`` chooses: see :func:`halfseen.choose_components`.
    method : {"weighted", "full", "partial"}, default="weighted"
        Weight the features, take all as equal, or use complete features only.
    feature_weights : {"auto", "observed", "sqrt", "none", "signal"} or array, default="auto"
        The weights of ``method="weighted"``. ``"auto"`` weighs a feature by how often it is
        observed and by how much of its variance is signal.
    complete_above : float, default=0.95
        A feature observed in at least this fraction of rows counts as complete.
    incomplete_features : {"regress", "divide"}, default="regress"
        Find incomplete features' shares by regression on predicted loadings, or divide by their
        weights as in the paper.
    decomposer : {"joint", "power", "jennrich"}, default="joint"
        Joint diagonalisation, the tensor power method, or one random contraction.
    third_moment : {"auto", "explicit", "implicit"}, default="auto"
        Form the third moment of all triples of features, or never form it, which takes time linear
        in the table but assumes that features (or groups of features) are missing independently of
        each other. ``"auto"`` chooses by cost and by a test; ``diagnostics_`` says what and why.
    moments : {"available", "adjusted"}, default="available"
        Take each moment from the rows that hold what it needs, or also use what the complete
        features predict in the others (control variates), which takes about three times as long
        and often makes moments of rarely observed features more certain.
    refine : {"saem"} or None, default=None
        Polish by stochastic approximation EM, or stay with what the moments say. Worth its time
        when rows hold many counts.
    n_sweeps : int, default=1000
        Sweeps of stochastic approximation EM over the rows.
    random_state : int, RandomState or None, default=None
        Seeds the decomposer (``"joint"`` uses no randomness), refining and drawing.
    n_jobs : int or None, default=None
        Threads over blocks of rows.
    verbose : int, default=0
        Show progress.

    Attributes
    ----------
    components_ : ndarray of shape (k, d)
        Topics: the share of each feature in each topic. Rows sum to one; zero for features that
        are constant or were never observed.
    shapes_ : ndarray of shape (k,)
        Shapes ``c`` of the loadings.
    rate_ : float
        Rate ``b`` of the loadings; ``shapes_.sum() / rate_`` is the mean row total.
    feature_weights_, observed_fraction_, complete_features_, kept_features_ : ndarray of shape (d,)
        Weights in the fit (zero if not used), fractions of rows observed, which features counted
        as complete, and which vary.
    constants_ : ndarray of shape (d,)
        Values of the features that do not vary, NaN for those that do or were never observed.
    n_components_ : int
        How many topics there are.
    n_iter_ : int
        Sweeps over the rows that refining took.
    diagnostics_ : Diagnostics
        How the fit went, and what to be careful about.
    preprocessing_ : Preprocessing or None
        What the command line did to the columns before the fit; None if nothing.
    columns_by_name_ : bool
        Whether data frames may have their columns in any order: true of models from files.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    A. Podosinnikova, F. Bach, S. Lacoste-Julien (2015), Rethinking LDA: moment matching for
    discrete ICA. O. Gottesman, W. Pan, F. Doshi-Velez (2018), Weighted tensor decomposition for
    learning latent variables with partial data.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import GammaPoisson
    >>> rng = np.random.default_rng(0)
    >>> topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    >>> X = rng.poisson(rng.gamma(1.0, 20.0, size=(5000, 2)) @ topics).astype(float)
    >>> X[rng.random(5000) < 0.5, 3] = np.nan
    >>> model = GammaPoisson(n_components=2).fit(X)
    >>> np.sort(model.components_, axis=0).round(1)
    array([[0. , 0. , 0. , 0. ],
           [0.5, 0.5, 0.5, 0.5]])
    >>> model.transform(X).shape
    (5000, 2)
    """

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
        refine: str | None = None,
        n_sweeps: int = 1000,
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
        self.refine = refine
        self.n_sweeps = n_sweeps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, **options: Unpack[FitOptions]) -> Self:
        """Learn the topics from counts ``X`` (n, d), in which NaN marks the gaps.

        X is an array or a data frame; a SciPy sparse matrix whose stored NaNs are gaps; the path of
        a Parquet, Arrow, Feather, CSV, TSV or NumPy file or of a folder of them
        (:class:`halfseen.Files` to choose columns); or a list of batches of rows, or any other
        object that gives the same batches each time it is gone through; or a ``dask.array``, dense
        or of CSR blocks, or ``dask.dataframe``, which Dask's workers sum. Options are
        ``sample_weight`` (n,), a row with a weight of 2 counting as if it were there twice, and
        ``observed``, an :class:`ObservedBlocks` that says which blocks of columns the rows of a
        sparse matrix have.
        """
        # A parameter by that name would make check_estimator fit fractions, tags or no tags.
        sample_weight = options.pop("sample_weight", None)
        observed = options.pop("observed", None)
        if options:
            raise TypeError(f"GammaPoisson.fit() got an unexpected argument {min(options)!r}")
        self._check_parameters()
        fit = fit_table(self, X, sample_weight, self._recipe(), observed)
        return self._keep(fit)

    @available_if(streams)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any = None, *, refit: bool = True, **options: Unpack[StreamOptions]
    ) -> Self:
        """Learn from another batch of rows, which need not be kept.

        The sums of all batches so far are in ``stream_``, to be saved and taken up again; X may
        also be such a :class:`Stream`, which is added. The topics are read off the moments alone:
        ``refine`` needs rows that can be gone over again. The first batch should be typical, as
        moments are taken about its means. With ``refit=False`` rows are added and nothing is
        learned, which is faster, and right while there are too few. The one option is
        ``sample_weight``.
        """
        sample_weight = options.pop("sample_weight", None)
        if options:
            raise TypeError(
                f"GammaPoisson.partial_fit() got an unexpected argument {min(options)!r}"
            )
        self._check_parameters()
        self.stream_ = with_batch(self, X, sample_weight, check_counts)
        if not refit:
            return self
        return self._keep(fit_stream(self, self.stream_, self._recipe()))

    def _check_parameters(self) -> None:
        check_shared_parameters(self)
        check_choice_or_none(self, "refine", ("saem",))
        check_positive_integer(self, "n_sweeps")

    def _recipe(self) -> Recipe[TopicParameters]:
        return Recipe(
            model=GammaPoissonModel(),
            auto_weighting="signal",
            regression=lambda kept: TopicRegression(np.zeros(len(kept.names))),
            refinement=None if self.refine is None else self._refinement,
            log_likelihood=_log_likelihood,
            check=check_counts,
            thin=True,
            refine_candidates=False,
            most_scored=MOST_SCORED,
        )

    def _keep(self, fit: Fit[TopicParameters]) -> Self:
        seen = fit.survey
        for name, value in self._public(fit.parameters, seen).items():
            setattr(self, name, value)
        self.constants_ = np.where(seen.kept, np.nan, seen.sums.mean)
        keep_shared(self, fit)
        self.n_iter_ = 0 if fit.climb is None else fit.climb.n_iterations
        shares = self.shapes_ / self.shapes_.sum()
        warn_of_empty("Topic", shares, seen.sums.n_rows)
        return self

    @staticmethod
    def _public(parameters: TopicParameters, seen: Survey) -> dict[str, Any]:
        """What is learned, by the names under which it is kept."""
        matching = GammaPoissonParameters.matching(parameters)
        components = np.zeros((len(matching.shapes), len(seen.names)))
        components[:, seen.kept] = matching.topics
        return {"components_": components, "shapes_": matching.shapes, "rate_": matching.rate}

    def intervals(
        self,
        X: Any,
        level: float = 0.95,
        *,
        groups: Any = None,
        n_replicates: int = N_REPLICATES,
        sample_weight: Any = None,
        observed: ObservedBlocks | None = None,
    ) -> dict[str, Interval]:
        """Confidence intervals for ``components_``, ``shapes_`` and ``rate_``.

        By bootstrap of the moments: rows, in bins, count more or less, and the topics are read off
        each time, matched to those of the fit. With ``refine="saem"`` there are none.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d), path or list of batches
            The table that the model was learned from.
        level : float, default=0.95
            The probability that an interval holds the truth.
        groups : array of shape (n,) or None, default=None
            A label for each row if rows depend on each other, such as the patient it is of.
        n_replicates : int, default=200
            How many replicates there are.
        sample_weight : array of shape (n,) or None, default=None
            As given to :meth:`fit`.
        observed : ObservedBlocks or None, default=None
            As given to :meth:`fit`.

        Returns
        -------
        dict of str to Interval
            For each attribute the arrays ``low``, ``high`` and ``std`` (standard errors), shaped
            like the attribute.
        """
        check_is_fitted(self)
        if self.refine is not None:
            raise ValueError(
                "There are no intervals for topics polished with refine='saem'. Fit with "
                "refine=None for intervals."
            )
        uncertain = Uncertain(
            self._parameters().loading_moments(),
            scales={"components_": FRACTION, "shapes_": POSITIVE, "rate_": POSITIVE},
            public=self._public,
            places=lambda topics: topics.normalised().topics,
            reordered=TopicParameters.reordered,
            refined=None,
        )
        return bootstrapped(
            self,
            X,
            self._recipe(),
            uncertain,
            level=level,
            groups=groups,
            n_replicates=n_replicates,
            sample_weight=sample_weight,
            observed=observed,
        )

    def _refinement(self, kept: Survey) -> Refinement[TopicParameters]:
        seed = check_random_state(self.random_state).randint(2**31)

        def refine(rows: Rows, start: TopicParameters) -> Refined[TopicParameters]:
            refined = polish(
                rows, GammaPoissonParameters.matching(start), seed=seed, n_sweeps=self.n_sweeps
            )
            return Refined(refined.parameters.loading_moments(), refined.climb)

        return refine

    def transform(self, X: Any, observed: ObservedBlocks | None = None) -> Array:
        """Posterior mean loadings of each row given its observed counts; (n, k).

        By mean-field variational inference. What it expects of counts is close to exact; of topics
        that share many features it may give one the loading of another.
        """
        parameters = self._parameters()
        return row_by_row(
            self._kept_rows(X, observed), lambda block: factorised_posterior(block, parameters).mean
        )

    def fit_transform(self, X: Any, y: Any = None, **options: Unpack[FitOptions]) -> Any:
        """Fit, and the posterior mean loadings of the same rows; (n, k)."""
        observed = options.get("observed")
        return self.fit(X, y, **options).transform(X, observed=observed)

    def posterior(self, X: Any, observed: ObservedBlocks | None = None) -> Loadings:
        """Means and standard deviations of each row's loadings given its observed counts.

        By importance sampling, which takes longer than :meth:`transform` and knows that topics
        which share features trade loadings.
        """
        parameters = self._parameters()

        def columns(block: Block) -> Array:
            sample = importance_sample(block, parameters, LIKELIHOOD_SEED)
            variances = np.diagonal(sample.covariance, axis1=1, axis2=2)
            return np.hstack([sample.mean, np.sqrt(np.maximum(variances, 0.0))])

        return Loadings(*np.hsplit(row_by_row(self._kept_rows(X, observed), columns), 2))

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

    def likelihood(self, X: Any, observed: ObservedBlocks | None = None) -> Likelihood:
        """Log-likelihoods of rows' observed counts, and how exact they are.

        By importance sampling at the posterior mode of the loadings; the same for a row wherever it
        stands. The bound is that of mean-field variational inference, usually half a unit too low.
        """
        parameters = self._parameters()

        def columns(block: Block) -> Array:
            sample = importance_sample(block, parameters, LIKELIHOOD_SEED)
            return np.column_stack([*sample[:3], likelihood_bound(block, parameters)])

        found = Likelihood(*row_by_row(self._kept_rows(X, observed), columns).T)
        rough = int(np.count_nonzero(found.effective_draws < FEW_DRAWS))
        if rough:
            warnings.warn(
                f"The likelihoods of {rough} of {len(found.bound)} rows rest on fewer than "
                f"{FEW_DRAWS} effective draws and are probably too low. Use fewer components, or "
                "compare models by likelihood(X).bound.",
                LikelihoodWarning,
                stacklevel=2,
            )
        return found

    def score_samples(self, X: Any, observed: ObservedBlocks | None = None) -> Array:
        """Log-likelihood of the observed counts of each row; (n,)."""
        return self.likelihood(X, observed).log_likelihood

    def score(self, X: Any, y: Any = None, observed: ObservedBlocks | None = None) -> float:
        """Mean log-likelihood of the rows."""
        return float(self.score_samples(X, observed).mean())

    def perplexity(self, X: Any, observed: ObservedBlocks | None = None) -> float:
        """``exp(-log-likelihood per counted item)``: lower is better."""
        n_items = float(self._totals(X, observed).sum())
        return float(np.exp(-float(self.score_samples(X, observed).sum()) / max(n_items, 1.0)))

    def _totals(self, X: Any, observed: ObservedBlocks | None) -> Array:
        """How much each row counts in all; (n,)."""
        return row_by_row(self._kept_rows(X, observed), lambda block: block.nonzeros().totals())

    def impute(self, X: Any, *, return_std: bool = False, draws: int | None = None) -> Any:
        """``X`` with each gap filled by its expectation given the row's observed counts.

        Arrays come back as arrays and data frames as data frames, with observed cells, names and
        index as they were; those of Dask come back lazily. A constant feature is filled with its
        constant; one that was never observed in the fit stays as it is.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
            The table to fill.
        return_std : bool, default=False
            Return also each cell's predictive standard deviation, zero where it was observed.
        draws : int or None, default=None
            Return this many tables with gaps filled by random counts from their distribution given
            what is observed, for multiple imputation.
        """
        ordered = in_fitted_order(self, X)
        table = read_new_table(self, ordered, check_counts)
        kept, random = self.kept_features_, check_random_state(self.random_state)
        predictive = of_topics(
            table[:, kept], self._parameters(), kept, self.constants_, LIKELIHOOD_SEED, random
        )
        return impute(X, ordered, table, predictive, return_std=return_std, draws=draws)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to one file, for :func:`halfseen.load`.

        A file that is there already is not replaced unless ``overwrite`` says so. Until the new one
        is whole the old one stays, even if the process is killed.
        """
        save(self, path, kind_of(type(self)), overwrite=overwrite)

    def concerns(
        self, X: Any, *, groups: Any = None, observed: ObservedBlocks | None = None
    ) -> list[Any]:
        """What speaks against taking the model at its word, in sentences.

        Checks whether gaps depend on values or come in blocks, whether pairs of features are seen
        together often enough, whether features are related at all, how many topics the second
        moments support, whether topics are alike, whether row totals vary enough, and whether
        second and third moments agree. Each is a test that rarely fires without cause.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches
            The table that the model was learned from.
        groups : array of shape (n,) or None, default=None
            A label for each row if rows depend on each other, such as the patient it is of.
        observed : ObservedBlocks or None, default=None
            As given to :meth:`fit`.

        Returns
        -------
        list of Concern
            Each with a ``kind`` and a ``sentence`` that says what to do.
        """
        check_is_fitted(self)
        return list_concerns(self, X, groups=groups, observed=observed)

    def report(
        self,
        X: Any,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        include_rows: bool = False,
        overwrite: bool = False,
        groups: Any = None,
    ) -> None:
        """Write one HTML page that explains the model, learned from ``X`` (n, d) or the like.

        It opens without a network, and holds no row of X unless ``include_rows`` says so. A file
        that is there already is not replaced unless ``overwrite`` says so. ``groups`` (n,) label
        rows that depend on each other, such as those of one patient.
        """
        check_is_fitted(self)
        write_page(
            self,
            X,
            path,
            title=title,
            include_rows=include_rows,
            overwrite=overwrite,
            groups=groups,
        )

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Draw rows of counts without gaps, and the loadings they come from."""
        check_is_fitted(self)
        check_sample_size(n_samples)
        random = check_random_state(self.random_state)
        loadings = random.gamma(self.shapes_, 1 / self.rate_, size=(n_samples, self.n_components_))
        counts = random.poisson(loadings @ self.components_).astype(float)
        return counts, loadings

    def _kept_rows(self, X: Any, observed: ObservedBlocks | None) -> MemoryRows | SparseRows:
        check_is_fitted(self)
        kept = self.kept_features_
        if not issparse(X):
            check_no_blocks(observed)
            return in_memory(read_new_table(self, X, check_counts)[:, kept])
        rows = read_sparse(self, X, reset=False, observed=observed)
        check_counts(survey(rows, 1.0))
        return rows.select(kept)

    def _parameters(self) -> GammaPoissonParameters:
        """The model of the features that vary."""
        check_is_fitted(self)
        topics = self.components_[:, self.kept_features_]
        return GammaPoissonParameters(topics, self.shapes_, self.rate_)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        # scikit-learn has no tag for counts; this one makes its checks use whole numbers.
        tags.input_tags.categorical = True
        return tags


def _log_likelihood(block: Block, parameters: TopicParameters) -> Array:
    matching = GammaPoissonParameters.matching(parameters)
    return importance_sample(block, matching, LIKELIHOOD_SEED).log_likelihood
