"""Evidence for groups against one cloud: held-out likelihoods of both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy
from sklearn.metrics import adjusted_rand_score

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.diagnostics.choice import TriedNumber
from halfseen.diagnostics.cluster_tendency.latent_traits import clouds_of_categories
from halfseen.diagnostics.cluster_tendency.mixture import (
    KINDS,
    SCREENING_PASSES,
    Fit,
    Mixture,
    Prior,
    Starts,
    Table,
    fitted,
    prior_of,
)
from halfseen.diagnostics.cluster_tendency.modality import LabelledFold
from halfseen.diagnostics.cluster_tendency.preprocessing import (
    N_PARAMETERS,
    Prepared,
    fitted_margins,
    scores,
)
from halfseen.diagnostics.cluster_tendency.single_density import (
    Cloud,
    clouds_of_numbers,
    fitted_normal,
)

N_FOLDS = 5  # as is usual: four fifths of the rows tell nearly what all do
MOST_GROUPS = 6
"""Components that mixtures of all kinds are tried with, at most."""
PATIENCE, LEAST_TRIED = 2, 4
"""Numbers of components in a row without a better BIC after which no more are tried, but these."""
N_KINDS, FEWEST_KINDS = {2: 3}, 2
"""Kinds of covariance that are tried again with one more component, from two components on."""
MANY_ROWS = 1_000
"""With more rows fits are dearer and tell more: of the kinds of covariance only the one that leads
after a few EM passes goes on, and views and halves that would hardly change anything are left."""
COST_OF_SCREENING = 0.1
"""Of a fit, for its first few passes: fits take about 60."""
BEATEN = 0.02
"""Nats a row by which BIC prefers the other view, from which on a view of many rows is left: 20
nats or more of all rows, where 5 count as very strong evidence (Kass and Raftery, 1995)."""
N_SPLITS, N_SPLITS_OF_MANY = 2, 1
"""Ways of halving the rows for the mixture that predicts them best; the others have one."""


@dataclass(frozen=True, eq=False)
class View:
    """Rows as mixtures see them: columns as they are, or their normal scores."""

    name: str  # "columns" or "scores"
    table: Table  # the rows that margins and mixtures are fitted to
    others: Table  # rows to judge by, which may be the same
    log_jacobian: Array  # (m,)  of those

    @property
    def of_margins(self) -> int:
        """The free parameters of the scores beyond mean and variance."""
        return (N_PARAMETERS - 2) * self.table.n_numbers if self.name == "scores" else 0


@dataclass(frozen=True, eq=False)
class Cell:
    """A mixture fitted to all rows."""

    view: View
    mixture: Mixture
    log_likelihood: float  # of the columns as they are, whatever the view

    @property
    def k(self) -> int:
        return self.mixture.n_components

    @property
    def n_parameters(self) -> int:
        return self.mixture.n_parameters(self.view.table.levels) + self.view.of_margins

    @property
    def bic(self) -> float:
        """BIC; smaller is better."""
        n = self.view.table.n_rows
        return float(-2 * self.log_likelihood + self.n_parameters * np.log(n))

    @cached_property
    def entropy(self) -> float:
        """Entropy of the responsibilities, in nats a row."""
        given = self.mixture.responsibilities(self.view.table)
        return max(0.0, float(-xlogy(given, given).sum(axis=1).mean()))


class HeldOut(NamedTuple):
    """A mixture fitted without each fold in turn."""

    log_densities: Array  # (n,)  of rows under the fit that did not see them
    folds: list[LabelledFold]


class Halved(NamedTuple):
    """A mixture fitted to either half of the rows."""

    log_densities: Array  # (n,)  of rows under the fit that did not see them
    agreement: float  # adjusted Rand index of what the two make of all rows


class Split(NamedTuple):
    """Training rows and held-out rows, in every view."""

    train: Mask  # (n,)
    test: Mask  # (n,)
    views: dict[str, View]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Prepared rows, their folds and halves, and the fits of mixtures and clouds."""

    prepared: Prepared
    seed: int = 0
    n_fits: list[float] = field(default_factory=list)  # rows of each fit, as a share of all

    @property
    def many(self) -> bool:
        return self.prepared.n_rows > MANY_ROWS

    @property
    def n_splits(self) -> int:
        return N_SPLITS_OF_MANY if self.many else N_SPLITS

    @cached_property
    def _levels(self) -> tuple[int, ...]:
        return tuple(int(column) + 1 for column in np.nanmax(self.prepared.codes, axis=0))

    @cached_property
    def _everything(self) -> Mask:
        return np.ones(self.prepared.n_rows, dtype=bool)

    def _parts(self, number: int, seed: object) -> Labels:
        """Assign rows to parts at random, rows of one cluster to the same part; (n,)."""
        cluster = self.prepared.cluster
        n = int(cluster.max()) + 1
        return np.random.default_rng(seed).permutation(np.arange(n) % number)[cluster]  # type: ignore[arg-type]

    @cached_property
    def _folds(self) -> list[Split]:
        part = self._parts(N_FOLDS, self.seed)
        return [self._split(part != fold, part == fold) for fold in range(N_FOLDS)]

    @cached_property
    def _halves(self) -> list[tuple[Split, Split]]:
        """Pairs of halves of the rows."""
        first = [self._parts(2, (self.seed, way)) == 0 for way in range(self.n_splits)]
        return [
            (self._split(x, self._everything), self._split(~x, self._everything)) for x in first
        ]

    def _split(self, train: Mask, test: Mask) -> Split:
        """The columns as they are, and, if there are numbers, their scores by margins of train."""
        numbers, codes, same = self.prepared.numbers, self.prepared.codes, train is test

        def view(name: str, own: Array, other: Array, log_jacobian: Array) -> View:
            table = Table.of(own, codes[train], self._levels)
            others = table if same else Table.of(other, codes[test], self._levels)
            return View(name, table, others, log_jacobian)

        views = [view("columns", numbers[train], numbers[test], np.zeros(int(test.sum())))]
        if margins := fitted_margins(numbers[train]):
            z, (other_z, log_jacobian) = (scores(margins, numbers[x]) for x in (train, test))
            views.append(view("scores", z.z, other_z, log_jacobian))
        return Split(train, test, {one.name: one for one in views})

    def views(self) -> Iterator[View]:
        yield from self._split(self._everything, self._everything).views.values()

    # Mixtures

    def mixtures(self, most: int, kinds: tuple[str, ...] = KINDS) -> list[Cell]:
        """Mixtures of K = 1, 2, … components and every kind of covariance, in both views.

        Beyond a few components only the best kind and view go on, as long as BIC gains by it.
        """
        few = range(1, min(most, MOST_GROUPS) + 1)
        found: list[Cell] = []
        for view in self.views():
            found += self._of_view(view, few, kinds, rivals=found)
        best = min(found, key=lambda cell: cell.bic)
        if best.k > len(few) - PATIENCE and most > len(few):
            more = range(len(few) + 1, most + 1)
            found += self._of_view(best.view, more, (best.mixture.kind,), best.bic)
        return found

    def _of_view(
        self,
        view: View,
        numbers: range,
        kinds: tuple[str, ...],
        best: float = np.inf,
        rivals: Sequence[Cell] = (),
    ) -> list[Cell]:
        """Mixtures of growing K, until BIC has not improved for some numbers.

        Many rows end sooner: if ``rivals``, of another view, are clearly better.
        """
        starts, prior = Starts.of(view.table, self.seed), prior_of(view.table)
        found: list[Cell] = []
        waited = 0
        for k in numbers:
            begun = (
                starts.responsibilities(k, self.seed)
                if k > 1
                else [np.ones((len(self._everything), 1))]
            )
            if self.many and k > 1:
                cells = [self._leader(view, kinds, begun, prior, starts.filled)]
            else:
                cells = [self._cell(view, kind, begun, prior, starts.filled) for kind in kinds]
            ranked = sorted((cell for cell in cells if cell), key=lambda one: one.bic)
            found += [cell for cell in cells if cell]
            if k > 1 and not self.many:  # the worst kinds are not tried again
                kinds = tuple(cell.mixture.kind for cell in ranked[: N_KINDS.get(k, FEWEST_KINDS)])
            now = ranked[0].bic if ranked else np.inf
            waited = 0 if now < best else waited + 1
            best = min(best, now)
            if waited >= PATIENCE and k >= LEAST_TRIED:
                break
            if k > 2 and self.beaten(best, [one.bic for one in rivals if one.k <= k]):
                break
        return found

    def beaten(self, bic: float, rivals: Sequence[float]) -> bool:
        """Whether there are many rows and a rival is clearly better."""
        margin = 2 * BEATEN * self.prepared.n_rows
        return self.many and bic > min(rivals, default=np.inf) + margin

    def _leader(
        self, view: View, kinds: tuple[str, ...], starts: list[Array], prior: Prior, filled: Table
    ) -> Cell | None:
        """The covariance type with the best BIC after a few passes, fitted to convergence."""
        cells = []
        for kind in kinds:
            fit = fitted(view.table, kind, starts, prior, filled, SCREENING_PASSES)
            if fit is not None:
                self.n_fits.append(COST_OF_SCREENING)
                cells.append(Cell(view, fit.mixture, fit.log_likelihood))
        if not cells:
            return None
        best = min(cells, key=lambda cell: cell.bic).mixture
        return self._cell(view, best.kind, [best.responsibilities(view.table)], prior, filled)

    def _cell(
        self, view: View, kind: str, starts: list[Array], prior: Prior, filled: Table
    ) -> Cell | None:
        self.n_fits.append(float(starts[0].shape[1] > 1))  # one component takes no EM
        fit = fitted(view.table, kind, starts, prior, filled)
        if fit is None:
            return None
        return Cell(view, fit.mixture, fit.log_likelihood + float(view.log_jacobian.sum()))

    # Rows apart

    def held_out(self, cell: Cell) -> HeldOut | None:
        """Fits without each fold, started from the fit to all rows."""
        given = cell.mixture.responsibilities(cell.view.table)
        found, folds = np.empty(len(given)), []
        for fold in self._folds:
            view = fold.views[cell.view.name]
            self.n_fits.append((1 - 1 / N_FOLDS) * (cell.k > 1))
            fit = fitted(view.table, cell.mixture.kind, [given[fold.train]], prior_of(view.table))
            if fit is None:
                return None
            found[fold.test] = fit.mixture.log_densities(view.others) + view.log_jacobian
            folds.append(self._labelled(view.table, view.others, fit))
        return HeldOut(found, folds)

    def _labelled(self, rows: Table, others: Table, fit: Fit) -> LabelledFold:
        """Held-out rows with gaps filled by draws from one normal, which favours no groups."""
        labels = fit.mixture.labels(rows), fit.mixture.labels(others)
        if not rows.n_numbers:
            empty = np.empty((0, 0))
            return LabelledFold(empty, labels[0], empty, labels[1])
        rng, normal = np.random.default_rng(self.seed), fitted_normal(rows.numbers)
        filled = [normal.drawn(one.numbers, rng) for one in (rows, others)]
        return LabelledFold(filled[0], labels[0], filled[1], labels[1])

    def halved(self, cell: Cell, way: int) -> Halved | None:
        """Fits to both halves of the rows; None if either has too few for the components."""
        labels, log_densities = [], np.empty(self.prepared.n_rows)
        for half in self._halves[way]:
            view = half.views[cell.view.name]
            fit = self._by_half(cell, view.table)
            if fit is None:
                return None
            labels.append(fit.mixture.labels(view.others))
            found = fit.mixture.log_densities(view.others) + view.log_jacobian
            log_densities[~half.train] = found[~half.train]
        return Halved(log_densities, float(adjusted_rand_score(*labels)))

    def _by_half(self, cell: Cell, rows: Table) -> Fit | None:
        if cell.k == 1:
            return fitted(rows, cell.mixture.kind, [np.ones((rows.n_rows, 1))], prior_of(rows))
        starts = Starts.of(rows, self.seed)
        begun = starts.responsibilities(cell.k, self.seed)
        self.n_fits.append(0.5)
        return fitted(rows, cell.mixture.kind, begun, prior_of(rows), starts.filled)

    # One cloud

    def _clouds(self, train: Mask, test: Mask) -> list[Cloud]:
        numbers, codes = self.prepared.numbers, self.prepared.codes
        if not codes.shape[1]:
            return list(clouds_of_numbers(numbers[train], numbers[test]))
        both = (numbers[train], numbers[test]), (codes[train], codes[test])
        return list(clouds_of_categories(*both, self._levels))

    def best_cloud_bic(self) -> float:
        clouds = self._clouds(self._everything, self._everything)
        log_n = np.log(self.prepared.n_rows)
        return float(min(-2 * one.of_train.sum() + one.n_parameters * log_n for one in clouds))

    def held_out_clouds(self) -> dict[str, Array]:
        """Held-out log-densities (n,) under models of one cloud, by name."""
        found: dict[str, Array] = {}
        for fold in self._folds:
            seen: dict[str, int] = {}
            for cloud in self._clouds(fold.train, fold.test):
                place = seen[cloud.name] = seen.get(cloud.name, 0) + 1
                name = cloud.name if place == 1 else f"{cloud.name} {place}"
                found.setdefault(name, np.empty(len(fold.test)))[fold.test] = cloud.of_test
        return found


