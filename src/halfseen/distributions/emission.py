"""Emissions: the contract of how columns arise from the component of a row."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block, Rows
from halfseen.inference.model import Cells
from halfseen.moments.survey import Survey

P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)


class RowScores(NamedTuple):
    """Derivatives of rows' log-densities along the free numbers of one component."""

    where: NDArray[np.intp]  # (m,)  places of the numbers among all of the model
    slope: Array  # (n, m)    of each row's log-density
    information: Callable[[Array], Array]
    """From rows' weights (n,) to minus the summed curvature (m, m)."""


class FreeParameters(Protocol[P_co]):
    """The free numbers of a mixture in one vector: logarithms of the shares first."""

    @property
    def size(self) -> int:
        """How many there are."""

    def row_scores(self, block: Block, component: int) -> RowScores:
        """Derivatives of the log-densities of a block's rows along the numbers of a component."""

    def moved(self, step: Array) -> P_co:
        """The mixture a ``step`` (size,) away."""

    @property
    def probabilities(self) -> NDArray[np.intp]:
        """Which of the numbers are of probabilities that may be zero, as weights are not."""

    def away_from_edges(self, seen: FeatureSums) -> P_co:
        """The mixture with a pseudo-row more for each of these: none is zero or one then."""


Step = Callable[[Block, Array], tuple[float, Array, tuple[Array, ...]]]
"""From a block and logarithms of shares (k,): likelihood, shares and statistics by component."""
StepBeside = Callable[[Block, Array], tuple[float, Array, tuple[Array, ...]]]
"""The same beside other columns: from what those and the shares say of each row (k, n).

Shares are those of each row, times its weight; (k, n).
"""


class Emission(Generic[P]):
    """The distribution of columns given the component; parameters hold the ``weights``.

    What a distribution must say is what raises NotImplementedError here; the rest has a default.
    For exponential families :class:`~halfseen.distributions.exponential_family.Exponential` has
    nearly all of it.
    """

    def log_densities(self, block: Block, parameters: P) -> Array:
        """Log-densities of observed cells of each row under each component; (n, k)."""
        raise NotImplementedError

    def expect(self, parameters: P) -> Step:
        """The E-step on a block."""
        raise NotImplementedError

    def given(self, block: Block, shares: Array, parameters: P) -> tuple[Array, ...]:
        """Statistics by component, for responsibilities ``shares`` (n, k)."""
        raise NotImplementedError

    def maximise(self, weights: Array, sums: tuple[Array, ...], before: P) -> P:
        """The M-step, from statistics (k, s) by component and new weights."""
        raise NotImplementedError

    def means(self, parameters: P) -> Array:
        """Means of the columns in each component; (k, d)."""
        raise NotImplementedError

    def variances(self, parameters: P) -> Array:
        """Variances of the columns in each component; (k, d)."""
        raise NotImplementedError

    def draw(self, parameters: P, labels: Labels, random: Any) -> Array:
        """Draw rows of the given components; (n, d)."""
        raise NotImplementedError

    def about(self, places: Array, like: P) -> P:
        """Components centred at ``places`` (k, d'), as wide as the table."""
        raise NotImplementedError

    # What depends on the table.

    def for_table(self, rows: Rows, kept: Survey) -> Self:
        """The same emission with limits taken from a table."""
        return self

    def winsorised(self, rows: Rows, kept: Survey) -> Rows:
        """Rows for the moments, without the influence of outliers."""
        return rows

    def limits(self, kept: Survey) -> Array:
        """The lowest and the highest value of each column that is no outlier; (2, d)."""
        return np.array([kept.sums.minimum, kept.sums.maximum])

    # What EM needs beside its two steps.

    def origin(self, parameters: P) -> Array:
        """The origin from which values are measured to keep precision; (d,)."""
        return np.zeros(self.means(parameters).shape[1])

    def moved(self, parameters: P, by: Array) -> P:
        """The same mixture with all values shifted ``by`` (d,)."""
        return parameters

    def prior(self, parameters: P) -> float:
        """The log-prior, which EM adds to the log-likelihood."""
        return 0.0

    def units(self, parameters: P) -> Mapping[str, Array]:
        """Scales of unbounded parameters."""
        return {}

    def within(self, parameters: P) -> P:
        """Parameters moved to where no density overflows."""
        return parameters

    def em_start(self, parameters: P) -> P:
        """The start of EM, from the moment estimates."""
        return self.within(parameters)

    def simpler(self, parameters: P, kept: Survey) -> P | None:
        """A simpler emission if the table might not need this one; else None."""
        return None

    def left_out(self, rows: Rows, parameters: P) -> float:
        """The part of the log-likelihood that no component changes, left out by E-steps."""
        return 0.0

    def finalised(self, rows: Rows, parameters: P) -> P:
        """The parameters to show after EM."""
        return parameters

    def as_numbers(self, table: Array) -> tuple[Array, NDArray[np.intp]]:
        """Rows (n, d') on comparable scales, and the column of each; (d',).

        From a table (n, d) with NaN in the gaps.
        """
        return table, np.arange(table.shape[1])

    def centres_as_numbers(self, parameters: P) -> Array:
        """Centres of components on the same scales; (k, d')."""
        return self.means(parameters)

    # What is said of components, rows and cells.

    def places(self, parameters: P, home: P) -> Array:
        """Positions of components in units of ``home``, for matching; (k, m)."""
        spread = np.sqrt(self.variances(home).mean(axis=0))
        places: Array = self.means(parameters) / spread
        return places

    def fills(self, shares: Array, parameters: P, cells: Cells) -> Cells:
        """Expected values and variances of gaps, given ``shares`` (n, k).

        ``cells`` are what is expected.
        """
        return cells

    def outlying(self, block: Block, parameters: P) -> Array:
        """The probability that each cell is an outlier, by component; (k, n, d)."""
        return np.zeros((len(self.means(parameters)), *block.values.shape))

    def expected_outliers(self, block: Block, parameters: P) -> Array:
        """How many cells of each row are expected to be of none of the components; (n,)."""
        return np.zeros(len(block))

    def tail(self, block: Block, parameters: P) -> Array:
        """The tail probability of each row under each component; (n, k)."""
        return np.ones((len(block), len(self.means(parameters))))

    def completed(self, reference: P, complete: Mask, means: Array, left_over: Array) -> P:
        """Parameters of all features, from those of complete features and means (k, t) of others.

        ``left_over`` (t,) is the variance that these means leave.
        """
        raise NotImplementedError

    def free(self, parameters: P) -> FreeParameters[P]:
        """The free parameters, if there are intervals."""
        raise NotImplementedError


class Posterior(NamedTuple):
    """Log-likelihood and responsibilities of each row."""

    log_likelihood: Array  # (n,)
    responsibilities: Array  # (n, k)


def posterior(block: Block, emission: Emission[Any], parameters: Any) -> Posterior:
    """``log p(x_obs) = log Σ_k π_k Π_{d observed} p(x_d | k)``, and responsibilities."""
    joint = np.log(parameters.weights) + emission.log_densities(block, parameters)
    highest = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - highest)
    total = shares.sum(axis=1, keepdims=True)
    return Posterior((np.log(total) + highest)[:, 0], shares / total)


def with_pseudo_row(probabilities: Array, n_rows: Array) -> Array:
    """Probabilities with one pseudo-row spread evenly, beside ``n_rows`` rows.

    Those that there are not are NaN.
    """
    n_possible = np.isfinite(probabilities).sum(axis=0)
    inside: Array = (n_rows * probabilities + 1 / np.maximum(n_possible, 1)) / (n_rows + 1)
    return inside
