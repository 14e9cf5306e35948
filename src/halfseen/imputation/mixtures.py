"""Averages of mixtures with several numbers of components."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block, gathered, with_gaps
from halfseen.data.sampling import sample_shuffled
from halfseen.distributions.cell_densities import cell_log_densities
from halfseen.distributions.column_kinds import those
from halfseen.distributions.emission import posterior
from halfseen.distributions.mixed import Mixed
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.imputation.features import View
from halfseen.imputation.time_budget import TimeBudget
from halfseen.inference.parameters import reordered
from halfseen.latent.initialisation import FEW_WAYS, Seeding
from halfseen.latent.moment_start import Statistics, read
from halfseen.latent.structure import ClassSteps
from halfseen.models.latent_class import LatentClass
from halfseen.moments.robust_statistics import robust_summary
from halfseen.moments.survey import Survey

SIZES = (2, 3, 4, 6, 8, 12, 16, 24)
ROWS_A_CLASS = 40
BEFORE = 1.0
"""Rows like the table at large that every class is taken to have seen before."""
MOST_TRIED = 1000
"""Rows that starts are tried on."""
MOST_CLIMBED = 20_000
"""Rows that classes are learned from; what they expect is read off all rows."""
FEW_ROWS = 5000
"""Of which mixtures are learned again from two thirds, to judge them by the others."""
N_SEEDS, FIRST_PASSES, LAST_PASSES, TOLERANCE = 2, 6, 30, 1e-4


@dataclass(frozen=True, eq=False)
class Mixture:
    """Classes, and mean features in each."""

    emission: Mixed
    parameters: MixedParameters
    expected: Array  # (k, q)
    squares: Array  # (k, d)   of deviations of numbers

    def shares(self, block: Block) -> Array:
        """Responsibilities of the classes in each row; (n, k)."""
        return posterior(block, self.emission, self.parameters).responsibilities

    def shares_without_each(self, block: Block) -> Array:
        """Responsibilities without each column in turn; (k, n, d).

        ``p(k | x_-d) ∝ π_k p_k(x) / p_k(x_d)``: a column's own density is taken away.
        """
        joint = np.log(self.parameters.weights) + self.emission.log_densities(
            block, self.parameters
        )
        others = joint.T[:, :, None] - cell_log_densities(block, self.parameters)
        others -= others.max(axis=0)
        shares: Array = np.exp(others, out=others)
        shares /= shares.sum(axis=0)
        return shares


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Mixtures of several sizes with equal weights."""

    mixtures: tuple[Mixture, ...]
    view: View

    def features(self, block: Block) -> Array:
        """Expected features given the observed cells of a row; (n, q)."""
        total = sum(one.shares(block) @ one.expected for one in self.mixtures)
        mean: Array = np.asarray(total) / len(self.mixtures)
        return mean

    def variances(self, block: Block) -> Array:
        """Conditional variances of numbers; (n, d)."""
        first = self.view.starts[:-1]
        mean, square = np.zeros((2, len(block), len(first)))
        for one in self.mixtures:
            shares = one.shares(block) / len(self.mixtures)
            mean += shares @ one.expected[:, first]
            square += shares @ one.squares
        return np.asarray(np.maximum(square - mean**2, 1e-6))

    def without_each(self, block: Block) -> Array:
        """Targets of each column as they are expected without it; (n, q), zero for others."""
        view, found = self.view, np.zeros((len(block), self.view.size))
        for one in self.mixtures:
            shares = one.shares_without_each(block)
            for j in range(len(view.numbers)):
                own = view.targets(j)
                found[:, own] += shares[:, :, j].T @ one.expected[:, own]
        return found / len(self.mixtures)


