"""Column kinds: how the values of a column arise from the component of its row, one object a kind.

What differs between kinds is asked of :class:`ColumnKind`. Where values have a mean and a shape,
most of it follows: see :class:`~halfseen.distributions.mean_and_shape.MeanAndShape`.
"""

from abc import ABC, abstractmethod
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.io.coding import COLUMN_KINDS
from halfseen.moments.product_mixture.encoding import Item

if TYPE_CHECKING:
    from halfseen.distributions.mixed_parameters import MixedParameters

Random = Any
"""A NumPy RandomState."""
STANDARD_DEVIATIONS = np.linspace(-6.0, 6.0, 97)
"""Where columns of numbers are cut for mutual information, about the centre of each component: with
intervals of an eighth of a standard deviation less than a hundredth of it is lost."""
NARROWEST, WIDEST = 0.05, 2.0
"""Of a column's variance: how narrow and how wide components begin."""


class ColumnFacts(NamedTuple):
    """What is known of one column before the fit."""

    name: str
    values: Array  # (l,)    of a column of few values, ascending
    highest: float  # the highest count that is no error
    histogram: Array  # (l,)  shares of the values, or of counts from zero on
    middle: float = 0.0  # robust, of numbers
    spread: float = 1.0
    spike: float = np.nan  # the number that many cells hold exactly, if there is one


class ColumnKind(ABC):
    """How values arise from a component. Parameters of all kinds are in ``MixedParameters``."""

    word: ClassVar[str]
    """As people write it."""
    normal: ClassVar[bool] = False
    """Whether its columns are left to the mixture of normals."""
    has_values: ClassVar[bool] = False
    """Whether a column has a few values, each with a probability of its own."""
    tabulated: ClassVar[bool] = False
    """Whether densities are looked up in a table of all values."""
    ordered: ClassVar[bool] = False
    """Whether few values are in an order, whatever they are called."""

    @property
    def code(self) -> int:
        """The number of the kind in parameters and model files: its place in the registry."""
        return list(COLUMN_KINDS).index(self.word)

    @property
    def nominal(self) -> bool:
        """Whether values have no order, and so no mean."""
        return COLUMN_KINDS[self.word].nominal

    @property
    def whole(self) -> bool:
        """Whether values are whole numbers, or codes."""
        return COLUMN_KINDS[self.word].whole

    @abstractmethod
    def item(self, column: ColumnFacts) -> Item:
        """The bounded features by which moments see a column."""

    @abstractmethod
    def statistics_of(self, column: ColumnFacts, x: Array) -> Array:
        """What components are described by at the start, of values x (n,); (n, s)."""

    @abstractmethod
    def start_values(self, column: ColumnFacts, means: Array) -> dict[str, Array]:
        """Parameters by field, from the means of those statistics in each component (k, s)."""

    @abstractmethod
    def means(self, parameters: "MixedParameters", columns: Labels) -> Array:
        """Means of its columns in each component; (k, m)."""

    @abstractmethod
    def variances(self, parameters: "MixedParameters", columns: Labels) -> Array:
        """Variances of its columns in each component; (k, m)."""

    @abstractmethod
    def masses(self, parameters: "MixedParameters", d: int, home: "MixedParameters") -> Array:
        """Probabilities of cells, into which a column is cut where ``home`` has values; (m, k)."""

    def as_numbers(self, column: ColumnFacts, x: Array) -> Array:
        """Values x (n, 1), NaN in the gaps, on a scale on which they can be compared; (n, q)."""
        return x

    def centres_as_numbers(self, parameters: "MixedParameters", d: int) -> Array:
        """Where components are on that scale; (k, q)."""
        return self.means(parameters, np.array([d]))

    def width(self, column: ColumnFacts) -> int:
        """The number of columns on that scale; q."""
        return int(self.as_numbers(column, np.empty((0, 1))).shape[1])

    @abstractmethod
    def profile(self, spread: Array, model: Any, d: int) -> dict[str, Any]:
        """The description of column d of a fitted model, with standard deviations (k,)."""

    def check(self, name: str, values: Array) -> None:
        """Refuse ``values``, ascending, that a declared column of this kind cannot hold."""
        return


def between(below: Array) -> Array:
    """Masses between cuts, and beyond them on both sides, from what is below each (m, k)."""
    return np.diff(below, axis=0, prepend=0.0, append=1.0)


@cache
def _loaded(path: str) -> ColumnKind:
    module, name = path.split(":")
    kind: ColumnKind = getattr(import_module(module), name)()
    return kind


def kind_named(word: str) -> ColumnKind:
    """The kind with this name."""
    return _loaded(COLUMN_KINDS[word].path)


def kind_of(code: float) -> ColumnKind:
    """The kind with the code that parameters hold."""
    return kind_named(list(COLUMN_KINDS)[int(code)])


def by_kind(codes: Array) -> list[tuple[Any, Labels]]:
    """The kinds of a table, with the columns of each."""
    return [(kind_of(code), np.flatnonzero(codes == code)) for code in np.unique(codes)]


def those(codes: Array, ability: str) -> Mask:
    """Columns whose kinds have an ability, such as ``"normal"`` or ``"has_values"``; (d,)."""
    return np.array([getattr(kind_of(code), ability) for code in codes], dtype=bool)