def best_of_each(mixtures: list[Cell], view: str) -> list[Cell]:
    """The mixture with the best BIC of each number of components, in one view."""
    own = [cell for cell in mixtures if cell.view.name == view]
    numbers = sorted({cell.k for cell in own})
    return [min((c for c in own if c.k == k), key=lambda one: one.bic) for k in numbers]


def standard_error(values: Array, cluster: Labels) -> float:
    """The standard error of the mean of ``values`` (n,), with dependence within clusters."""
    n = int(cluster.max()) + 1
    sums = np.bincount(cluster, values - values.mean(), minlength=n)
    return float(np.sqrt((sums**2).sum()) / len(values))


def table_of_numbers(
    rows: Comparison, mixtures: list[Cell], chosen: Cell
) -> tuple[TriedNumber, ...]:
    """One row for each number, by its best mixture; large numbers have BIC only."""
    found = []
    for cell in best_of_each(mixtures, chosen.view.name):
        n_ways = 1
        if cell is chosen:
            n_ways = rows.n_splits
        elif cell.k > MOST_GROUPS:
            n_ways = 0
        found.append(_tried(cell, [rows.halved(cell, way) for way in range(n_ways)], rows))
    return tuple(found)


def _tried(cell: Cell, halved: list[Halved | None], rows: Comparison) -> TriedNumber:
    first = halved[0] if halved else None
    agreements = [one.agreement for one in halved if one]
    stable = cell.k > 1 and bool(agreements) and len(agreements) == len(halved)
    return TriedNumber(
        n_components=cell.k,
        covariance_type=cell.mixture.kind,
        scores=cell.view.name == "scores",
        log_likelihood=cell.log_likelihood,
        n_parameters=cell.n_parameters,
        aic=-2 * cell.log_likelihood + 2 * cell.n_parameters,
        bic=cell.bic,
        icl=cell.bic + 2 * rows.prepared.n_rows * cell.entropy,
        entropy=cell.entropy,
        held_out=float(first.log_densities.mean()) if first else None,
        held_out_error=standard_error(first.log_densities, rows.prepared.cluster)
        if first
        else None,
        smallest=float(cell.mixture.weights.min()),
        stability=float(np.mean(agreements)) if stable else None,
    )
