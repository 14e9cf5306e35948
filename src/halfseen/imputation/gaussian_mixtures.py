"""What mixtures of normals of several sizes say of numbers, and of rows that they have not seen."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.block import Block
from halfseen.data.engines.memory import MemoryRows
from halfseen.distributions.full_kernels import ByGaps, without_each
from halfseen.imputation.ridge import searched
from halfseen.imputation.time_budget import Clock
from halfseen.inference.model import EMResult
from halfseen.inference.parameters import reordered
from halfseen.latent.initialisation import FEW_WAYS, Seeding
from halfseen.latent.structure import ClassSteps
from halfseen.models.gaussian_mixture import GaussianMixture
from halfseen.moments.survey import survey


@dataclass(frozen=True, eq=False)
class Normals:
    """``Σ_k π_k N(μ_k, Σ_k)`` of some columns."""

    weights: Array  # (k,)
    means: Array  # (k, d)
    covariances: Array  # (k, d, d)

    def keeping(self, share: float) -> "Normals":
        """With so much of their correlations."""
        covariances = share * self.covariances
        places = np.arange(covariances.shape[-1])
        covariances[:, places, places] /= share
        return replace(self, covariances=covariances)

    def without_each(self, rows: ByGaps) -> Array:
        """What is expected of each cell given the others that are observed in its row; (n, d)."""
        found = np.empty(rows.values.shape)
        without_each(
            rows.values,
            *rows[3:],
            np.log(self.weights),
            np.ascontiguousarray(self.means),
            np.ascontiguousarray(self.covariances),
            np.ascontiguousarray(np.linalg.inv(self.covariances)),
            np.linalg.slogdet(self.covariances)[1],
            found,
        )
        return rows.back(found)


@dataclass(frozen=True, eq=False)
class Expert:
    """Mixtures of several sizes, averaged."""

    mixtures: tuple[Normals, ...]

    def keeping(self, share: float) -> "Expert":
        """With so much of their correlations."""
        return Expert(tuple(one.keeping(share) for one in self.mixtures))

    def without_each(self, table: Array) -> Array:
        """What is expected of each cell given the others of its row; (n, d)."""
        rows = ByGaps.of(Block.from_table(table))
        return np.asarray(np.mean([one.without_each(rows) for one in self.mixtures], axis=0))


SIZES = ((1,), (2, 3, 4), (6, 8))
"""Candidates: mixtures of so many components, averaged."""
FEW, OF_FEW, OF_MANY = 4, 20, 500
"""Components that are few, and rows that each takes if they are few or many."""
MOST_ROWS = 40_000
"""That they are learned from."""
KEPT = (1.0, 0.99, 0.97, 0.94, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
"""How much of correlations may be kept: some of what few rows show is chance."""
MOST_JUDGED = 2000
"""Rows, held out, by which that is chosen."""
FEW_ROWS = 5000
"""Which a mixture that began at what all of them say would not forget."""
MOST_COLUMNS = 60
FEWEST_ROWS = 30
PASSES, AGAIN, TOLERANCE = 10, 8, 1e-4
"""Over the rows, of which more fill no better; and of many when some of them are held out, from
where all rows led."""


@dataclass(frozen=True, eq=False)
class Experts:
    """The candidates, and what they say of rows that they were not learned from."""

    experts: tuple[Expert, ...]
    held_out: Array  # (e, n, d)
    by_fold: dict[int, tuple[Expert, ...]] = field(default_factory=dict)  # learned without it

    def without_fold(self, fold: int) -> "Experts":
        """The same, learned from the rows of all other folds."""
        return Experts(self.by_fold.get(fold, ()), np.empty((0, 0, 0)))

    @property
    def of_all_rows(self) -> "Experts":
        """The same without those of folds, which take memory."""
        return replace(self, by_fold={})

    def without_each(self, table: Array) -> Array:
        """What each expects; (e, n, d)."""
        if not self.experts:
            return np.empty((0, *table.shape))
        return np.stack([one.without_each(table) for one in self.experts])


class HeldOut(NamedTuple):
    """Rows, and for each fold of them an expert that learned from the others."""

    table: Array  # (n, d)
    folds: NDArray[np.intp]  # (n,)
    experts: dict[int, Expert]

    def said(self, share: float) -> Array:
        """What experts that keep such a share of correlations say of cells; (n, d)."""
        found = np.empty(self.table.shape)
        for fold, expert in self.experts.items():
            here = self.folds == fold
            found[here] = expert.keeping(share).without_each(self.table[here])
        return found

    def share(self, random: np.random.Generator) -> float:
        """Of correlations, with which experts come nearest to the cells of some rows."""
        some = random.permutation(len(self.table))[:MOST_JUDGED]
        part = HeldOut(self.table[some], self.folds[some], self.experts)

        def error(place: int) -> float:
            return float(np.nansum((part.said(KEPT[place]) - part.table) ** 2))

        return KEPT[searched(error, np.inf, 0, len(KEPT)).place or 0]


def experts_of(table: Array, folds: NDArray[np.intp], seed: int, clock: Clock) -> Experts:
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
    model: Any = plain._model().adapted_to(some, seen)
    first = model.emission.single(some, seen.sums.mean, np.nanvar(some.table, axis=0))
    alone = model.run_em(some, first, PASSES)
    parts = {int(f): _rows(table[chosen[folds[chosen] != f]]) for f in np.unique(folds)}
    experts, held_out, each = [], [], []
    for sizes in SIZES:
        fitting = [k for k in sizes if len(chosen) >= k * (OF_FEW if k <= FEW else OF_MANY)]
        if not fitting or clock.gone(0.4):
            continue
        found = _mixtures(model, some, alone, fitting)
        apart = {f: _expert(_again(model, part, alone, found)) for f, part in parts.items()}
        judged = HeldOut(table, folds, apart)
        share = judged.share(random)
        experts.append(_expert(found).keeping(share))
        held_out.append(judged.said(share))
        each.append({f: one.keeping(share) for f, one in apart.items()})
    by_fold = {f: tuple(one[f] for one in each) for f in parts}
    return Experts(tuple(experts), np.array(held_out).reshape(len(experts), n, d), by_fold)


def _rows(table: Array) -> MemoryRows:
    """Rows with the same gaps beside each other, which are faster to go over."""
    order = np.lexsort(np.packbits(np.isnan(table), axis=1).T)
    return MemoryRows(np.ascontiguousarray(table[order]), tuple(map(str, range(table.shape[1]))))


def _mixtures(
    model: Any, rows: MemoryRows, alone: EMResult[Any], sizes: list[int]
) -> list[EMResult[Any]]:
    """Mixtures of several sizes; that of one component is ``alone``."""
    if sizes == [1]:
        return [alone]
    seeding, steps = Seeding.of(*model.emission.as_numbers(rows.table)), ClassSteps(model.emission)
    found = []
    for k in sizes:
        shares = next(iter(seeding.joined(k, FEW_WAYS[:1])))
        like = reordered(alone.parameters, np.zeros(k, dtype=int))
        found.append(model.run_em(rows, steps.from_responsibilities(rows, shares, like), PASSES))
    return found


def _again(
    model: Any, rows: MemoryRows, alone: EMResult[Any], found: list[EMResult[Any]]
) -> list[EMResult[Any]]:
    """The mixtures that were ``found`` if they are learned from some of the rows alone."""
    if len(rows.table) > FEW_ROWS:
        return [model.run_em(rows, one.parameters, AGAIN) for one in found]
    sizes = [len(one.parameters.weights) for one in found]
    return _mixtures(model, rows, model.run_em(rows, alone.parameters, PASSES), sizes)


def _expert(found: list[EMResult[Any]]) -> Expert:
    every = (one.parameters for one in found)
    return Expert(tuple(Normals(one.weights, one.means, one.covariances) for one in every))
