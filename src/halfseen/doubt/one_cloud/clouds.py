"""All models of one cloud, fitted to some rows, and what they say of others."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from halfseen.doubt.one_cloud.chain import chain_orders, fitted_chain
from halfseen.doubt.one_cloud.elliptical import (
    DEGREES,
    Elliptical,
    fitted_diagonal,
    fitted_elliptical,
    fitted_normal,
    fitted_radial,
)
from halfseen.doubt.one_cloud.gaps import Gaps
from halfseen.doubt.one_cloud.margins import N_PARAMETERS, fitted_margins, scores
from halfseen.doubt.one_cloud.mixture import Table
from halfseen.doubt.one_cloud.traits import fitted_traits
from halfseen.rows.arrays import Array


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
