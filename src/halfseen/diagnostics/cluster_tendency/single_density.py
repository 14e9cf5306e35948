"""All models of one cloud, fitted to some rows, and what they say of others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from halfseen.data.arrays import Array, Labels
from halfseen.diagnostics.cluster_tendency.elliptical import (
    DEGREES,
    LOG_2PI,
    Elliptical,
    Gaps,
    fitted_diagonal,
    fitted_elliptical,
    fitted_normal,
    fitted_radial,
)
from halfseen.diagnostics.cluster_tendency.latent_traits import fitted_traits
from halfseen.diagnostics.cluster_tendency.mixture import Table
from halfseen.diagnostics.cluster_tendency.preprocessing import N_PARAMETERS, fitted_margins, scores


class Density(Protocol):
    """A model of rows."""

    @property
    def n_parameters(self) -> int:
        """That are free."""

    def log_densities(self, rows: Gaps) -> Array:
        """Of the observed cells of each row; (n,)."""


class Cloud(NamedTuple):
    """One model, fitted to training rows."""

    name: str
    n_parameters: int
    of_train: Array  # (n,)  log-densities of the rows it was fitted to
    of_test: Array  # (m,)  of others


def clouds_of_numbers(train: Array, test: Array) -> Iterator[Cloud]:
    """Of numbers alone: on the columns, on their scores, and along the principal axes."""
    yield from _of_view(train, test, "")
    if train.shape[1] > 1 and not (np.isnan(train).any() or np.isnan(test).any()):
        mean = train.mean(axis=0)
        _, vectors = np.linalg.eigh(np.cov(train.T))
        vectors = vectors[:, ::-1]  # a rotation, so that densities stay
        yield from _of_view((train - mean) @ vectors, (test - mean) @ vectors, " on principal axes")


def _of_view(train: Array, test: Array, view: str) -> Iterator[Cloud]:
    rows, others = Gaps.of(train), Gaps.of(test)
    if not view:
        for name, model in _models(rows):
            yield Cloud(
                name, _n(name, model), model.log_densities(rows), model.log_densities(others)
            )
    margins = fitted_margins(train)
    (z, log_jacobian), (other_z, other_jacobian) = scores(margins, train), scores(margins, test)
    rows, others = Gaps.of(z), Gaps.of(other_z)
    of_margins = N_PARAMETERS * train.shape[1]
    for name, model in _models(rows, curved=True):
        yield Cloud(
            f"{name} of scores{view}",
            of_margins + _n(name, model) - 2 * train.shape[1],
            model.log_densities(rows) + log_jacobian,
            model.log_densities(others) + other_jacobian,
        )


def _n(name: str, model: Density) -> int:
    """Free parameters; off the diagonal there are none in independent columns."""
    d = len(model.mean) if isinstance(model, Elliptical) else 0
    return 2 * d if name == "independent columns" else model.n_parameters


def _models(rows: Gaps, *, curved: bool = False) -> Iterator[tuple[str, Density]]:
    yield "independent columns", fitted_diagonal(rows)
    if rows.values.shape[1] < 2:
        return
    normal = fitted_normal(rows)
    yield "normal", normal
    yield "free radius", fitted_radial(rows, normal)
    for degrees in DEGREES:
        yield f"t{degrees:.0f}", fitted_elliptical(rows, degrees, normal)
    for order in chain_orders(normal) if curved else ():
        yield "curved", fitted_chain(rows, normal, order)


def clouds_of_categories(
    numbers: tuple[Array, Array], codes: tuple[Array, Array], levels: tuple[int, ...]
) -> Iterator[Cloud]:
    """Of categories, or of these and numbers: none, one or two traits behind all columns."""
    train, test = numbers
    jacobians = np.zeros(len(train)), np.zeros(len(test))
    of_margins = 0
    if train.shape[1]:
        margins = fitted_margins(train)
        (train, of_train), (test, of_test) = scores(margins, train), scores(margins, test)
        jacobians, of_margins = (of_train, of_test), 2 * train.shape[1]
    rows, others = (Table.of(n, c, levels) for n, c in zip((train, test), codes, strict=True))
    for q in (0, 1, 2):
        traits = fitted_traits(rows, q)
        yield Cloud(
            f"{q} traits",
            of_margins + traits.n_parameters,
            traits.log_densities(rows) + jacobians[0],
            traits.log_densities(others) + jacobians[1],
        )


LINE, BEND = 2.0, 15.0
"""Prior rows that hold the slopes, and the bends, of the mean of a standardised column at zero."""
OF_VARIANCE = 20.0
"""How much stronger slopes and bends of the log-variance are held."""
LIMIT = 4.0
"""Scores are cut off there before they bend anything: squares of outliers would decide all."""
MOST_LOG_VARIANCE = 4.0
ROUNDS, STEPS = 3, 4
"""Times that mean and variance are fitted in turn, and scoring steps of the variance in each."""


@dataclass(frozen=True, eq=False)
class Link:
    """One column given the earlier ones."""

    column: int
    earlier: Labels  # (j,)
    mean: Array  # (f,)
    log_variance: Array  # (f + j,)


@dataclass(frozen=True, eq=False)
class Chain:
    """The links, in their order; a normal distribution fills gaps of earlier columns."""

    links: tuple[Link, ...]
    normal: Elliptical

    @property
    def n_parameters(self) -> int:
        """Coefficients of means and log-variances."""
        return sum(2 * len(link.mean) for link in self.links)

    def log_densities(self, rows: Gaps) -> Array:
        """Of the observed cells of each row; (n,)."""
        found = np.zeros(len(rows.values))
        for link in self.links:
            features, of_variance = _features(rows, self.normal, link.earlier)
            log_variance = _bounded(of_variance @ link.log_variance)
            deviation = rows.values[:, link.column] - features @ link.mean
            own = -(deviation**2 / np.exp(log_variance) + log_variance + LOG_2PI) / 2
            found += np.where(rows.observed[:, link.column], own, 0.0)
        return found


def fitted_chain(rows: Gaps, normal: Elliptical, order: Sequence[int]) -> Chain:
    """The chain through the columns in this order; ``normal`` is that of the same rows."""
    links = (
        _link(rows, normal, np.array(order[:j], dtype=np.intp), c) for j, c in enumerate(order)
    )
    return Chain(tuple(links), normal)


def chain_orders(normal: Elliptical) -> list[list[int]]:
    """Columns by their part in the first principal component, and the reverse.

    Unlike the order of the columns in the table, this does not change when they are moved.
    """
    spread = np.sqrt(np.diag(normal.scatter))
    _, vectors = np.linalg.eigh(normal.scatter / np.outer(spread, spread))
    order = list(np.argsort(-np.abs(vectors[:, -1]), kind="stable"))
    return [order, order[::-1]] if len(order) > 1 else [order]


def _link(rows: Gaps, normal: Elliptical, earlier: Labels, column: int) -> Link:
    seen = rows.observed[:, column]
    features, of_variance = (one[seen] for one in _features(rows, normal, earlier))
    y, j = rows.values[seen, column], len(earlier)
    held = np.concatenate([[0.0], np.full(j, LINE), np.full(2 * j, BEND)])
    held_variance = OF_VARIANCE * np.concatenate([held, np.full(j, LINE / OF_VARIANCE)])
    gamma = np.zeros(of_variance.shape[1])
    beta = np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        weights = np.exp(-_bounded(of_variance @ gamma))
        weights = weights / weights.mean()
        beta = _ridge(features, weights, y, held)
        squares = (y - features @ beta) ** 2
        for _ in range(STEPS):
            s = _bounded(of_variance @ gamma)
            target = s + np.clip(squares * np.exp(-s) - 1, -1, 3)
            gamma = _ridge(of_variance, np.full(len(y), 0.5), target, held_variance / 2)
    gamma[0] += np.log(np.mean(squares * np.exp(-_bounded(of_variance @ gamma))))
    return Link(column, earlier, beta, gamma)


def _ridge(features: Array, weights: Array, target: Array, held: Array) -> Array:
    weighted = features * weights[:, None]
    gram = weighted.T @ features + np.diag(held + 1e-9)
    return np.asarray(np.linalg.solve(gram, weighted.T @ target))


def _bounded(log_variance: Array) -> Array:
    return np.clip(log_variance, -MOST_LOG_VARIANCE, MOST_LOG_VARIANCE)


def _features(rows: Gaps, normal: Elliptical, earlier: Labels) -> tuple[Array, Array]:
    """``1, z, |z|, z²`` of the earlier columns (n, f); and beside them which of these lack.

    Gaps among the earlier columns are filled by what the other earlier ones let expect.
    """
    observed = rows.observed[:, earlier]
    part = Gaps.of(np.where(observed, rows.values[:, earlier], np.nan))
    if len(earlier) and not part.complete:
        own = Elliptical(normal.mean[earlier], normal.scatter[np.ix_(earlier, earlier)])
        values = part.expected(own.mean, part.conditional(own.scatter))
    else:
        values = part.values
    z = np.clip(values, -LIMIT, LIMIT)
    ones = np.ones((len(z), 1))
    features = np.column_stack([ones, z, np.abs(z) - np.sqrt(2 / np.pi), z**2 - 1])
    return features, np.column_stack([features, ~observed])