@dataclass(frozen=True, eq=False)
class Learner:
    """Fits mixtures to rows of a table by short EM runs from a few starts."""

    emission: Mixed
    alone: MixedParameters  # all rows as one class
    view: View
    seed: int
    budget: TimeBudget

    def __call__(self, rows: MemoryRows) -> Ensemble:
        """Mixtures of some rows of the table."""
        emission = self.emission
        plain: Any = LatentClass()._model()
        model = replace(plain, emission=emission, tol=TOLERANCE, max_iter=LAST_PASSES)
        some, many = sample_shuffled(rows, MOST_TRIED), sample_shuffled(rows, MOST_CLIMBED)
        seeding = Seeding.of(*emission.as_numbers(some.table)) if len(some.table) else None
        random, steps = np.random.default_rng(self.seed), ClassSteps(emission)
        found = []
        for k in sizes(len(some.table) if len(rows.table) <= MOST_TRIED else len(rows.table)):
            if seeding is None or self.budget.spent(0.4):
                break
            like = reordered(self.alone, np.zeros(k, dtype=int))
            shares = [next(iter(seeding.joined(k, FEW_WAYS[:1])))]
            shares += [seeding.nearest(k, random) for _ in range(N_SEEDS)]
            begun = [steps.from_responsibilities(some, one, like) for one in shares]
            tried = [model.run_em(some, one, FIRST_PASSES) for one in begun]
            best = max(tried, key=lambda one: _height(one.convergence.log_likelihood))
            reached = model.run_em(many, best.parameters, LAST_PASSES)
            found.append(_with_features(emission, reached.parameters, rows, self.view))
        if not found:
            found.append(_with_features(emission, self.alone, rows, self.view))
        return Ensemble(tuple(found), self.view)

    def by_fold(
        self, rows: MemoryRows, every: Ensemble, folds: NDArray[np.intp]
    ) -> dict[int, Ensemble]:
        """For each fold, the mixtures of all other rows.

        Mixtures of ``every`` row are believed too much, as they have seen what they are to tell;
        of many rows, or if there is no time, that has to do.
        """
        each = [int(fold) for fold in np.unique(folds)]
        if len(rows.table) > FEW_ROWS or self.budget.spent(0.1):
            return dict.fromkeys(each, every)
        return {fold: self(_part(rows, folds != fold)) for fold in each}

    def held_out(self, rows: MemoryRows, every: Ensemble, folds: NDArray[np.intp]) -> Array:
        """Targets of each column as mixtures of other rows expect them without it; (n, q)."""
        return held_out(rows, self.by_fold(rows, every, folds), folds)


def held_out(rows: MemoryRows, by_fold: dict[int, Ensemble], folds: NDArray[np.intp]) -> Array:
    """Targets of each column as the mixtures of each fold expect them without it; (n, q)."""
    found = np.zeros((len(rows.table), next(iter(by_fold.values())).view.size))
    for fold, ensemble in by_fold.items():
        here = folds == fold
        found[here] = gathered(_part(rows, here), ensemble.without_each)
    return found


def _part(rows: MemoryRows, which: Mask) -> MemoryRows:
    weights = None if rows.weights is None else rows.weights[which]
    return MemoryRows(np.ascontiguousarray(rows.table[which]), rows.names, weights)


def sizes(n_rows: int) -> list[int]:
    """The numbers of classes of the mixtures, for that many rows."""
    return [k for k in SIZES if k <= n_rows / ROWS_A_CLASS]


def _height(log_likelihood: float | None) -> float:
    return -np.inf if log_likelihood is None or np.isnan(log_likelihood) else log_likelihood


def one_class(rows: MemoryRows, kept: Survey, emission: Mixed) -> MixedParameters:
    """All rows as one class."""
    facts = emission.looked_through
    numbers = those(facts.kinds, "normal")
    seen = emission.normal.seen
    if seen is None or not numbers.any():
        seen = robust_summary(rows.select(numbers), kept.sums.select(numbers))
    statistics = Statistics(facts, seen)
    total = rows.accumulate(lambda block: block.weighed(statistics(block)).sum(axis=0))
    mean = total / kept.sums.count[statistics.owner]
    found: Any = SimpleNamespace(weights=np.ones(1), statistics=mean[None])
    return emission.em_start(read(found, statistics, informative=False))


def _with_features(
    emission: Mixed, parameters: MixedParameters, rows: MemoryRows, view: View
) -> Mixture:
    """Mean features of each class, with one pseudo-row of the whole table."""
    first = view.starts[:-1]

    def summarise(block: Block) -> Array:
        table = with_gaps(block)
        shares = block.weighed(posterior(block, emission, parameters).responsibilities)
        features, known = view(table), view.known(table)
        sums: Array = shares.T @ np.hstack([features, features[:, first] ** 2, known])
        return sums

    sums = rows.accumulate(summarise)
    total, squares, count = np.split(sums, [view.size, view.size + len(first)], axis=1)
    return Mixture(
        emission,
        parameters,
        _with_table(total, count[:, view.owner]),
        _with_table(squares, count),
    )


def _with_table(total: Array, count: Array) -> Array:
    """Class means from sums (k, m), with one pseudo-row of the whole table."""
    pooled = total.sum(axis=0) / np.maximum(count.sum(axis=0), 1e-300)
    mean: Array = (total + BEFORE * pooled) / (count + BEFORE)
    return mean
