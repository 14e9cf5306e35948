"""How columns arise from the component of a row: all that a mixture has to say for itself."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array, Labels, Mask
from halfseen.rows.rows import Block

P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)


class Pull(NamedTuple):
    """How rows pull at the free numbers of one component, if they are of it."""

    where: NDArray[np.intp]  # (m,)  places of the numbers among all of the model
    slope: Array  # (n, m)    of each row's log-density
    bend: Callable[[Array], Array]  # from rows' weights (n,) to minus the summed curvature (m, m)


class Free(Protocol[P_co]):
    """The free numbers of a mixture in one vector: logarithms of the shares first."""

    @property
    def size(self) -> int:
        """How many there are."""

    def pull(self, block: Block, component: int) -> Pull:
        """How a block's rows pull at the numbers of a component."""

    def moved(self, step: Array) -> P_co:
        """The mixture a ``step`` (size,) away."""


class Emission(Protocol[P]):
    """Columns given the component, as an exponential family.

    The log-density of a row is ``Σ_i T_i(x) · η_i(k)`` up to what no component changes, with
    statistics T that are zero in the gaps, so that a missing cell drops out. Parameters P have the
    shares of the components as ``weights``.
    """

    def origin(self, parameters: P) -> Array:
        """What values are best measured from, so that no digits are lost; (d,)."""

    def moved(self, parameters: P, by: Array) -> P:
        """The same mixture, of values that ``by`` (d,) was added to."""

    def statistics(self, values: Array, mask: Array) -> tuple[Array, ...]:
        """``T_i``, from values (n, d), zero in the gaps, and a mask (n, d) of ones; (n, s) each."""

    def natural(self, parameters: P) -> tuple[Array, ...]:
        """``η_i``; (k, s) each."""

    @property
    def constant(self) -> Callable[[Block], Array] | None:
        """What is the same for all components of each row's log-density (n,), if anything is."""

    def maximise(self, weights: Array, sums: tuple[Array, ...], before: P) -> P:
        """The likeliest parameters, from statistics (k, s) summed by component, and new shares."""

    def for_table(self, kept: Survey) -> "Emission[P]":
        """The same with limits that suit a table."""

    def units(self, parameters: P) -> Mapping[str, Array]:
        """For fields that may be any number: how far is far."""

    def within(self, parameters: P) -> P:
        """The same where no density overflows."""

    def means(self, parameters: P) -> Array:
        """Of the columns in each component; (k, d)."""

    def variances(self, parameters: P) -> Array:
        """Of the columns in each component; (k, d)."""

    def completed(self, reference: P, complete: Mask, means: Array, left_over: Array) -> P:
        """All features, from ``reference`` of the complete ones and the others' means (k, t).

        ``left_over`` (t,) is the variance that these means leave.
        """

    def draw(self, parameters: P, labels: Labels, random: Any) -> Array:
        """Rows of the given components; (n, d)."""

    def free(self, parameters: P) -> Free[P]:
        """Its free numbers."""
