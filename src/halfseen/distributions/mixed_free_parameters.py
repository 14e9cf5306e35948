"""Free parameters and scores of mixtures of mixed columns."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import expit, logit, softmax

from halfseen.data.arrays import Array
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block
from halfseen.distributions.categorical import Levels
from halfseen.distributions.column_kinds import by_kind
from halfseen.distributions.emission import RowScores, with_pseudo_row
from halfseen.distributions.mixed_parameters import MixedParameters, means_of
from halfseen.distributions.normal import Normal
from halfseen.distributions.normal_em import FreeNormal

Slopes = tuple[Array, Callable[[Array], Array]]
"""Slopes of rows (n, m), and what bends by their weights."""


@dataclass(frozen=True, eq=False)
class FreeMixed:
    """Free parameters of continuous columns, then those of other columns.

    That is, component by component: logarithms of rates, of the probabilities of levels, and of
    odds that columns are observed.
    Probabilities are a softmax, so that moving all logarithms of a column alike moves nothing.
    Shapes of counts stay: they hardly pull at rates.
    """

    start: MixedParameters
    numbers: FreeNormal | None
    levels: Levels

    @classmethod
    def of(cls, parameters: MixedParameters, normal: Normal) -> "FreeMixed":
        """The free parameters of given parameters."""
        numbers = None
        if parameters.numbers.any():
            part = parameters.of_numbers
            numbers = FreeNormal(part, normal.shape.labels(part.means.shape))
        levels = Levels.of(parameters.kinds, parameters.level_values, parameters.most_counts)
        return cls(parameters, numbers, levels)

    @property
    def first(self) -> int:
        """The index of the first parameter of other columns."""
        return len(self.start.weights) if self.numbers is None else self.numbers.size

    @cached_property
    def rates(self) -> NDArray[np.intp]:
        """Columns with a mean and a shape."""
        return np.flatnonzero(self.start.with_shapes)

    @cached_property
    def gappy(self) -> NDArray[np.intp]:
        """Columns with informative gaps."""
        return np.flatnonzero(np.isfinite(self.start.presence).all(axis=0))

    @cached_property
    def entries(self) -> NDArray[np.intp]:
        """Entries of the table that are levels, not counts."""
        counts = self.levels.counts
        return np.flatnonzero(~counts[self.levels.owner]) if len(counts) else np.empty(0, np.intp)

    @property
    def each(self) -> int:
        """The number of further parameters of each component."""
        return len(self.rates) + len(self.entries) + len(self.gappy)

    @property
    def size(self) -> int:
        return self.first + len(self.start.weights) * self.each

    def _level(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """For each entry of levels: its column, and its place among the column's values."""
        columns = np.flatnonzero(self.levels.columns)
        owner = self.levels.owner[self.entries]
        return columns[owner], self.entries - self.levels.starts[owner]

    @property
    def probabilities(self) -> NDArray[np.intp]:
        k, own = len(self.start.weights), np.arange(len(self.rates), self.each)
        found = (self.first + self.each * np.arange(k)[:, None] + own).ravel()
        return found if self.numbers is None else np.r_[self.numbers.probabilities, found]

    def away_from_edges(self, seen: FeatureSums) -> MixedParameters:
        start = self.start
        if self.numbers is not None:
            part = seen.select(start.numbers)
            start = start.with_numbers(self.numbers.away_from_edges(part))
        n_rows = start.weights[:, None] * seen.n_rows
        observed = with_pseudo_row(np.array([start.presence, 1 - start.presence]), n_rows)[0]
        shares = with_pseudo_row(start.level_shares, np.outer(start.weights, seen.count))
        found = replace(start, level_shares=shares, presence=observed)
        shown = np.where(np.isnan(start.means) | start.numbers, start.means, means_of(found))
        return replace(found, means=shown)

    def moved(self, step: Array) -> MixedParameters:
        start, k = self.start, len(self.start.weights)
        if self.numbers is None:
            found = replace(start, weights=softmax(np.log(start.weights) + step[:k]))
        else:
            part = self.numbers.moved(step[: self.first])
            found = replace(start.with_numbers(part), weights=part.weights)
        more = step[self.first :].reshape(k, self.each)
        ends = np.cumsum([len(self.rates), len(self.entries)])
        of_rates, of_levels, of_gaps = np.split(more, ends, axis=1)
        rates, shares, chance = (
            getattr(start, name).copy() for name in ("rates", "level_shares", "presence")
        )
        rates[:, self.rates] = rates[:, self.rates] * np.exp(of_rates)
        column, place = self._level()
        logs = np.log(shares)
        logs[place, :, column] += of_levels.T
        shares = np.exp(logs - np.fmax.reduce(logs, axis=0, initial=-np.inf))
        total = np.nansum(shares, axis=0)
        shares /= np.where(total > 0, total, 1.0)
        chance[:, self.gappy] = expit(logit(chance[:, self.gappy]) + of_gaps)
        found = replace(found, rates=rates, level_shares=shares, presence=chance)
        shown = np.where(np.isnan(start.means) | start.numbers, found.means, means_of(found))
        return replace(found, means=shown)

    def row_scores(self, block: Block, component: int) -> RowScores:
        where = [self.first + component * self.each + np.arange(self.each)]
        parts = [
            self._scores_of_rates(block, component),
            self._scores_of_levels(block, component),
            self._scores_of_gaps(block, component),
        ]
        if self.numbers is not None:
            own = self.numbers.row_scores(block.select(self.start.numbers), component)
            where.insert(0, own.where)
            parts.insert(0, (own.slope, own.information))

        def information(weight: Array) -> Array:
            return np.asarray(block_diag(*(one(weight) for _, one in parts)))

        slopes = np.hstack([slope for slope, _ in parts])
        return RowScores(np.concatenate(where), slopes, information)

    def _scores_of_rates(self, block: Block, component: int) -> Slopes:
        slope, curved = np.zeros((2, len(block), len(self.rates)))
        for kind, own in by_kind(self.start.kinds[self.rates]):
            d = self.rates[own]
            mean, shape = self.start.rates[component, d], self.start.count_shapes[component, d]
            x, most = block.values[:, d], self.start.most_counts[d]
            seen = block.observed[:, d] & ~(x > most) & (x >= kind.limits[0])
            each = kind.slopes(np.where(seen, x, mean), mean, shape)
            slope[:, own], curved[:, own] = (seen * one for one in each)
        return slope, lambda weight: np.diag(weight @ curved)

    def _scores_of_levels(self, block: Block, component: int) -> Slopes:
        column, place = self._level()
        share = self.start.level_shares[place, component, column]
        owner = self.levels.owner[self.entries]
        at = self.levels.places(block).T[:, owner]  # (n, entries)
        slope = (at == self.entries) - (at >= 0) * share
        same = owner[:, None] == owner

        def information(weight: Array) -> Array:
            seen = weight @ (at >= 0)
            curved: Array = np.diag(seen * share) - same * seen[:, None] * np.outer(share, share)
            return curved

        return slope, information

    def _scores_of_gaps(self, block: Block, component: int) -> Slopes:
        chance = self.start.presence[component, self.gappy]
        slope = block.observed[:, self.gappy] - chance
        return slope, lambda weight: np.diag(weight.sum() * chance * (1 - chance))
