"""Hidden Markov models of sequences with gaps."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from halfseen.data.arrays import Array, Labels
from halfseen.data.errors import DataError
from halfseen.data.progress import Stages
from halfseen.data.rows import Block, Rows, gathered, in_given_order
from halfseen.data.sampling import sequence_of
from halfseen.data.sequences import lengths_of
from halfseen.estimators.dask_methods import lazy_on_dask
from halfseen.estimators.imputation import spread_out
from halfseen.estimators.parameter_checks import (
    check_count,
)
from halfseen.inference.fit import Fit
from halfseen.inference.model import Model
from halfseen.inference.plan import Settings
from halfseen.io.coding import decode
from halfseen.io.sequences import Sequenced
from halfseen.latent.chain import CHAIN, Chain, ChainParameters, by_sequences
from halfseen.latent.forward_backward import filtered_states
from halfseen.latent.mixture import OneClass
from halfseen.models.hidden_markov.model import (
    ABOUT,
    CHECKS,
    Forecast,
    forecast_of,
    to_hmmlearn,
)
from halfseen.models.mixed_columns import MixedColumnMoments, MixedColumnsEstimator
from halfseen.models.sequence_estimator import SequenceEstimator
from halfseen.moments.survey import Survey


class HiddenMarkov(MixedColumnsEstimator, SequenceEstimator):
    """States of rows that follow each other, with gaps anywhere: stays, panels, visits.

    Every row has a state, which depends on that of the row before; within a state columns are
    independent, as in :class:`~halfseen.LatentClass`: continuous ones normal, counts negative
    binomial, every value of the others with a probability of its own. Distinct columns of a row
    and rows that follow each other both tell of the same states: their moments are added,
    weighted by how well columns are known, and decomposed; from there, and from a few other
    starts, Baum and Welch's EM climbs to the maximum of the likelihood. Rows of which nothing is
    known take part with what their neighbours say.

    Parameters
    ----------
    third_moment : {"auto"}, default="auto"
        Third moments of distinct columns and rows are never formed.

    Attributes
    ----------
    start_ : ndarray of shape (k,)
        How likely a sequence begins in each state.
    transition_ : ndarray of shape (k, k)
        How likely each state (row) is followed by each (column).
    weights_ : ndarray of shape (k,)
        How many of the rows are in each state.
    sequence_ : str or None
        The column by which the fit knew sequences, which later tables are taken to have too.
    order_ : str or None
        The column by which it knew their order.
    step_ : float or None
        From one row of a sequence to the next, in that column.
    lasting_ : ndarray of shape (d,)
        How much of what states leave of a continuous column lasts from row to row, of 1: gaps are
        filled with what is known before and after them too. NaN for other columns.
    fading_ : ndarray of shape (d,)
        How much of that is left in the next row, of 1; NaN for other columns.
    presence_ : ndarray of shape (k, d)
        NaN: gaps say nothing of the state.

    References
    ----------
    L. Baum, T. Petrie, G. Soules, N. Weiss (1970), A maximization technique occurring in the
    statistical analysis of probabilistic functions of Markov chains. D. Hsu, S. Kakade, T. Zhang
    (2012), A spectral algorithm for learning hidden Markov models. T.-K. Huang, J. Schneider
    (2013), Learning hidden Markov models from non-sequence data via tensor decomposition.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import HiddenMarkov
    >>> rng = np.random.default_rng(0)
    >>> ill = np.zeros((200, 30), dtype=bool)  # 200 patients, 30 days
    >>> for day in range(1, 30):
    ...     ill[:, day] = rng.random(200) < np.where(ill[:, day - 1], 0.8, 0.1)
    >>> X = rng.normal(size=(6000, 3)) + 3 * ill.reshape(-1, 1)
    >>> X[rng.random(X.shape) < 0.4] = np.nan
    >>> model = HiddenMarkov(2, random_state=0).fit(X, lengths=[30] * 200)
    >>> sick = model.means_[:, 0].argmax()
    >>> float(model.transition_[sick, sick].round(1))
    0.8
    >>> bool((model.predict(X, lengths=[30] * 200) == sick).mean().round(1) == ill.mean().round(1))
    True
    """

    about = ABOUT
    Parameters = ChainParameters
    later: ClassVar[Any] = {
        "lasting_": lambda was: np.full(len(was["kept_features_"]), np.nan),
        "fading_": lambda was: np.full(len(was["kept_features_"]), np.nan),
    }
    decided: ClassVar[Any] = {
        "sequence_": ("str", "NoneType"),
        "order_": ("str", "NoneType"),
        "step_": ("float", "NoneType"),
    }

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        kinds: Any = "auto",
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
        self._keep_parameters(locals())

    def _model(self) -> OneClass[Any]:
        return OneClass(
            about=ABOUT,
            abilities=self._abilities("States"),
            emission=self._emission(),
            cumulants=MixedColumnMoments(),
            tol=self.tol,
            max_iter=self.max_iter,
            own_checks=CHECKS,
            moment_start=by_sequences,
            structure=Chain(self.prior or 0.0),
        )

    def fit(
        self,
        X: Any,
        y: Any = None,
        lengths: Any = None,
        *,
        sequence: Any = None,
        order: Any = None,
        step: float | None = None,
        X_single: Any = None,
    ) -> Self:
        """Learn the states of ``X`` (n, d), in which NaN marks the gaps.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path, list of batches, or Dask collection
            The rows. Without any of the following they are one sequence.
        y : None
            Not used.
        lengths : array of int or None, default=None
            How many rows each sequence has, one after the other.
        sequence : str or array of shape (n,), default=None
            The column that says which sequence each row is of, or labels for all rows.
        order : str or array of shape (n,), default=None
            The column of numbers or dates by which rows of a sequence follow each other. Data
            frames may have their rows in any order, and so may files that fit into memory.
        step : float or None, default=None
            From one row to the next in ``order``, in days for dates: rows are put on a grid of
            such steps, and those between are missing. Without it all steps must be alike.
        X_single : array or data frame of shape (m, d), default=None
            Rows without neighbours, such as those of a survey that was made once: sequences of
            one. They are taken to be drawn as the first rows of sequences are.
        """
        self.sequence_ = sequence if isinstance(sequence, str) else None
        self.order_ = order if isinstance(order, str) else None
        self.step_ = None if step is None else float(step)
        given = Sequenced(X, lengths, sequence, order, self.step_, X_single)
        return self._learn(given, None, None)

    def _fit(
        self, settings: Settings, model: Model[Any], rows: Rows, seen: Survey, stages: Stages
    ) -> Fit[Any]:
        longest = int(lengths_of(sequence_of(rows)).max(initial=0))
        if longest < 2:
            raise DataError(
                "All sequences have one row, so that nothing tells how states follow each other. "
                "Say by lengths or sequence which rows do, or learn classes of rows with "
                "LatentClass."
            )
        return super()._fit(settings, model, rows, seen, stages)

    def fit_predict(
        self,
        X: Any,
        y: Any = None,
        lengths: Any = None,
        *,
        sequence: Any = None,
        order: Any = None,
        step: float | None = None,
    ) -> Labels:
        """Learn the states and return the likeliest path through them for every sequence."""
        self.fit(X, lengths=lengths, sequence=sequence, order=order, step=step)
        labels: Labels = self.predict(X, lengths, sequence=sequence, order=order)
        return labels

    def _said(self, given: Sequenced, function: Any) -> Any:
        """Values of a function for each row, in the order of the table."""
        fitted = self.fitted
        rows = self._rows(given).select(fitted.kept)
        emission, parameters = fitted.model.emission, fitted.parameters  # type: ignore[attr-defined]
        return in_given_order(
            rows, gathered(rows, lambda block: function(block, emission, parameters))
        )

    @lazy_on_dask
    def predict(
        self, X: Any, lengths: Any = None, *, sequence: Any = None, order: Any = None
    ) -> Labels:
        """The likeliest path of states behind each sequence, by Viterbi's algorithm; (n,)."""
        labels: Labels = self._said(self._given(X, lengths, sequence, order), CHAIN.likeliest)
        return labels

    @lazy_on_dask
    def predict_proba(
        self, X: Any, lengths: Any = None, *, sequence: Any = None, order: Any = None
    ) -> Array:
        """The probability of each state given all rows of the sequence; (n, k)."""

        def smoothed(block: Block, emission: Any, parameters: Any) -> Array:
            return CHAIN.posterior(block, emission, parameters).responsibilities

        shares: Array = self._said(self._given(X, lengths, sequence, order), smoothed)
        return shares

    @lazy_on_dask
    def filter(
        self, X: Any, lengths: Any = None, *, sequence: Any = None, order: Any = None
    ) -> Array:
        """The probability of each state given the rows up to its own, for what comes next; (n, k).

        Examples
        --------
        >>> import numpy as np
        >>> from halfseen import HiddenMarkov
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(np.repeat([0.0, 5.0, 0.0, 5.0], 50))[:, None]
        >>> model = HiddenMarkov(2, random_state=0).fit(X)
        >>> model.filter(X[:7]).shape
        (7, 2)
        """
        shares: Array = self._said(self._given(X, lengths, sequence, order), filtered_states)
        return shares

    def forecast(
        self,
        X: Any,
        steps: int = 1,
        lengths: Any = None,
        *,
        sequence: Any = None,
        order: Any = None,
    ) -> Forecast:
        """Expected states and columns after the last row of each sequence.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches
            What was seen so far.
        steps : int, default=1
            How many rows ahead.
        lengths, sequence, order : array or str, default=None
            As in :meth:`fit`.

        Returns
        -------
        Forecast
            With ``states`` (s, steps, k), and ``means`` and ``stds`` (s, steps, d) of the columns,
            for each of the s sequences in their order.

        Examples
        --------
        >>> import numpy as np
        >>> from halfseen import HiddenMarkov
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(np.tile(np.repeat([0.0, 5.0], 10), 20))[:, None]
        >>> model = HiddenMarkov(2, random_state=0).fit(X)
        >>> ahead = model.forecast(X, steps=3)
        >>> ahead.states.shape, ahead.means.shape
        ((1, 3, 2), (1, 3, 1))
        """
        check_count("steps", steps, 1)
        fitted = self.fitted
        rows = self._rows(self._given(X, lengths, sequence, order)).select(fitted.kept)
        return forecast_of(fitted, rows, int(steps))

    def sample(self, n_samples: int = 1, *, lengths: Any = None) -> tuple[Any, Any]:
        """Draw rows without gaps, and the states behind them.

        They are one sequence of ``n_samples`` rows, or sequences of these ``lengths``.
        """
        if lengths is None:
            return super().sample(n_samples)
        fitted = self.fitted
        random = check_random_state(self.random_state)
        states = CHAIN.path(fitted.parameters, np.asarray(lengths), random)
        rows = fitted.model.emission.draw(  # type: ignore[attr-defined]
            fitted.parameters, states, random
        )
        every = spread_out(rows, fitted.kept, fitted.constants)
        worded = self.coding_.worded.any()
        return (decode(self.coding_, every) if worded else every), states

    def to_hmmlearn(self) -> Any:
        """The same model as one of ``hmmlearn``, which must be installed.

        A ``GaussianHMM`` with diagonal covariances if all columns are continuous, and a
        ``CategoricalHMM`` if there is one column, of categories. hmmlearn takes no gaps.
        """
        return to_hmmlearn(self)
