"""One normal distribution of all columns, from which gaps of a row are drawn together.

Chained equations alone mix slowly where columns are collinear and missing together: each gap is
drawn given the others, which are as far off. A draw from a joint distribution has no such memory.

References
----------
J. Honaker, G. King (2010), What to do about missing values in time-series cross-section data: EM on
bootstrapped rows. J. Schafer (1997), Analysis of incomplete multivariate data.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.imputer.views import View
from halfseen.models.gaussian_mixture.estimator import GaussianMixture
from halfseen.moments.survey import survey
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.block import Block
from halfseen.rows.engines.memory import MemoryRows

MOST_COORDINATES = 60
"""Which a covariance is estimated of: time for a row grows with their third power."""
FEWEST_ROWS = 30
TOLERANCE, PASSES, AGAIN = 1e-5, 60, 30
"""Of EM, in nats a row: over all rows, and over bootstrapped rows from where all rows led."""


@dataclass(frozen=True, eq=False)
class JointNormal:
    """``z ~ N(μ, Σ)`` of numbers in standard deviations, and of indicators of levels."""

    features: NDArray[np.intp]  # (c,)  which of a view's features its coordinates are
    model: Any
    parameters: Any

    @classmethod
    def of(cls, view: View, table: Array) -> "JointNormal | None":
        """Of a table (n, d), NaN in the gaps; None if it has too many columns, or too few rows."""
        features = _coordinates(view)
        if not len(features) or len(table) < FEWEST_ROWS:
            return None
        rows = _rows(_known_coordinates(view, features, table, view.known(table)))
        seen = survey(rows, 1.0)
        if not seen.kept.all():
            return None
        plain = GaussianMixture(covariance_type="full", outliers=None, tol=TOLERANCE)
        model: Any = plain._model().suited(rows, seen)
        start = model.emission.single(rows, seen.sums.mean, np.nanvar(rows.table, axis=0))
        return cls(features, model, model.climbed(rows, start, PASSES).parameters)

    def bootstrapped(self, view: View, table: Array, weights: Array) -> "JointNormal":
        """The same if each row of a table counts ``weights`` (n,) times."""
        drawn = weights > 0
        known = _known_coordinates(view, self.features, table[drawn], view.known(table[drawn]))
        if np.isnan(known).all(axis=0).any():  # no row that holds some column was drawn
            return self
        rows = _rows(known, weights[drawn])
        return replace(self, parameters=self.model.climbed(rows, self.parameters, AGAIN).parameters)

    @property
    def coefficients(self) -> tuple[Array, Array]:
        """Of the regression of each coordinate on all others; constants (c,), slopes (c, c)."""
        mean, precision = self.parameters.means[0], np.linalg.inv(self.parameters.covariances[0])
        slopes = -precision / np.diagonal(precision)[:, None]
        np.fill_diagonal(slopes, 0.0)
        return mean - slopes @ mean, slopes

    def drawn(self, view: View, table: Array, known: Mask, random: np.random.Generator) -> Array:
        """A table (n, d) in which all that is not ``known`` is drawn given what is."""
        block = Block.from_table(_known_coordinates(view, self.features, table, known))
        labels = np.zeros(len(table), dtype=np.int64)
        drawn = self.model.emission.draw_given(block, labels, self.parameters, random)
        every = np.zeros((len(table), view.size))
        every[:, self.features] = drawn
        found, owner = table.copy(), view.owner[self.features]
        for j in np.unique(owner):
            gaps = ~known[:, j]
            own = every[gaps, view.features(int(j))]
            if view.numbers[j]:
                found[gaps, j] = view.value(int(j), own[:, 0])
            else:
                own[:, 0] = 1 - own.sum(axis=1)  # indicators add up to one
                found[gaps, j] = view.levels[j][own.argmax(axis=1)]
        return found


def _coordinates(view: View) -> NDArray[np.intp]:
    """Deviations of numbers, and indicators of all levels but the first if these are not many."""
    numbers = view.starts[:-1][view.numbers]
    first = view.starts[:-1][~view.numbers]
    of_levels = np.flatnonzero(~view.numbers[view.owner])
    every = np.union1d(numbers, np.setdiff1d(of_levels, first))
    for some in (every, numbers):
        if len(numbers) and 2 <= len(some) <= MOST_COORDINATES:
            return some.astype(np.intp)
    return np.empty(0, dtype=np.intp)


def _known_coordinates(view: View, features: NDArray[np.intp], table: Array, known: Mask) -> Array:
    """Coordinates of a table, NaN where nothing is ``known``; (n, c)."""
    found = view(np.where(known, table, np.nan))[:, features]
    found[~known[:, view.owner[features]]] = np.nan
    return np.ascontiguousarray(found)


def _rows(coordinates: Array, weights: Array | None = None) -> MemoryRows:
    """Rows in which something is known, those with the same gaps beside each other."""
    some = np.flatnonzero(~np.isnan(coordinates).all(axis=1))
    gaps = np.packbits(np.isnan(coordinates[some]), axis=1)
    some = some[np.lexsort(gaps.T)]
    names = tuple(map(str, range(coordinates.shape[1])))
    own = None if weights is None else weights[some]
    return MemoryRows(np.ascontiguousarray(coordinates[some]), names, own)
