"""What speaks for groups and for one cloud: fits of both, on all rows and on rows apart."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.diagnostics.agreement import adjusted_rand
from halfseen.diagnostics.choice import TriedNumber
from halfseen.diagnostics.cluster_tendency.elliptical import fitted_normal
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
from halfseen.diagnostics.cluster_tendency.modality import (
    LabelledFold,
    grouped,
    largest_p_value,
    merges,
)
from halfseen.diagnostics.cluster_tendency.normal_scores import (
    N_PARAMETERS,
    Margin,
    fitted_margins,
    scores,
)
from halfseen.diagnostics.cluster_tendency.preprocessing import Prepared
from halfseen.diagnostics.cluster_tendency.single_density import (
    Cloud,
    clouds_of_categories,
    clouds_of_numbers,
)

N_FOLDS = 5
LEAST_ROWS = 20
"""Fewer rows cannot tell groups from a cloud."""
MOST_GROUPS = 6
"""Components that mixtures of all kinds are tried with, at most."""
PATIENCE = 2
"""Numbers of components in a row without a better BIC, after which no more are tried."""
LEAST_TRIED = 4
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
CLIP = 20.0
"""Nats that one row may speak for or against groups at most: an outlier must not decide."""
DEEPEST = 0.65
"""Of the lower peak, the density between two groups at most. Two equal normals 3 standard
deviations apart have 0.65; components of one skewed or curved cloud rarely have a dip at all."""
N_SPLITS, N_SPLITS_OF_MANY = 2, 1
"""Ways of halving the rows for the mixture that predicts them best; the others have one."""


@dataclass(frozen=True, eq=False)
class View:
    """Rows as one mixture sees them: the columns as they are, or their normal scores."""

    name: str
    table: Table
    log_jacobian: Array  # (n,)
    margins: tuple[Margin, ...] | None

    @property
    def of_margins(self) -> int:
        """Free parameters of the scores, whose mean and variance the mixture has already."""
        return (N_PARAMETERS - 2) * len(self.margins) if self.margins else 0


@dataclass(frozen=True, eq=False)
class Cell:
    """A mixture that was fitted to all rows."""

    view: View
    mixture: Mixture
    log_likelihood: float  # of the columns as they are, whatever the view

    @property
    def k(self) -> int:
        """Its components."""
        return self.mixture.n_components

    @property
    def n_parameters(self) -> int:
        """Of the mixture and the scores."""
        return self.mixture.n_parameters(self.view.table.levels) + self.view.of_margins

    @property
    def bic(self) -> float:
        """The smaller, the better."""
        n = self.view.table.n_rows
        return float(-2 * self.log_likelihood + self.n_parameters * np.log(n))

    @cached_property
    def entropy(self) -> float:
        """Of the responsibilities, in nats a row."""
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


class Fold(NamedTuple):
    """Rows to learn from and rows to judge by, in every view."""

    train: Mask  # (n,)
    test: Mask  # (n,)
    views: dict[str, tuple[Table, Table, Array]]  # both, and the log-Jacobian of those to judge by


@dataclass(frozen=True, eq=False)
class Rows:
    """Prepared rows, their folds and what was fitted to them."""

    prepared: Prepared
    kinds: tuple[str, ...]
    seed: int
    n_fits: list[float] = field(default_factory=list)  # rows of each fit, as a share of all

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Categories of each column."""
        return tuple(int(column) + 1 for column in np.nanmax(self.prepared.codes, axis=0))

    @cached_property
    def fold(self) -> Labels:
        """Of each row; (n,)."""
        return self._parts(N_FOLDS, self.seed)

    def _parts(self, number: int, seed: object) -> Labels:
        """Rows dealt out at random to so many parts, those of one cluster to the same; (n,)."""
        cluster = self.prepared.cluster
        n = int(cluster.max()) + 1
        return np.random.default_rng(seed).permutation(np.arange(n) % number)[cluster]  # type: ignore[arg-type]

    def views(self) -> Iterator[View]:
        """The columns as they are; and their scores, if there are numbers."""
        numbers, codes = self.prepared.numbers, self.prepared.codes
        yield View("columns", Table.of(numbers, codes, self.levels), np.zeros(len(codes)), None)
        if numbers.shape[1]:
            margins = fitted_margins(numbers)
            z, log_jacobian = scores(margins, numbers)
            yield View("scores", Table.of(z, codes, self.levels), log_jacobian, margins)

    @cached_property
    def folds(self) -> list["Fold"]:
        """Each fold apart, and the other rows, in every view."""
        return [self._fold(self.fold != fold, self.fold == fold) for fold in range(N_FOLDS)]

    @cached_property
    def halves(self) -> list[tuple["Fold", "Fold"]]:
        """Half of the rows beside all of them, and the other half, in every way of halving."""
        n = self.prepared.n_rows
        everything = np.ones(n, dtype=bool)
        found = []
        for split in range(N_SPLITS):
            first = self._parts(2, (self.seed, split)) == 0
            found.append((self._fold(first, everything), self._fold(~first, everything)))
        return found

    def _fold(self, train: Mask, test: Mask) -> "Fold":
        numbers, codes = self.prepared.numbers, self.prepared.codes
        margins = fitted_margins(numbers[train])
        views: dict[str, tuple[Table, Table, Array]] = {}
        rows, others = (Table.of(numbers[one], codes[one], self.levels) for one in (train, test))
        views["columns"] = (rows, others, np.zeros(int(test.sum())))
        if margins:
            of_train, of_test = (scores(margins, numbers[one]) for one in (train, test))
            views["scores"] = (
                Table.of(of_train.z, codes[train], self.levels),
                Table.of(of_test.z, codes[test], self.levels),
                of_test.log_jacobian,
            )
        return Fold(train, test, views)

    def clouds(self, train: Mask, test: Mask) -> list[Cloud]:
        """Every model of one cloud."""
        numbers, codes = self.prepared.numbers, self.prepared.codes
        if not codes.shape[1]:
            return list(clouds_of_numbers(numbers[train], numbers[test]))
        both = (numbers[train], numbers[test]), (codes[train], codes[test])
        return list(clouds_of_categories(*both, self.levels))

    def grid(self, most: int) -> list[Cell]:
        """Mixtures of K = 1, 2, … components and every kind of covariance, in both views.

        Beyond a few components only the best kind and view go on, as long as BIC gains by it.
        """
        few = range(1, min(most, MOST_GROUPS) + 1)
        found: list[Cell] = []
        for view in self.views():
            found += self._of_view(view, few, self.kinds, rivals=found)
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
        """As long as one of the last few numbers has a better BIC than the ``best`` before.

        Many rows end sooner: if ``rivals``, of another view, are clearly better.
        """
        starts, prior = Starts.of(view.table, self.seed), prior_of(view.table)
        found: list[Cell] = []
        waited = 0
        for k in numbers:
            begun = (
                starts.responsibilities(k, self.seed)
                if k > 1
                else [np.ones((view.table.n_rows, 1))]
            )
            if k > 1 and self.prepared.n_rows > MANY_ROWS:
                cells = [self._leader(view, kinds, begun, prior, starts.filled)]
            else:
                cells = [self._cell(view, kind, begun, prior, starts.filled) for kind in kinds]
            found += [cell for cell in cells if cell]
            ranked = sorted((cell for cell in cells if cell), key=lambda one: one.bic)
            if k > 1 and self.prepared.n_rows <= MANY_ROWS:  # the worst kinds are not tried again
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
        """Whether the rows are many and one of the rivals is clearly better."""
        n = self.prepared.n_rows
        return n > MANY_ROWS and bic > min(rivals, default=np.inf) + 2 * BEATEN * n

    def _leader(
        self, view: View, kinds: tuple[str, ...], starts: list[Array], prior: Prior, filled: Table
    ) -> Cell | None:
        """The kind of covariance with the best BIC after a few passes, fitted to the end."""
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

    def held_out(self, cell: Cell) -> HeldOut | None:
        """Fits without each fold, from what the fit to all rows makes of the others."""
        given = cell.mixture.responsibilities(cell.view.table)
        found, folds = np.empty(len(given)), []
        for fold in self.folds:
            rows, others, log_jacobian = fold.views[cell.view.name]
            self.n_fits.append((1 - 1 / N_FOLDS) * (cell.k > 1))
            fit = fitted(rows, cell.mixture.kind, [given[fold.train]], prior_of(rows))
            if fit is None:
                return None
            found[fold.test] = fit.mixture.log_densities(others) + log_jacobian
            folds.append(self._labelled(rows, others, fit))
        return HeldOut(found, folds)

    def _labelled(self, rows: Table, others: Table, fit: Fit) -> LabelledFold:
        """Gaps are filled by draws from one normal cloud: means of groups would dig a valley."""
        labels = fit.mixture.labels(rows), fit.mixture.labels(others)
        if not rows.n_numbers:
            empty = np.empty((0, 0))
            return LabelledFold(empty, labels[0], empty, labels[1])
        rng, normal = np.random.default_rng(self.seed), fitted_normal(rows.numbers)
        filled = [one.numbers.drawn(normal.mean, normal.scatter, rng) for one in (rows, others)]
        return LabelledFold(filled[0], labels[0], filled[1], labels[1])

    def held_out_clouds(self) -> dict[str, Array]:
        """Log-densities (n,) of rows under models of one cloud that did not see them, by name."""
        found: dict[str, Array] = {}
        for fold in range(N_FOLDS):
            test = self.fold == fold
            seen: dict[str, int] = {}
            for cloud in self.clouds(~test, test):
                place = seen[cloud.name] = seen.get(cloud.name, 0) + 1
                own = found.setdefault(
                    f"{cloud.name} {place}".removesuffix(" 1"), np.empty(len(test))
                )
                own[test] = cloud.of_test
        return found

    def halved(self, cell: Cell, split: int) -> Halved | None:
        """Fits to both halves of the rows; None if either has too few for the components."""
        labels, log_densities = [], np.empty(self.prepared.n_rows)
        for half in self.halves[split]:
            rows, all_rows, log_jacobian = half.views[cell.view.name]
            fit = self._by_half(cell, rows)
            if fit is None:
                return None
            labels.append(fit.mixture.labels(all_rows))
            unseen = ~half.train
            found = fit.mixture.log_densities(all_rows) + log_jacobian
            log_densities[unseen] = found[unseen]
        table = np.zeros((cell.k, cell.k))
        np.add.at(table, tuple(labels), 1.0)
        return Halved(log_densities, adjusted_rand(table))

    def _by_half(self, cell: Cell, rows: Table) -> Fit | None:
        if cell.k == 1:
            return fitted(rows, cell.mixture.kind, [np.ones((rows.n_rows, 1))], prior_of(rows))
        starts = Starts.of(rows, self.seed)
        begun = starts.responsibilities(cell.k, self.seed)
        self.n_fits.append(0.5)
        return fitted(rows, cell.mixture.kind, begun, prior_of(rows), starts.filled)


