"""Emissions that are exponential families: two matrix products do all the work."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.method.model import Cells
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block, Rows
from halfseen.structures.one_class.emission import Step, StepBeside


class Exponential:
    """``log p(x | k) = Σ_i T_i(x) · η_i(k)`` up to what no component changes.

    The statistics T are zero in the gaps, so that a missing cell drops out. An emission of this
    kind says its ``statistics`` and what they are multiplied with, its ``natural`` parameters.
    """

    constant: ClassVar[Callable[[Any, Block], Array] | None] = None
    """What is the same for all components of each row's log-density (n,), if anything is."""

    def statistics(self, values: Array, mask: Array) -> tuple[Array, ...]:
        """``T_i``, from values (n, d), zero in the gaps, and a mask (n, d) of ones; (n, s) each."""
        raise NotImplementedError

    def natural(self, parameters: Any) -> tuple[Array, ...]:
        """``η_i``; (k, s) each."""
        raise NotImplementedError

    def origin(self, parameters: Any) -> Array:
        """What values are best measured from, so that no digits are lost; (d,)."""
        raise NotImplementedError

    def moved(self, parameters: Any, by: Array) -> Any:
        """The same mixture, of values that ``by`` (d,) was added to."""
        raise NotImplementedError

    def log_densities(self, block: Block, parameters: Any) -> Array:
        """Of what is observed in each row, under each component; (n, k)."""
        origin = self.origin(parameters)
        values, mask = block.about(origin), block.observed.astype(float)
        natural = self.natural(self.moved(parameters, -origin))
        joint: Any = 0.0
        # Products with a row of the block in each row: its bits do not depend on those beside it.
        for factor, each in zip(natural, self.statistics(values, mask), strict=True):
            joint = joint + each @ factor.T
        return np.asarray(joint if self.constant is None else joint + self.constant(block)[:, None])

    def expect(self, parameters: Any) -> Step:
        """The E-step on a block."""
        beside = self.expect_beside(parameters)

        def step(block: Block, log_weights: Array) -> tuple[float, Array, tuple[Array, ...]]:
            likelihood, shares, sums = beside(block, log_weights[:, None])
            return likelihood, shares.sum(axis=1), sums

        return step

    def expect_beside(self, parameters: Any) -> StepBeside:
        """The E-step on a block of which other columns say something too."""
        natural = self.natural(parameters)

        def step(block: Block, known: Array) -> tuple[float, Array, tuple[Array, ...]]:
            statistics = self.statistics(block.values, block.observed.astype(float))
            likelihood, shares = _shares(statistics, natural, known)
            if self.constant is not None:
                likelihood += self.constant(block)
            if block.weights is not None:
                likelihood, shares = likelihood * block.weights, shares * block.weights
            return float(likelihood.sum()), shares, tuple(shares @ each for each in statistics)

        return step

    def given(self, block: Block, shares: Array, parameters: Any) -> tuple[Array, ...]:
        """Statistics summed by component, if rows belong to them by ``shares`` (n, k)."""
        statistics = self.statistics(block.values, block.observed.astype(float))
        return tuple(shares.T @ each for each in statistics)

    def prior(self, parameters: Any) -> float:
        """None: likelihood alone decides."""
        return 0.0

    def within(self, parameters: Any) -> Any:
        """The same where no density overflows."""
        return parameters

    def begun(self, parameters: Any) -> Any:
        """Where the moments say."""
        return self.within(parameters)

    def limits(self, kept: Survey) -> Array:
        """All that was seen."""
        return np.array([kept.sums.minimum, kept.sums.maximum])

    def outlying(self, block: Block, parameters: Any) -> Array:
        """Nothing is said of cells."""
        return np.zeros((len(parameters.weights), *block.values.shape))

    def strays(self, block: Block, parameters: Any) -> Array:
        """None."""
        return np.zeros(len(block))

    def tail(self, block: Block, parameters: Any) -> Array:
        """Nothing is said of rows."""
        return np.ones((len(block), len(parameters.weights)))

    def about(self, places: Array, like: Any) -> Any:
        """Half way from where they are: of most families no more is known."""
        k = len(places)
        block = Block(places, np.ones(places.shape, dtype=bool))
        shares = 0.5 * np.eye(k) + 0.5 / k
        return self.maximise(np.full(k, 1 / k), self.given(block, shares, like), like)

    def maximise(self, weights: Array, sums: tuple[Array, ...], before: Any) -> Any:
        """The likeliest parameters."""
        raise NotImplementedError

    def as_numbers(self, table: Array) -> tuple[Array, NDArray[np.intp]]:
        """As they are."""
        return table, np.arange(table.shape[1])

    def centres_as_numbers(self, parameters: Any) -> Array:
        """Their means."""
        return self.means(parameters)

    def means(self, parameters: Any) -> Array:
        """Of the columns in each component; (k, d)."""
        raise NotImplementedError

    def variances(self, parameters: Any) -> Array:
        """Of the columns in each component; (k, d)."""
        raise NotImplementedError

    def places(self, parameters: Any, home: Any) -> Array:
        """Means, in the spread of each feature within components; (k, d)."""
        spread = np.sqrt(self.variances(home).mean(axis=0))
        places: Array = self.means(parameters) / spread
        return places

    def fills(self, shares: Array, parameters: Any, cells: Cells) -> Cells:
        """With expectations."""
        return cells

    def simpler(self, parameters: Any, kept: Survey) -> Any:
        """There is nothing simpler."""
        return None

    def left_out(self, rows: Rows, parameters: Any) -> float:
        """Nothing."""
        return 0.0

    def settled(self, rows: Rows, parameters: Any) -> Any:
        """As they are."""
        return parameters


def _shares(
    statistics: tuple[Array, ...], natural: tuple[Array, ...], known: Array
) -> tuple[Array, Array]:
    """Log-likelihoods (n,) and the components' shares, components in rows; (k, n).

    What is done over components then runs along memory, which is faster.
    """
    joint = natural[0] @ statistics[0].T
    for factor, each in zip(natural[1:], statistics[1:], strict=True):
        joint += factor @ each.T
    joint += known
    highest = joint.max(axis=0)
    joint -= highest
    shares = np.exp(joint, out=joint)
    total = shares.sum(axis=0)
    shares /= total
    return np.log(total) + highest, shares
