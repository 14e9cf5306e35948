"""Tables of mixed columns, drawn from classes, with statistics that describe them."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from halfseen.data.engines.memory import MemoryRows
from halfseen.inference.tensor_decomposition import DECOMPOSERS
from halfseen.moments.product_mixture.encoding import Item
from halfseen.moments.product_mixture.mixture_start import item_start


def decompose(tensor):
    return DECOMPOSERS["joint"](tensor, np.random.default_rng(0))


def rows_of(table, weights=None):
    return MemoryRows(table, tuple(map(str, range(table.shape[1]))), weights)


def adapted(kind, column):
    """An item of a kind, as its column suggests."""
    if isinstance(kind, int):
        return Item("levels", levels=tuple(map(float, range(kind))))
    seen = column[~np.isnan(column)]
    seen = np.sqrt(seen + 3 / 8) if kind == "count" else seen
    middle = np.median(seen)
    return Item(kind, middle, 1.4826 * np.median(np.abs(seen - middle)))


@dataclass(frozen=True)
class Statistics:
    """Means, mean squares and shares of levels: what classes of a table are described by."""

    kinds: tuple[object, ...]

    @property
    def parts(self):
        """The column of each statistic, and a power or a level."""
        parts = {"number": [("power", 1), ("power", 2)], "count": [("power", 1)]}
        levels = [
            parts[kind] if kind in parts else [("level", level) for level in range(kind)]
            for kind in self.kinds
        ]
        return [(column, *part) for column, some in enumerate(levels) for part in some]

    @property
    def owner(self):
        return np.array([column for column, _, _ in self.parts])

    def __call__(self, block):
        found = [
            block.values[:, column] ** value
            if what == "power"
            else block.values[:, column] == value
            for column, what, value in self.parts
        ]
        return np.column_stack(found) * block.observed[:, self.owner]


@dataclass(frozen=True)
class Drawn:
    """A table, and the classes that it was drawn from."""

    table: np.ndarray
    items: list[Item]
    statistics: Statistics
    weights: np.ndarray  # (k,)
    truth: np.ndarray  # (k, s)

    def start(self, table=None, weights=None, n_components=None, weighting=np.sqrt):
        rows = rows_of(self.table if table is None else table, weights)
        k = n_components or len(self.weights)
        owner = self.statistics.owner
        return item_start(rows, self.items, self.statistics, owner, k, weighting, decompose)

    def errors(self, start):
        """Of the statistics, in standard deviations, and of the weights: the worst of each."""
        order = matched(start, self.truth)
        values = self.statistics(next(rows_of(np.nan_to_num(self.table)).blocks()))
        apart = (start.statistics[order] - self.truth) / values.std(axis=0)
        return np.abs(apart).max(), np.abs(start.weights[order] - self.weights).max()


def matched(start, truth):
    """The order of the classes found that is closest to the true one."""

    def distance(order):
        return np.sum((start.statistics[list(order)] - truth) ** 2)

    return list(min(permutations(range(len(truth))), key=distance))


KINDS = ("number",) * 4 + (3, 4, 3, 4, 2, 2) + ("count",) * 2


def drawn(seed=0, n=10_000, k=3, kinds=KINDS, same_means=False, gaps=True):
    """A table of classes whose columns are independent, and gaps that are too."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(k, 5.0))
    hidden = rng.choice(k, n, p=share)
    columns, truth = [], []
    for kind in kinds:
        if kind == "number":
            mean, sd = (not same_means) * rng.normal(size=k), rng.uniform(0.3, 1.5, k)
            columns.append(rng.normal(mean[hidden], sd[hidden]))
            truth += [mean, mean**2 + sd**2]
        elif kind == "count":
            rate = rng.gamma(2.0, 2.0, k)
            columns.append(rng.poisson(rate[hidden]).astype(float))
            truth.append(rate)
        else:
            odds = rng.dirichlet(np.ones(kind), k)
            passed = rng.random(n)[:, None] > odds[hidden].cumsum(axis=1)
            columns.append(passed[:, :-1].sum(axis=1).astype(float))
            truth += list(odds.T)
    table = np.column_stack(columns)
    if gaps:
        present = rng.random(table.shape) < rng.uniform(0.2, 1.0, len(kinds))
        table = np.where(present, table, np.nan)
    items = [adapted(kind, column) for kind, column in zip(kinds, table.T, strict=True)]
    return Drawn(table, items, Statistics(tuple(kinds)), share, np.column_stack(truth))
