"""Ensembles of Gaussian mixtures that predict each column from the others."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.block import Block
from halfseen.data.engines.memory import MemoryRows
from halfseen.distributions.full_kernels import ByGaps, without_each
from halfseen.imputation.features import View
from halfseen.imputation.ridge import search_penalty
from halfseen.imputation.time_budget import TimeBudget
from halfseen.inference.model import EMResult
from halfseen.inference.parameters import reordered
from halfseen.latent.initialisation import FEW_WAYS, Seeding
from halfseen.latent.structure import ClassSteps
from halfseen.models.gaussian_mixture import GaussianMixture
from halfseen.moments.survey import survey


@dataclass(frozen=True, eq=False)
class NormalMixture:
    """``Σ_k π_k N(μ_k, Σ_k)`` of some columns."""

    weights: Array  # (k,)
    means: Array  # (k, d)
    covariances: Array  # (k, d, d)

    def keeping(self, share: float) -> "NormalMixture":
        """The mixture with its correlations shrunk."""
        covariances = share * self.covariances
        places = np.arange(covariances.shape[-1])
        covariances[:, places, places] /= share
        return replace(self, covariances=covariances)

    def without_each(self, rows: ByGaps) -> Array:
        """The expectation of each cell given the other observed cells of its row; (n, d)."""
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
class NormalEnsemble:
    """An average of mixtures with several numbers of components."""

    mixtures: tuple[NormalMixture, ...]

    def keeping(self, share: float) -> "NormalEnsemble":
        """The ensemble with its correlations shrunk."""
        return NormalEnsemble(tuple(one.keeping(share) for one in self.mixtures))

    def without_each(self, table: Array) -> Array:
        """The expectation of each cell given the other cells of its row; (n, d)."""
        rows = ByGaps.of(Block.from_table(table))
        return np.asarray(np.mean([one.without_each(rows) for one in self.mixtures], axis=0))


SIZES = ((1,), (2, 3, 4), (6, 8))
"""Candidates: mixtures of so many components, averaged."""
FEW, OF_FEW, OF_MANY = 4, 20, 500
"""Components that are few, and rows that each takes if they are few or many."""
MAX_WEIGHT_ROWS = 40_000
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
class NormalEnsembles:
    """Candidate ensembles, and their predictions of held-out rows."""

    normals: tuple[NormalEnsemble, ...]
    held_out: Array  # (e, n, d)
    by_fold: dict[int, tuple[NormalEnsemble, ...]] = field(
        default_factory=dict
    )  # learned without it

    def without_fold(self, fold: int) -> "NormalEnsembles":
        """The same, fitted without one fold."""
        return NormalEnsembles(self.by_fold.get(fold, ()), np.empty((0, 0, 0)))

    @property
    def of_all_rows(self) -> "NormalEnsembles":
        """The same without the fits by fold, to save memory."""
        return replace(self, by_fold={})

    def without_each(self, table: Array) -> Array:
        """Predictions of each ensemble; (e, n, d)."""
        if not self.normals:
            return np.empty((0, *table.shape))
        return np.stack([one.without_each(table) for one in self.normals])


class HeldOut(NamedTuple):
    """Rows, and an ensemble for each fold fitted without it."""

    table: Array  # (n, d)
    folds: NDArray[np.intp]  # (n,)
    normals: dict[int, NormalEnsemble]

    def predictions(self, share: float) -> Array:
        """Predictions of cells by ensembles with shrunk correlations; (n, d)."""
        found = np.empty(self.table.shape)
        for fold, normal in self.normals.items():
            here = self.folds == fold
            found[here] = normal.keeping(share).without_each(self.table[here])
        return found

    def share(self, random: np.random.Generator) -> float:
        """The shrinkage of correlations that predicts held-out cells best."""
        some = random.permutation(len(self.table))[:MOST_JUDGED]
        part = HeldOut(self.table[some], self.folds[some], self.normals)

        def error(place: int) -> float:
            return float(np.nansum((part.predictions(KEPT[place]) - part.table) ** 2))

        return KEPT[search_penalty(error, np.inf, 0, len(KEPT)).place or 0]


def learn_normal_ensembles(
    table: Array, folds: NDArray[np.intp], seed: int, budget: TimeBudget
) -> NormalEnsembles:
    """Ensembles for a standardised table (n, d) with NaN in the gaps."""
    n, d = table.shape
    random = np.random.default_rng(seed)
    usable = np.flatnonzero((~np.isnan(table)).any(axis=1))
    if not 2 <= d <= MOST_COLUMNS or len(usable) < FEWEST_ROWS or budget.spent(0.4):
        return NormalEnsembles((), np.empty((0, n, d)))
    chosen = np.sort(random.permutation(usable)[:MAX_WEIGHT_ROWS])
    some = _rows(table[chosen])
    single = _single_normal(some, TOLERANCE)
    if single is None:
        return NormalEnsembles((), np.empty((0, n, d)))
    model, first = single
    alone = model.run_em(some, first, PASSES)
    parts = {int(f): _rows(table[chosen[folds[chosen] != f]]) for f in np.unique(folds)}
    normals, held_out, each = [], [], []
    for sizes in SIZES:
        fitting = [k for k in sizes if len(chosen) >= k * (OF_FEW if k <= FEW else OF_MANY)]
        if not fitting or budget.spent(0.4):
            continue
        found = _mixtures(model, some, alone, fitting)
        apart = {
            f: _normal_ensemble(_again(model, part, alone, found)) for f, part in parts.items()
        }
        judged = HeldOut(table, folds, apart)
        share = judged.share(random)
        normals.append(_normal_ensemble(found).keeping(share))
        held_out.append(judged.predictions(share))
        each.append({f: one.keeping(share) for f, one in apart.items()})
    by_fold = {f: tuple(one[f] for one in each) for f in parts}
    return NormalEnsembles(tuple(normals), np.array(held_out).reshape(len(normals), n, d), by_fold)


def _rows(table: Array, weights: Array | None = None) -> MemoryRows:
    """Non-empty rows sorted by pattern of gaps, which speeds up EM."""
    some = np.flatnonzero(~np.isnan(table).all(axis=1))
    some = some[np.lexsort(np.packbits(np.isnan(table[some]), axis=1).T)]
    names = tuple(map(str, range(table.shape[1])))
    own = None if weights is None else weights[some]
    return MemoryRows(np.ascontiguousarray(table[some]), names, own)


def _single_normal(rows: MemoryRows, tolerance: float) -> tuple[Any, Any] | None:
    """A full-covariance model and its start with one component; None if constant."""
    seen = survey(rows, 1.0)
    if not seen.kept.all():
        return None
    plain = GaussianMixture(covariance_type="full", outliers=None, tol=tolerance)
    model: Any = plain._model().adapted_to(rows, seen)
    return model, model.emission.single(rows, seen.sums.mean, np.nanvar(rows.table, axis=0))


def _mixtures(
    model: Any, rows: MemoryRows, alone: EMResult[Any], sizes: list[int]
) -> list[EMResult[Any]]:
    """Mixtures of several sizes; ``alone`` has one component."""
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
    """Refits of the mixtures ``found`` to some of the rows."""
    if len(rows.table) > FEW_ROWS:
        return [model.run_em(rows, one.parameters, AGAIN) for one in found]
    sizes = [len(one.parameters.weights) for one in found]
    return _mixtures(model, rows, model.run_em(rows, alone.parameters, PASSES), sizes)


def _normal_ensemble(found: list[EMResult[Any]]) -> NormalEnsemble:
    every = (one.parameters for one in found)
    return NormalEnsemble(
        tuple(NormalMixture(one.weights, one.means, one.covariances) for one in every)
    )


MOST_COORDINATES = 60
"""Which a covariance is estimated of: time for a row grows with their third power."""
JOINT_TOLERANCE, JOINT_PASSES, JOINT_AGAIN = 1e-5, 60, 30
"""Of EM, in nats a row: over all rows, and over bootstrapped rows from where all rows led."""


@dataclass(frozen=True, eq=False)
class JointNormal:
    """``z ~ N(μ, Σ)`` of numbers in standard deviations, and of indicators of levels."""

    features: NDArray[np.intp]  # (c,)  which of a view's features its coordinates are
    model: Any
    parameters: Any

    @classmethod
    def of(cls, view: View, table: Array) -> "JointNormal | None":
        """The joint normal of a table (n, d); None with too many columns or too few rows."""
        features = _coordinates(view)
        if not len(features) or len(table) < FEWEST_ROWS:
            return None
        rows = _rows(_known_coordinates(view, features, table, view.known(table)))
        found = _single_normal(rows, JOINT_TOLERANCE)
        if found is None:
            return None
        model, start = found
        return cls(features, model, model.run_em(rows, start, JOINT_PASSES).parameters)

    def bootstrapped(self, view: View, table: Array, weights: Array) -> "JointNormal":
        """The joint normal with row ``weights`` (n,)."""
        drawn = weights > 0
        known = _known_coordinates(view, self.features, table[drawn], view.known(table[drawn]))
        if np.isnan(known).all(axis=0).any():  # no row that holds some column was drawn
            return self
        rows = _rows(known, weights[drawn])
        return replace(
            self, parameters=self.model.run_em(rows, self.parameters, JOINT_AGAIN).parameters
        )

    @property
    def coefficients(self) -> tuple[Array, Array]:
        """Regressions of each coordinate on all others; constants (c,), slopes (c, c)."""
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
