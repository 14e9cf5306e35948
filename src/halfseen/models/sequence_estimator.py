"""The verbs of estimators of tables whose rows follow each other."""

import os
from typing import Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows, any_observed, gathered
from halfseen.data.sequences import lengths_of
from halfseen.diagnostics.concerns import Concern, ConcernContext
from halfseen.diagnostics.intervals import N_REPLICATES, Interval
from halfseen.estimators.dask_methods import lazy_on_dask
from halfseen.estimators.estimator import Estimator
from halfseen.estimators.information_criteria import at_maximum
from halfseen.estimators.reading import new_rows, same_rows
from halfseen.io.sequences import Sequenced
from halfseen.io.source import source_of


class SequenceEstimator(Estimator):
    """Base class of estimators of sequences.

    By ``lengths``, or by ``sequence`` and ``order``; where nothing is said, as in the fit, which
    keeps the columns that said so in ``sequence_``, ``order_`` and ``step_``.
    """

    def _given(
        self,
        X: Any,
        lengths: Any,
        sequence: Any = None,
        order: Any = None,
        X_single: Any = None,
    ) -> Sequenced:
        """A table with its sequences, as given or as in the fit."""
        if isinstance(X, Sequenced):
            return X
        if lengths is None and sequence is None and order is None:
            sequence, order = getattr(self, "sequence_", None), getattr(self, "order_", None)
        step = getattr(self, "step_", None) if order is not None else None
        return Sequenced(X, lengths, sequence, order, step, X_single)

    def _rows(self, given: Sequenced) -> Rows:
        """The rows of a table, wherever they are."""
        return same_rows(self, given) if source_of(given.table).delayed else new_rows(self, given)

    def hidden(self, X: Any, observed: Any = None) -> Array:
        """What is expected to be hidden behind each row; (n, k)."""
        return super().hidden(self._given(X, None))

    def score_samples(
        self, X: Any, lengths: Any = None, *, sequence: Any = None, order: Any = None
    ) -> Array:
        """Log-likelihood of what is observed in each sequence, in their order; (s,)."""
        fitted = self.fitted
        rows = self._rows(self._given(X, lengths, sequence, order)).select(fitted.kept)

        def both(block: Block) -> Array:
            height = fitted.model.log_likelihood(block, fitted.parameters)
            return np.column_stack([height, np.asarray(block.sequence)])

        table = gathered(rows, both)
        begins = np.cumsum(lengths_of(table[:, 1].astype(np.int64)))
        total: Array = np.add.reduceat(table[:, 0], np.append(0, begins[:-1]))
        return total

    def score(
        self,
        X: Any,
        y: Any = None,
        lengths: Any = None,
        *,
        sequence: Any = None,
        order: Any = None,
    ) -> float:
        """Mean log-likelihood of the rows that hold an observed cell, given those before them."""
        given = self._given(X, lengths, sequence, order)
        fitted = self.fitted
        rows = self._rows(given).select(fitted.kept)
        each = gathered(rows, lambda b: fitted.model.log_likelihood(b, fitted.parameters))
        return float(each.sum() / gathered(rows, any_observed).sum())

    def aic(self, X: Any, lengths: Any = None, *, sequence: Any = None, order: Any = None) -> float:
        """Akaike information criterion; lower is better. See :meth:`bic`."""
        return at_maximum(self, self._rows(self._given(X, lengths, sequence, order))).aic

    def bic(self, X: Any, lengths: Any = None, *, sequence: Any = None, order: Any = None) -> float:
        """Bayesian information criterion, by the number of rows; lower is better.

        ``X`` is the table that the model was learned from. The criterion is that of the maximum of
        the likelihood, to which EM without priors leads from the fit, or of the fit itself where
        there is none. Rows without any observed cell do not count.
        """
        return at_maximum(self, self._rows(self._given(X, lengths, sequence, order))).bic

    @lazy_on_dask
    def unusual(
        self, X: Any, lengths: Any = None, *, sequence: Any = None, order: Any = None
    ) -> Array:
        """How unusual each row is, from 0 to 1; (n,)."""
        unusual: Array = super().unusual(self._given(X, lengths, sequence, order))
        return unusual

    @lazy_on_dask
    def impute(
        self,
        X: Any,
        lengths: Any = None,
        *,
        sequence: Any = None,
        order: Any = None,
        return_std: bool = False,
        draws: int | None = None,
        possible: bool = False,
    ) -> Any:
        """``X`` with each gap filled, given all rows of its sequence.

        Numbers by expectations, categories by the likeliest one. Continuous columns lean on values
        of the same sequence before and after, as far as what states leave of them lasts. Arrays
        come back as arrays and data frames as data frames, with observed cells, names and index as
        they were; files as an Arrow table.

        Parameters
        ----------
        X : array or data frame of shape (n, d) or path
            The table to fill.
        lengths, sequence, order : array or str, default=None
            As in :meth:`fit`.
        return_std : bool, default=False
            Return also each cell's predictive standard deviation, zero where it was observed; of a
            category, the probability that it is another.
        draws : int or None, default=None
            Return this many tables with gaps filled by random draws, of paths of states and of
            cells, given what is observed.
        possible : bool, default=False
            Fill numbers, too, only with values that a column can have.
        """
        given = self._given(X, lengths, sequence, order)
        return super().impute(given, return_std=return_std, draws=draws, possible=possible)

    def intervals(  # type: ignore[override]
        self,
        X: Any,
        level: float = 0.95,
        *,
        lengths: Any = None,
        sequence: Any = None,
        order: Any = None,
        X_single: Any = None,
        groups: Any = None,
        n_replicates: int = N_REPLICATES,
    ) -> dict[str, Interval]:
        """Confidence intervals of all learned attributes, by bootstrap of whole sequences.

        Where there are fewer than twenty sequences, runs of their rows are taken as independent.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches
            The table that the model was learned from.
        level : float, default=0.95
            The probability that an interval holds the truth.
        lengths, sequence, order, X_single : array or str, default=None
            As given to :meth:`fit`.
        groups : array of shape (n,) or None, default=None
            A label for each row if sequences depend on each other, such as the hospital it is of.
        n_replicates : int, default=200
            How many replicates there are.

        Returns
        -------
        dict of str to Interval
            For each attribute the arrays ``low``, ``high`` and ``std`` (standard errors), shaped
            like the attribute.
        """
        given = self._given(X, lengths, sequence, order, X_single)
        return super().intervals(given, level, groups=groups, n_replicates=n_replicates)

    def concerns(  # type: ignore[override]
        self,
        X: Any,
        *,
        lengths: Any = None,
        sequence: Any = None,
        order: Any = None,
        X_single: Any = None,
        groups: Any = None,
    ) -> list[Concern]:
        """What speaks against the model, in sentences.

        Beside what may speak against any model: states that are never left, sequences that are not
        at an end of their changes, states that rows alone would tell as well.

        Parameters
        ----------
        X : array or data frame of shape (n, d), path or list of batches
            The table that the model was learned from.
        lengths, sequence, order, X_single : array or str, default=None
            As given to :meth:`fit`.
        groups : array of shape (n,) or None, default=None
            A label for each row if sequences depend on each other.

        Returns
        -------
        list of Concern
            Each with a ``kind`` and a ``sentence`` that says what to do.
        """
        return super().concerns(self._given(X, lengths, sequence, order, X_single), groups=groups)

    def case(self, X: Any, groups: Any = None, observed: Any = None) -> ConcernContext:
        """The model and its table, for diagnostics and reports."""
        return super().case(self._given(X, None), groups)

    def report(
        self,
        X: Any,
        path: str | os.PathLike[str],
        *,
        lengths: Any = None,
        sequence: Any = None,
        order: Any = None,
        **options: Any,
    ) -> None:
        """Write one HTML page that explains the model, learned from ``X``, whatever ``fit`` takes.

        It opens without a network, and holds no row of X unless ``include_rows`` says so.
        ``lengths``, ``sequence`` and ``order`` are as in :meth:`fit`, other options as in
        :meth:`GaussianMixture.report`.
        """
        super().report(self._given(X, lengths, sequence, order), path, **options)
