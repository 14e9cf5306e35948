"""How columns arise from the component of a row: all that a mixture has to say for itself."""

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
    """Columns given the component. Parameters P have the shares of the components as ``weights``.

    What a distribution must say is what raises NotImplementedError here; the rest has a default.
    For exponential families :class:`~halfseen.distributions.exponential_family.Exponential` has
    nearly all of it.
    """

    def log_densities(self, block: Block, parameters: P) -> Array:
        """Of what is observed in each row, under each component; (n, k)."""
        raise NotImplementedError

    def expect(self, parameters: P) -> Step:
        """The E-step on a block."""
        raise NotImplementedError

    def given(self, block: Block, shares: Array, parameters: P) -> tuple[Array, ...]:
        """Statistics summed by component, if rows belong to them by ``shares`` (n, k)."""
        raise NotImplementedError

    def maximise(self, weights: Array, sums: tuple[Array, ...], before: P) -> P:
        """The likeliest parameters, from statistics (k, s) summed by component, and new shares."""
        raise NotImplementedError

    def means(self, parameters: P) -> Array:
        """Of the columns in each component; (k, d)."""
        raise NotImplementedError

    def variances(self, parameters: P) -> Array:
        """Of the columns in each component; (k, d)."""
        raise NotImplementedError

    def draw(self, parameters: P, labels: Labels, random: Any) -> Array:
        """Rows of the given components; (n, d)."""
        raise NotImplementedError

    def about(self, places: Array, like: P) -> P:
        """Components about ``places`` (k, d'), otherwise alike and as wide as the table."""
        raise NotImplementedError

    # What depends on the table.

    def for_table(self, rows: Rows, kept: Survey) -> Self:
        """The same with limits that suit a table."""
        return self

    def winsorised(self, rows: Rows, kept: Survey) -> Rows:
        """Rows as moments should see them: outliers do not decide those."""
        return rows

    def limits(self, kept: Survey) -> Array:
        """The lowest and the highest value of each column that is no outlier; (2, d)."""
        return np.array([kept.sums.minimum, kept.sums.maximum])

    # What EM needs beside its two steps.

    def origin(self, parameters: P) -> Array:
        """What values are best measured from, so that no digits are lost; (d,)."""
        return np.zeros(self.means(parameters).shape[1])

    def moved(self, parameters: P, by: Array) -> P:
        """The same mixture, of values that ``by`` (d,) was added to."""
        return parameters

    def prior(self, parameters: P) -> float:
        """What is added to the log-likelihood of all rows, for EM to maximise."""
        return 0.0

    def units(self, parameters: P) -> Mapping[str, Array]:
        """For fields that may be any number: how far is far."""
        return {}

    def within(self, parameters: P) -> P:
        """The same where no density overflows."""
        return parameters

    def em_start(self, parameters: P) -> P:
        """Where EM begins, from what the moments say."""
        return self.within(parameters)

    def simpler(self, parameters: P, kept: Survey) -> P | None:
        """The same with less allowed for, if the table might do without; None if there is none."""
        return None

    def left_out(self, rows: Rows, parameters: P) -> float:
        """What E-steps leave out of the log-likelihood, as no component changes it."""
        return 0.0

    def finalised(self, rows: Rows, parameters: P) -> P:
        """Parameters as they are shown, after EM."""
        return parameters

    def as_numbers(self, table: Array) -> tuple[Array, NDArray[np.intp]]:
        """Rows (n, d') on scales on which they can be compared, and the column each is of; (d',).

        From a table (n, d) with NaN in the gaps.
        """
        return table, np.arange(table.shape[1])

    def centres_as_numbers(self, parameters: P) -> Array:
        """Where components are on the same scales; (k, d')."""
        return self.means(parameters)

    # What is said of components, rows and cells.

    def places(self, parameters: P, home: P) -> Array:
        """Where components are, in units of ``home``, to tell which is which; (k, m)."""
        spread = np.sqrt(self.variances(home).mean(axis=0))
        places: Array = self.means(parameters) / spread
        return places

    def fills(self, shares: Array, parameters: P, cells: Cells) -> Cells:
        """What gaps are filled with, and variances, if rows have ``shares`` (n, k).

        ``cells`` are what is expected.
        """
        return cells

    def outlying(self, block: Block, parameters: P) -> Array:
        """The probability that each cell is of none of the components, by component; (k, n, d)."""
        return np.zeros((len(self.means(parameters)), *block.values.shape))

    def expected_outliers(self, block: Block, parameters: P) -> Array:
        """How many cells of each row are expected to be of none of the components; (n,)."""
        return np.zeros(len(block))

    def tail(self, block: Block, parameters: P) -> Array:
        """The chance that a row of each component is as far out as each is; (n, k)."""
        return np.ones((len(block), len(self.means(parameters))))

    def completed(self, reference: P, complete: Mask, means: Array, left_over: Array) -> P:
        """All features, from ``reference`` of the complete ones and the others' means (k, t).

        ``left_over`` (t,) is the variance that these means leave.
        """
        raise NotImplementedError

    def free(self, parameters: P) -> FreeParameters[P]:
        """Its free numbers, if it has intervals."""
        raise NotImplementedError


class Posterior(NamedTuple):
    """Of each row: the likelihood of what was observed, and where it came from."""

    log_likelihood: Array  # (n,)
    responsibilities: Array  # (n, k)


def posterior(block: Block, emission: Emission[Any], parameters: Any) -> Posterior:
    """``log p(x_obs) = log Σ_k π_k Π_{d observed} p(x_d | k)``, and the components' shares."""
    joint = np.log(parameters.weights) + emission.log_densities(block, parameters)
    highest = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - highest)
    total = shares.sum(axis=1, keepdims=True)
    return Posterior((np.log(total) + highest)[:, 0], shares / total)


def with_pseudo_row(probabilities: Array, n_rows: Array) -> Array:
    """Probabilities along the first side if one of ``n_rows`` + 1 rows was spread evenly on them.

    Those that there are not are NaN.
    """
    n_possible = np.isfinite(probabilities).sum(axis=0)
    inside: Array = (n_rows * probabilities + 1 / np.maximum(n_possible, 1)) / (n_rows + 1)
    return inside
