"""Mixtures of normals with covariances: each number given all others that are observed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from halfseen.imputer.clock import Clock
from halfseen.method.learned import reordered
from halfseen.method.model import Polished
from halfseen.models.gaussian_mixture.estimator import GaussianMixture
from halfseen.moments.survey import survey
from halfseen.rows.arrays import Array
from halfseen.rows.engines.memory import MemoryRows
from halfseen.structures.one_class.e_step import ClassSteps
from halfseen.structures.one_class.seeds import FEW_WAYS, Seeding

SIZES = ((1,), (2, 3, 4), (6, 8))
"""Candidates: mixtures of so many components, averaged."""
FEW, OF_FEW, OF_MANY = 4, 20, 500
"""Components that are few, and rows that each takes if they are few or many."""
MOST_ROWS = 40_000
"""That they are learned from."""
MOST_COLUMNS = 60
FEWEST_ROWS = 30
ROWS_AT_ONCE = 256
PASSES, AGAIN, TOLERANCE = 30, 8, 1e-4
"""Over the rows; and when some of them are held out, from where all rows led."""


@dataclass(frozen=True, eq=False)
class Normals:
    """``Σ_k π_k N(μ_k, Σ_k)`` of some columns."""

    weights: Array  # (k,)
    means: Array  # (k, d)
    covariances: Array  # (k, d, d)

    def without_each(self, table: Array) -> Array:
        """What is expected of each cell given the others that are observed in its row; (n, d).

        With ``Q = Σ_oo⁻¹`` and ``v = Q (x_o - μ_o)`` an observed cell's expectation without it is
        ``x_d - v_d / Q_dd``, its variance ``1 / Q_dd``, and a gap's is ``μ_d + Σ_do v``.
        """
        parts = [
            self._of_few(table[start : start + ROWS_AT_ONCE])
            for start in range(0, len(table), ROWS_AT_ONCE)
        ]
        return np.concatenate(parts) if parts else np.empty(table.shape)

    def _of_few(self, table: Array) -> Array:
        there = ~np.isnan(table)
        masks, which = np.unique(there, axis=0, return_inverse=True)
        which = which.reshape(-1)
        said = np.empty((len(self.weights), *table.shape))
        joint = np.empty_like(said)
        for k, (mean, covariance) in enumerate(zip(self.means, self.covariances, strict=True)):
            own = covariance * (masks[:, :, None] & masks[:, None, :])
            own[:, np.arange(len(mean)), np.arange(len(mean))] += ~masks
            precision, (_, volume) = np.linalg.inv(own), np.linalg.slogdet(own)
            away = np.where(there, table - mean, 0.0)
            pulled = np.einsum("nij,nj->ni", precision[which], away)
            held = np.diagonal(precision, axis1=1, axis2=2)[which]
            height = -0.5 * (volume[which] + (away * pulled).sum(axis=1))
            alone = 0.5 * np.log(held) - 0.5 * pulled**2 / held  # log p(x_d | the others)
            said[k] = np.where(there, mean + away - pulled / held, mean + pulled @ covariance)
            # A constant that all components share in each cell does not matter.
            joint[k] = np.log(self.weights[k]) + height[:, None] - np.where(there, alone, 0.0)
        mean_of_all: Array = (softmax(joint, axis=0) * said).sum(axis=0)
        return mean_of_all


@dataclass(frozen=True, eq=False)
class Expert:
    """Mixtures of several sizes, averaged."""

    mixtures: tuple[Normals, ...]

    def without_each(self, table: Array) -> Array:
        """What is expected of each cell given the others of its row; (n, d)."""
        return np.asarray(np.mean([one.without_each(table) for one in self.mixtures], axis=0))


@dataclass(frozen=True, eq=False)
class Experts:
    """The candidates, and what they say of rows that they were not learned from."""

    experts: tuple[Expert, ...]
    held_out: Array  # (e, n, d)

    def without_each(self, table: Array) -> Array:
        """What each expects; (e, n, d)."""
        if not self.experts:
            return np.empty((0, *table.shape))
        return np.stack([one.without_each(table) for one in self.experts])


def learned(table: Array, folds: NDArray[np.intp], seed: int, clock: Clock) -> Experts:
    """Experts of the columns of a table (n, d) in units of spreads, NaN in the gaps."""
    n, d = table.shape
    random = np.random.default_rng(seed)
    usable = np.flatnonzero((~np.isnan(table)).any(axis=1))
    if not 2 <= d <= MOST_COLUMNS or len(usable) < FEWEST_ROWS or clock.gone(0.4):
        return Experts((), np.empty((0, n, d)))
    chosen = np.sort(random.permutation(usable)[:MOST_ROWS])
    some = _rows(table[chosen])
    seen = survey(some, 1.0)
    if not seen.kept.all():
        return Experts((), np.empty((0, n, d)))
    plain = GaussianMixture(covariance_type="full", outliers=None, tol=TOLERANCE)
    model: Any = plain._model().suited(some, seen)
    first = model.emission.single(some, seen.sums.mean, np.nanvar(some.table, axis=0))
    alone = model.climbed(some, first, PASSES)
    seeding, steps = Seeding.of(*model.emission.as_numbers(some.table)), ClassSteps(model.emission)
    experts, held_out = [], []
    for sizes in SIZES:
        found = []
        for k in sizes:
            if k > 1 and (len(chosen) < k * (OF_FEW if k <= FEW else OF_MANY) or clock.gone(0.4)):
                continue
            reached = alone
            if k > 1:
                shares = next(iter(seeding.joined(k, FEW_WAYS[:1])))
                like = reordered(alone.parameters, np.zeros(k, dtype=int))
                reached = model.climbed(some, steps.begun(some, shares, like), PASSES)
            found.append(reached)
        if found:
            experts.append(Expert(tuple(_normals(one) for one in found)))
            held_out.append(_held_out(model, found, table, chosen, folds))
    return Experts(tuple(experts), np.array(held_out).reshape(len(experts), n, d))


def _rows(table: Array) -> MemoryRows:
    """Rows with the same gaps beside each other, which are faster to go over."""
    order = np.lexsort(np.packbits(np.isnan(table), axis=1).T)
    return MemoryRows(np.ascontiguousarray(table[order]), tuple(map(str, range(table.shape[1]))))


def _normals(reached: Polished) -> Normals:
    found = reached.parameters
    return Normals(found.weights, found.means, found.covariances)


def _held_out(model: Any, found: list[Polished], table: Array, chosen: Any, folds: Any) -> Array:
    """What mixtures say of rows of each fold if they are learned from the others; (n, d)."""
    said = np.empty(table.shape)
    for fold in np.unique(folds):
        rest, here = chosen[folds[chosen] != fold], folds == fold
        part = _rows(table[rest])
        again = [model.climbed(part, one.parameters, AGAIN) for one in found]
        said[here] = Expert(tuple(map(_normals, again))).without_each(table[here])
    return said
