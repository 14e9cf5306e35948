"""The base class of all estimators: scikit-learn's methods, once."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.errors import WeakMomentsWarning, warn
from halfseen.data.feature_sums import PossibleValues
from halfseen.data.formatting import plural
from halfseen.data.progress import Stages
from halfseen.data.rows import Rows, any_observed, gathered, in_given_order
from halfseen.diagnostics.concerns import Concern, ConcernContext, concerns_of
from halfseen.diagnostics.cross_validation import bins_for
from halfseen.diagnostics.intervals import FEWEST_REPLICATES, N_REPLICATES, Interval, bootstrapped
from halfseen.diagnostics.number_of_components import CANDIDATE_PASSES, ChoiceContext, choose
from halfseen.diagnostics.topics import USUAL_RELEVANCE
from halfseen.estimators.dask_methods import lazy_on_dask
from halfseen.estimators.docstrings import complete
from halfseen.estimators.imputation import filled, spread_out
from halfseen.estimators.information_criteria import at_maximum
from halfseen.estimators.parameter_checks import check_count, check_parameters
from halfseen.estimators.reading import (
    new_rows,
    opened,
    rows_and_tables,
    same_rows,
    streams,
    with_batch,
)
from halfseen.estimators.serialisation import kind_of, save
from halfseen.federated.rounds import learn_from, take_names
from halfseen.federated.sums import Stream
from halfseen.inference.fit import Fit, Fitted, fit_rows, fit_sums, look_through
from halfseen.inference.model import About, Model
from halfseen.inference.parameters import attributes, parameters_of
from halfseen.inference.plan import Settings
from halfseen.io.coding import decode, unused_names
from halfseen.io.source import source_of
from halfseen.io.sparse_matrix import ObservedBlocks
from halfseen.io.validation import feature_names
from halfseen.moments.survey import Survey, survey
from halfseen.persistence.atomic import check_not_input
from halfseen.persistence.model_file import EstimatorKind


def labelled(estimator: Any) -> bool:
    """Whether the latent variable is one component a row."""
    return bool(estimator.about.labels)


class Estimator(BaseEstimator):
    """Base class of all estimators, with scikit-learn's methods.

    A subclass says with :meth:`_model` which model its parameters make and, if it has parameters
    of its own, has an ``__init__`` that names all of them.

    Parameters
    ----------
    n_components : int or "auto", default=1
        How many components there are. ``"auto"`` chooses: see :func:`halfseen.choose_components`.
    method : {"weighted", "full", "partial"}, default="weighted"
        In the moments, weight the features, take all as equal, or use complete features only.
    feature_weights : {"auto", "observed", "sqrt", "none", "signal"} or array, default="auto"
        The weights of ``method="weighted"``. ``"auto"`` is the model's own rule.
    complete_above : float, default=0.95
        A feature observed in at least this fraction of rows counts as complete.
    incomplete_features : {"regress", "divide"}, default="regress"
        Find incomplete features' parameters by regression on what the complete ones say of the
        components, or divide by their weights as in the paper.
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
    outliers : {"auto"} or None, default="auto"
        Keep wild cells and rows from deciding the model, if there are any, or take every value at
        its word, as the paper does.
    prior : float or None, default=1.0
        The strength of the weak priors that keep components of few rows from shrinking to a point
        and probabilities from being exactly 0 or 1, relative to the usual strength; None (or 0) is
        maximum likelihood. Each of them is described in the guide on priors, and counts for less
        the more rows there are.
    refine : {"em"} or None, default="em"
        Refine by expectation-maximisation, or stay with what the moments say.
    tol : float, default=1e-7
        EM stops when a step gains less than this in mean log-likelihood. Where that is less than
        .002 in the log-likelihood of all rows (by default up to 20,000 of them) all further steps
        together must gain less than .002, by how fast gains fall; and on tables of up to 5,000 rows
        the parameters must be at rest too, or nearly.
    max_iter : int, default=500
        EM stops after this many passes over the rows.
    random_state : int, RandomState or None, default=None
        Seeds the decomposer (``"joint"`` uses no randomness), refining and drawing.
    n_jobs : int or None, default=None
        Threads over blocks of rows.
    verbose : int, default=0
        Show progress.

    Attributes
    ----------
    feature_weights_ : ndarray of shape (d,)
        Weight of each feature in the fit, zero if it was not used.
    observed_fraction_ : ndarray of shape (d,)
        Fraction of rows in which each feature is observed.
    complete_features_ : ndarray of bool of shape (d,)
        Which features counted as complete.
    kept_features_ : ndarray of bool of shape (d,)
        Which features vary, and so are part of the model.
    constants_ : ndarray of shape (d,)
        Values of the features that do not vary, NaN for those that do or were never observed.
    value_ranges_ : ndarray of shape (2, d)
        The lowest and the highest value of each feature that is no outlier, infinite if it was
        never observed.
    value_steps_ : ndarray of shape (d,)
        From one value of a feature to the next: 1 for whole numbers, the width of the range if
        there are two values only, and 0 for everything else.
    value_limits_ : ndarray of shape (2, d)
        What is filled in, or drawn, is not beyond these, infinite if a feature has no limit: the
        ends of its range where many rows are, both of two values, and zero if no value is on its
        other side and values come near to it or are skewed.
    n_components_ : int
        How many components there are.
    n_iter_ : int
        Passes over the rows that refining took.
    converged_ : bool
        Whether refining stopped by itself.
    lower_bound_ : float or None
        Mean log-likelihood of the rows at the end of refining, if it is known.
    diagnostics_ : Diagnostics
        How the fit went, and what to be careful about.
    preprocessing_ : Preprocessing or None
        What the command line did to the columns before the fit; None if nothing.
    text_ : Text or None
        How a column of text of the file was counted by words; None if there was none.
    tables_ : KeptTables or None
        The tables that the model was learned from, where :func:`halfseen.together` gave several.
    columns_by_name_ : bool
        Whether data frames may have their columns in any order: true of models from files.
    n_features_in_ : int
        How many features there are; ``feature_names_in_`` names them, if they have names.
    """

    about: ClassVar[About]
    Parameters: ClassVar[type[Any]]
    """What the model learns."""
    refinements: ClassVar[tuple[str, ...]] = ("em",)
    """What ``refine`` may be, besides None."""
    takes_kinds: ClassVar[bool] = False
    """Whether columns may be of words, and a parameter ``kinds`` says what columns are."""
    later: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    """Learned attributes that older model files do not have, from those that they do."""
    decided: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """What fits decide that parameters leave open, beside what models learn, with its forms."""

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
        refine: str | None = "em",
        tol: float = 1e-7,
        max_iter: int = 500,
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
        self.refine = refine
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _keep_parameters(self, given: Mapping[str, Any]) -> None:
        """Store constructor parameters as attributes, as scikit-learn requires."""
        self.__dict__.update((name, given[name]) for name in self._get_param_names())

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in cls.__mro__[1:]:
            if base.__module__.startswith("halfseen.") and base.__doc__:  # none with python -OO
                cls.__doc__ = complete(cls, base.__doc__)

    def learns(self, decided: Mapping[str, Any]) -> type[Any]:
        """The class of learned parameters, given parameters and what a fit ``decided``."""
        return self.Parameters

    def _model(self) -> Model[Any]:
        """The model for the constructor parameters."""
        raise NotImplementedError

    def _check(self) -> None:
        """Check parameters of the subclass."""

    def checked(self) -> tuple[Settings, Model[Any]]:
        """The checked parameters, and the model for them."""
        return self._checked_settings(), self._model()

    def _checked_settings(self) -> Settings:
        check_parameters(self)
        self._check()
        return Settings.of(self)

    def candidate(self) -> Model[Any]:
        """The model for fits that are only compared."""
        like = clone(self)
        if "max_iter" in like.get_params():  # topics have none, and are not climbed to be compared
            like.set_params(max_iter=min(self.max_iter, CANDIDATE_PASSES))
        if self.takes_kinds:
            like.coding_ = self.coding_
        return cast("Model[Any]", like._model())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model, and choose what parameters leave open.

        X is an array or a data frame; the path of a Parquet, Arrow, Feather, CSV, TSV or NumPy file
        or of a folder of them (:class:`halfseen.Files` to choose columns); or a list of batches of
        rows, or any other object that gives the same batches each time it is gone through. A
        ``dask.array`` or ``dask.dataframe`` is summed by Dask's workers. Several tables that share
        some columns are given by :func:`halfseen.together`, and sums of rows that are elsewhere by
        :func:`halfseen.summed`.
        A row with a ``sample_weight`` of 2 counts as if it were there twice.
        """
        return self._learn(X, sample_weight, None)

    def _learn(
        self, X: Any, sample_weight: Any, observed: ObservedBlocks | None, vocabulary: Any = None
    ) -> Self:
        settings = self._checked_settings()
        for name in ("stream_", "tables_"):
            self.__dict__.pop(name, None)  # a fit starts anew
        table = getattr(X, "table", X)  # of sequences
        if isinstance(table, Stream):
            return self._learn_sums(table)
        opened_table = opened(self, X, sample_weight, observed, vocabulary)
        rows, stages = opened_table.rows, opened_table.stages
        self.text_ = opened_table.text
        model = self._model()  # which may rest on what the columns are
        seen = look_through(settings, model, rows, stages, unused_names(self))
        fit = self._fit(settings, model, rows, seen, stages)
        columns = opened_table.described(seen.sums)
        return self._keep(replace(fit, diagnostics=replace(fit.diagnostics, columns=columns)))

    def _learn_sums(self, stream: Stream) -> Self:
        """Learn from sums of rows that are elsewhere."""
        fit = learn_from(self, stream)
        take_names(self, stream)
        self.stream_ = stream
        return self._keep(fit)

    def choosing(self) -> ChoiceContext:
        """What the choice of the number of components needs."""
        coding = getattr(self, "coding_", None)
        nominal = None if coding is None else coding.nominal
        return ChoiceContext(
            self.candidate(), nominal, getattr(self, "gaps", None) == "informative"
        )

    def _fit(
        self, settings: Settings, model: Model[Any], rows: Rows, seen: Survey, stages: Stages
    ) -> Fit[Any]:
        """Fit the model, and choose what parameters leave open."""
        if settings.n_components != "auto":
            return fit_rows(settings, model, rows, seen, settings.n_components, stages)
        with stages("number of components"):
            choice = choose(settings, model, rows, seen, context=self.choosing())
        fit = fit_rows(settings, model, rows, seen, choice.n_components, stages)
        return replace(fit, diagnostics=replace(fit.diagnostics, choice=choice))

    @available_if(streams)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, refit: bool = True
    ) -> Self:
        """Learn from another batch of rows.

        The sums of all batches so far are in ``stream_``, to be saved and taken up again; X may
        also be such a :class:`Stream`, which is added. The model is read off the moments alone:
        ``refine`` needs rows that can be gone over again. The first batch should be typical, as
        moments are taken about its means. With ``refit=False`` rows are added and nothing is
        learned, which is faster, and right while there are too few.
        """
        return self._learn_more(X, sample_weight, refit)

    def _learn_more(self, X: Any, sample_weight: Any, refit: bool) -> Self:
        settings, model = self.checked()
        self.stream_ = with_batch(self, X, sample_weight, model.check)
        if not refit:
            return self
        return self._keep(fit_sums(settings, model, self.stream_.names, self.stream_.sums))

    def _keep(self, fit: Fit[Any]) -> Self:
        seen, convergence, model = fit.survey, fit.convergence, fit.model
        choice = fit.diagnostics.choice
        self.feature_weights_ = fit.feature_weights
        self.observed_fraction_ = seen.sums.observed_fraction
        self.complete_features_ = seen.complete
        self.kept_features_ = seen.kept
        self.constants_ = np.where(seen.kept, np.nan, seen.sums.mean)
        possible = PossibleValues.of(seen.sums).narrowed(fit.usual)
        self.value_ranges_ = np.array([possible.low, possible.high])
        self.value_steps_ = possible.step
        self.value_limits_ = fit.limits
        self.n_components_ = fit.n_components
        self.diagnostics_ = fit.diagnostics
        self.preprocessing_ = None
        self.text_, self.tables_ = getattr(self, "text_", None), getattr(self, "tables_", None)
        self.columns_by_name_ = False  # as scikit-learn wants it; models from files do
        self.n_iter_ = 0 if convergence is None else convergence.n_iterations
        self.converged_ = convergence is None or convergence.converged
        self.lower_bound_ = None if convergence is None else convergence.log_likelihood
        found = attributes(fit.parameters, seen.kept, self.constants_, model.axes)
        for name, value in found.items():
            setattr(self, name, value)
        wanted = self.n_components if choice is None else choice.n_components
        self._warn_of_empty(int(wanted), model.shares(fit.parameters), seen.sums.n_rows)
        if not self.converged_ and not hasattr(self, "stream_"):  # of which each round is a step
            warn(
                f"The likelihood was still rising after max_iter={self.max_iter} passes. Raise "
                "max_iter, or raise tol to be content with less.",
                ConvergenceWarning,
            )
        return self

    def _warn_of_empty(self, wanted: int, shares: Array, n_rows: float) -> None:
        """Warn of components with less than one row."""
        left = int(np.count_nonzero(shares >= 1 / n_rows))
        if left < wanted:
            noun = "component" if self.about.labels else self.about.noun
            nouns, these = plural(noun), noun if left == 1 else plural(noun)
            removed = " and were removed" if len(shares) < wanted else ""
            warn(
                f"{wanted - left} of {wanted} {nouns} ended with less than one row's weight"
                f"{removed}: the data support fewer. Use at most {left} {these}.",
                WeakMomentsWarning,
            )

    @property
    def fitted(self) -> Fitted[Any]:
        """What was learned, without scikit-learn, for diagnostics and reports."""
        check_is_fitted(self)
        model = self._model()
        parameters = parameters_of(
            self.learns(vars(self)), vars(self), self.kept_features_, self.n_components_, model.axes
        )
        return self._fitted_with(model, parameters)

    def _fitted_with(self, model: Model[Any], parameters: Any) -> Fitted[Any]:
        settings = Settings.of(self)
        if settings.refine == "auto" and self.n_iter_ == 0:  # which is what was decided
            settings = replace(settings, refine=None)
        return Fitted(
            model,
            settings,
            parameters,
            feature_names(self),
            self.kept_features_,
            self.complete_features_,
            self.observed_fraction_,
            self.feature_weights_,
            self.constants_,
            self.n_components_,
            self.converged_,
            self.diagnostics_,
            self.preprocessing_,
            type(self).__name__,
            hasattr(self, "stream_"),
            PossibleValues(
                self.value_ranges_[0],
                self.value_ranges_[1],
                self.value_steps_,
                self.value_limits_[0],
                self.value_limits_[1],
            ),
            getattr(self, "coding_", None),
        )

    def _each(self, X: Any, observed: ObservedBlocks | None) -> Callable[..., Array]:
        """A function that applies another to all rows of X, block by block."""
        rows = new_rows(self, X, observed).select(self.kept_features_)
        return lambda function: in_given_order(rows, gathered(rows, function))

    def hidden(self, X: Any, observed: ObservedBlocks | None = None) -> Array:
        """Posterior probabilities of components, or expected loadings; (n, k)."""
        fitted, each = self.fitted, self._each(X, observed)
        return each(lambda block: fitted.model.expected_latent(block, fitted.parameters))

    @available_if(labelled)  # type: ignore[untyped-decorator]
    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Labels:
        """Learn the model and return the most probable component of each row."""
        labels: Labels = self.fit(X, sample_weight=sample_weight).predict(X)
        return labels

    @available_if(labelled)  # type: ignore[untyped-decorator]
    @lazy_on_dask
    def predict(self, X: Any) -> Labels:
        """The most probable component of each row given what is observed in it; (n,)."""
        labels: Labels = self.predict_proba(X).argmax(axis=1)
        return labels

    @available_if(labelled)  # type: ignore[untyped-decorator]
    @lazy_on_dask
    def predict_proba(self, X: Any) -> Array:
        """The probability of each component given what is observed in a row; (n, k)."""
        return self.hidden(X)

    @lazy_on_dask
    def score_samples(self, X: Any, observed: ObservedBlocks | None = None) -> Array:
        """Log-likelihood of what is observed in each row; (n,)."""
        fitted, each = self.fitted, self._each(X, observed)
        return each(lambda block: fitted.model.log_likelihood(block, fitted.parameters))

    @lazy_on_dask
    def unusual(self, X: Any, observed: ObservedBlocks | None = None) -> Array:
        """How unusual each row is, from 0 to 1; (n,).

        Near 1 if a value is far from what any component gives, such as one that was mistyped, or if
        the values of a row are together further out than rows are: what is said of the row's
        component then rests on the others of its values, or on little.
        """
        fitted, each = self.fitted, self._each(X, observed)
        return each(lambda block: fitted.model.unusual(block, fitted.parameters))

    def score(self, X: Any, y: Any = None, observed: ObservedBlocks | None = None) -> float:
        """Mean log-likelihood of the rows that hold an observed cell."""
        heights, counts = self.score_samples(X, observed), self._hold_something(X, observed)
        return float((heights * counts).sum() / counts.sum())

    @lazy_on_dask
    def _hold_something(self, X: Any, observed: ObservedBlocks | None) -> Mask:
        """Whether each row has an observed cell; (n,)."""
        something: Any = self._each(X, observed)(any_observed)
        return cast("Mask", something)

    @available_if(labelled)  # type: ignore[untyped-decorator]
    def aic(self, X: Any) -> float:
        """Akaike information criterion; lower is better. See :meth:`bic`."""
        return at_maximum(self, new_rows(self, X)).aic

    @available_if(labelled)  # type: ignore[untyped-decorator]
    def bic(self, X: Any) -> float:
        """Bayesian information criterion; lower is better.

        ``X`` is the table that the model was learned from. The criterion is that of the maximum of
        the likelihood, to which EM without priors leads from the fit, or of the fit itself where
        there is none. Rows without any observed cell do not count.
        """
        return at_maximum(self, new_rows(self, X)).bic

    @lazy_on_dask
    def impute(
        self,
        X: Any,
        *,
        return_std: bool = False,
        draws: int | None = None,
        possible: bool = False,
    ) -> Any:
        """``X`` with each gap filled by its conditional expectation.

        Arrays come back as arrays and data frames as data frames, with observed cells, names and
        index as they were; those of Dask come back lazily, batches as a list of batches, files as
        an Arrow table. A constant feature is filled with its constant; one that was never observed
        in the fit stays as it is. Nothing is filled in that is lower or higher than all values of
        its feature in the fit.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches
            The table to fill.
        return_std : bool, default=False
            Return also each cell's predictive standard deviation, zero where it was observed.
        draws : int or None, default=None
            Return this many tables with gaps filled by random draws from their distribution given
            what is observed, for multiple imputation.
        possible : bool, default=False
            Fill only with values that a feature can have: the nearest whole number where the fit
            saw whole numbers only, the nearer of two values where it saw no others.
        """
        return filled(self, X, return_std=return_std, draws=draws, possible=possible)

    def sample(self, n_samples: int = 1) -> tuple[Any, Any]:
        """Draw rows without gaps, and their components or loadings.

        Where columns hold words these are an array of objects.
        """
        fitted = self.fitted
        check_count("n_samples", n_samples, 1)
        random = check_random_state(self.random_state)
        rows, hidden = fitted.model.draw(fitted.parameters, n_samples, random)
        every = spread_out(rows, fitted.kept, fitted.constants)
        words = self.takes_kinds and self.coding_.worded.any()
        return (decode(self.coding_, every) if words else every), hidden

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
        """Confidence intervals of all learned attributes, by bootstrap.

        How far the maximum of a likelihood moves, to first order, when rows (in bins) count more or
        less: one pass over the rows, which allows for a model that is not quite right. Without
        ``refine`` the moments themselves are bootstrapped, and components matched to those of the
        fit. Probabilities have Jeffreys' interval for the number of rows that they rest on, which
        holds at zero and one. Each entry has an interval of its own.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches
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

        Examples
        --------
        >>> import numpy as np
        >>> from halfseen import GaussianMixture
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(2000, 3)) + 5 * rng.integers(2, size=(2000, 1))
        >>> mixture = GaussianMixture(2).fit(X)
        >>> share = mixture.intervals(X)["weights_"]
        >>> (share.low < 0.5) & (0.5 < share.high)
        array([ True,  True])
        """
        fitted = self.fitted
        if fitted.model.abilities.no_intervals:
            raise ValueError(fitted.model.abilities.no_intervals)
        check_count("n_replicates", n_replicates, FEWEST_REPLICATES, ", or the ends are chance")
        if fitted.streamed:
            raise ValueError(
                "A model learned by partial_fit() has no rows to bootstrap from. Use fit() for "
                "intervals."
            )
        rows = same_rows(self, X, sample_weight, observed)
        seen = survey(rows, self.complete_above)
        bins = bins_for(groups, rows, sample_weight)
        return bootstrapped(fitted, rows, seen, bins, level, n_replicates)

    def concerns(
        self, X: Any, *, groups: Any = None, observed: ObservedBlocks | None = None
    ) -> list[Concern]:
        """What speaks against the model, in sentences.

        Checks whether several tables agree in what they share, whether gaps depend on values or
        come in blocks, whether pairs of features are seen
        together often enough, whether features are related at all, how many components the second
        moments support, how clear the fit is, whether known values that are hidden and filled in
        again come out as sure as they should, and what the model assumes. Each is a test that
        rarely fires without cause.

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
        return concerns_of(self.case(X, groups, observed))

    def case(
        self, X: Any, groups: Any = None, observed: ObservedBlocks | None = None
    ) -> ConcernContext:
        """The model and its table, for diagnostics and reports."""
        rows, tables = rows_and_tables(self, X, None, observed)
        seen = survey(rows, self.complete_above)
        return ConcernContext(self.fitted, rows, seen, bins_for(groups, rows), tables=tables)

    def report(
        self,
        X: Any,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        title: str | None = None,
        include_rows: bool = False,
        least_rows: float = 10,
        overwrite: bool = False,
        groups: Any = None,
        outcome: Any = None,
        notes: tuple[str, ...] = (),
        relevance: float = USUAL_RELEVANCE,
    ) -> None:
        """Write one HTML page that explains the model, learned from ``X``, whatever ``fit`` takes.

        A path that ends in ``.json`` or ``.md``, or such a ``format``, gives the same for programs,
        or as Markdown: the JSON follows a schema that comes with the library. The page opens
        without a network, and holds no row of X unless ``include_rows`` says so, nor averages that
        fewer than ``least_rows`` of them stand behind. A file that is there already is not replaced
        unless ``overwrite`` says so. ``groups`` (n,) label rows that depend on each
        other, such as those of one patient; ``notes`` are sentences for the summary. An ``outcome``
        (n,), or several by name, which the model was not learned from, is shown by component: means
        of numbers, shares of categories, rows counting for each by how likely they are of it.
        Topics are shown by features that are likely and telling: ``relevance`` is 1 to go by shares
        alone, and 0 to go by how much more there is than elsewhere.
        """
        from halfseen.report.export import write_report
        from halfseen.report.outcomes import outcomes_of

        files = source_of(X).files
        check_not_input(path, *(() if files is None else files.paths))
        write_report(
            self.case(X, groups),
            path,
            format=format,
            title=title,
            include_rows=include_rows,
            least_rows=least_rows,
            overwrite=overwrite,
            grouped=groups is not None,
            notes=notes,
            outcomes=outcomes_of(outcome),
            relevance=relevance,
        )

    @classmethod
    def _file_kind(cls) -> EstimatorKind:
        """The file format of models of this class."""
        return kind_of(cls)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to one file, for :func:`halfseen.load`.

        A file that is there already is not replaced unless ``overwrite`` says so. Until the new one
        is whole the old one stays, even if the process is killed.
        """
        check_is_fitted(self)
        save(self, path, overwrite=overwrite)

    def _repr_html_inner(self) -> str:
        return self._with_summary(super()._repr_html_inner())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in shown:
            shown["text/html"] = self._with_summary(shown["text/html"])
        return shown

    def _with_summary(self, diagram: str) -> str:
        """The notebook representation."""
        if not hasattr(self, "n_components_"):
            return diagram
        from halfseen.report.notebook import summary_beside

        return summary_beside(diagram, self.fitted)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "density_estimator" if self.about.labels else tags.estimator_type
        tags.input_tags.allow_nan = True
        tags.input_tags.string = self.takes_kinds
        # scikit-learn has no tag for counts; these make its checks use whole numbers.
        tags.input_tags.positive_only = tags.input_tags.categorical = self.about.counts
        return tags