@dataclass(frozen=True)
class Evidence:
    """What was measured; all log-likelihoods are in nats."""

    n_rows: int
    categorical: bool  # whether any column holds categories
    cloud: str  # the model of one cloud that predicts rows best
    best_k: int  # by BIC, 1 included
    k: int  # components of the mixture that predicts rows best
    covariance_type: str
    next_k: int  # of categories: the fewest classes that predict better than one trait fewer
    z: float  # standard errors by which held-out rows prefer the mixture to the cloud
    gain: float  # nats a row of that
    gain_error: float  # its standard error
    bic_gain: float  # nats by which BIC prefers mixtures to clouds, all rows
    n_modes: int  # groups of components with a dip of the density between them
    dip: float  # the shallowest of these dips, as a share of the lower peak; 1 if there is none
    p_value: float  # of an emptier band between each two of these groups, the largest
    entropy: float  # of the responsibilities, in nats a row
    stability: float | None
    tried: tuple[TriedNumber, ...]
    cost: float  # fits to as many rows as are compared
    group: tuple[int, ...]  # (k,)  of each component, after merging
    labels: tuple[tuple[int, ...], ...] = field(repr=False, default=())


def gathered(
    prepared: Prepared,
    kinds: Sequence[str] = KINDS,
    most: int = MOST_GROUPS,
    seed: int = 0,
    *,
    table: bool = True,
) -> Evidence:
    """All that the rule asks for."""
    categorical = bool(prepared.codes.shape[1])
    if prepared.n_rows < LEAST_ROWS:
        return _nothing(prepared)
    if categorical:
        kinds = ("diag",)
    rows = Rows(prepared, tuple(kinds), seed)
    everything = np.ones(prepared.n_rows, dtype=bool)
    grid = rows.grid(min(most, max(1, prepared.n_rows // 10)))
    n = prepared.n_rows
    whole = rows.clouds(everything, everything)
    cloud_bic = min(-2 * c.of_train.sum() + c.n_parameters * np.log(n) for c in whole)
    held_clouds = rows.held_out_clouds()
    name = max(held_clouds, key=lambda one: float(held_clouds[one].sum()))
    several = [cell for cell in grid if cell.k > 1]
    best: dict[str, Cell] = {}
    for cell in several:
        if cell.view.name not in best or cell.bic < best[cell.view.name].bic:
            best[cell.view.name] = cell
    bics = [one.bic for one in best.values()]
    left = [one for one in best.values() if not rows.beaten(one.bic, bics)]
    candidates = [(cell, held) for cell in left if (held := rows.held_out(cell))]
    if not candidates:
        return _nothing(prepared)
    cell, held = max(candidates, key=lambda one: float(one[1].log_densities.sum()))
    difference = np.clip(held.log_densities - held_clouds[name], -CLIP, CLIP)
    error = standard_error(difference, prepared.cluster)
    joined = () if categorical else merges(cell.mixture)
    group = grouped(joined, DEEPEST, cell.k)
    n_splits = N_SPLITS_OF_MANY if n > MANY_ROWS else N_SPLITS
    halved = [rows.halved(cell, split) for split in range(n_splits)]
    agreements = [one.agreement for one in halved if one]
    stability = float(np.mean(agreements)) if len(agreements) == n_splits else None
    tried = _tried(rows, grid, cell, halved[0], stability) if table else ()
    return Evidence(
        n_rows=n,
        categorical=categorical,
        cloud=name,
        best_k=min(grid, key=lambda one: one.bic).k,
        k=cell.k,
        covariance_type=cell.mixture.kind,
        next_k=_next_k(rows, grid, cell, held_clouds, name) if categorical else cell.k,
        z=float(difference.mean() / max(error, 1e-12)),
        gain=float(difference.mean()),
        gain_error=error,
        bic_gain=float(cloud_bic - min(one.bic for one in several)) / 2,
        n_modes=int(group.max()) + 1,
        dip=max((one.dip for one in joined if one.dip <= DEEPEST), default=1.0),
        p_value=largest_p_value(held.folds, group),
        entropy=cell.entropy,
        stability=stability,
        tried=tried,
        cost=float(sum(rows.n_fits)),
        group=tuple(map(int, group)),
        labels=_labels(rows, grid, cell),
    )


def standard_error(values: Array, cluster: Labels) -> float:
    """Of the mean of ``values`` (n,), of which those of one cluster depend on each other."""
    n = int(cluster.max()) + 1
    sums = np.bincount(cluster, values - values.mean(), minlength=n)
    return float(np.sqrt((sums**2).sum()) / len(values))


def _next_k(rows: Rows, grid: list[Cell], chosen: Cell, clouds: dict[str, Array], best: str) -> int:
    """What to cut a continuum in: the fewest classes worth more than one trait fewer.

    That of the mixture itself if there are none, or if no trait is needed at all.
    """
    names = list(clouds)
    if best == names[0]:
        return chosen.k
    simpler = float(clouds[names[names.index(best) - 1]].sum())
    for cell in _best_of_each(grid, chosen.view.name)[1:]:
        held = rows.held_out(cell) if cell.k < chosen.k else None
        if held and float(held.log_densities.sum()) > simpler:
            return cell.k
    return chosen.k


def _best_of_each(grid: list[Cell], view: str) -> list[Cell]:
    numbers = sorted({cell.k for cell in grid if cell.view.name == view})
    return [
        min((c for c in grid if c.k == k and c.view.name == view), key=lambda one: one.bic)
        for k in numbers
    ]


def _tried(
    rows: Rows, grid: list[Cell], chosen: Cell, halved: Halved | None, stability: float | None
) -> tuple[TriedNumber, ...]:
    """A row for each number, by its best mixture; many components are looked at by BIC alone."""
    found, cluster = [], rows.prepared.cluster
    for cell in _best_of_each(grid, chosen.view.name):
        if cell is chosen:
            found.append(_row(cell, halved, stability, cluster))
            continue
        own = rows.halved(cell, 0) if cell.k <= MOST_GROUPS else None
        found.append(_row(cell, own, own.agreement if own and cell.k > 1 else None, cluster))
    return tuple(found)


def _row(cell: Cell, held: Halved | None, stability: float | None, cluster: Labels) -> TriedNumber:
    n = cell.view.table.n_rows
    return TriedNumber(
        n_components=cell.k,
        covariance_type=cell.mixture.kind,
        scores=cell.view.margins is not None,
        log_likelihood=cell.log_likelihood,
        n_parameters=cell.n_parameters,
        aic=-2 * cell.log_likelihood + 2 * cell.n_parameters,
        bic=cell.bic,
        icl=cell.bic + 2 * n * cell.entropy,
        entropy=cell.entropy,
        held_out=float(held.log_densities.mean()) if held else None,
        held_out_error=standard_error(held.log_densities, cluster) if held else None,
        smallest=float(cell.mixture.weights.min()),
        stability=stability,
    )


def _labels(rows: Rows, grid: list[Cell], chosen: Cell) -> tuple[tuple[int, ...], ...]:
    """Of each number tried, in the order of the rows given."""
    back = np.argsort(rows.prepared.order, kind="stable")
    return tuple(
        tuple(map(int, cell.mixture.labels(cell.view.table)[back]))
        for cell in _best_of_each(grid, chosen.view.name)
    )


def _nothing(prepared: Prepared) -> Evidence:
    """If there are too few rows for mixtures of several components."""
    return Evidence(
        n_rows=prepared.n_rows,
        categorical=bool(prepared.codes.shape[1]),
        cloud="",
        best_k=1,
        k=1,
        covariance_type="",
        next_k=1,
        z=-np.inf,
        gain=0.0,
        gain_error=0.0,
        bic_gain=0.0,
        n_modes=1,
        dip=1.0,
        p_value=1.0,
        entropy=0.0,
        stability=None,
        tried=(),
        cost=0.0,
        group=(0,),
    )
