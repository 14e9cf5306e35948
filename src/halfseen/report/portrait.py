"""Portraits: how a fitted model is described to people."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import plural
from halfseen.data.rows import Block, Rows
from halfseen.data.sampling import Sample
from halfseen.diagnostics.intervals import Interval
from halfseen.inference.fit import Fitted
from halfseen.io.kind_inference import named_as_year
from halfseen.report.section import ReportContext, Section

YEARS = (1500, 2200)
"""Whole numbers between these are years, where a column holds no others."""


class Description(NamedTuple):
    """A component in words."""

    title: str
    lines: list[str]


class Difference(NamedTuple):
    """How a component differs from all rows."""

    size: float  # in standard deviations
    said: str
    brief: str  # the same in two or three words
    known: float = 1.0  # how much of that is known, by which it counts where there is little room


def years_among(fitted: Fitted[Any]) -> Mask:
    """Features that hold years; (d,).

    Whoever reads 2,009 for 2009 thinks of something else. A column with the name of a year may hold
    one that is mistyped.
    """
    possible, done = fitted.possible, fitted.preprocessing
    whole, ends = possible.whole, np.array([possible.low, possible.high])
    if done is not None:
        ends = done.undo(ends)
        whole = np.zeros(len(whole), bool) if done.whole is None else done.whole
    named = np.array([named_as_year(name) for name in fitted.own_names], bool)
    low, high = ends.round()
    first, last = np.where(named, 1000, YEARS[0]), np.where(named, 3000, YEARS[1])
    years: Mask = whole & (low >= first) & (high <= last)
    return years


WITHHELD = "Withheld, as too few rows stand behind it."
ABOUT_AVERAGE, NOT_SHOWN = "about average", "withheld"
"""What a component is in brief, if there is nothing else to say of it."""
IntervalOf = Callable[[Callable[[Any], Array]], Interval | None]
"""From what follows from a model's parameters to its 95 % interval, if there is one."""


@dataclass(frozen=True, eq=False)
class Grid:
    """The heat map of the page, with one or more lines per feature."""

    title: str
    caption: str
    features: list[int]
    lines: list[str]  # their names
    shade: Array  # (lines, k)  from -1, blue, to 1, red
    texts: list[list[str]]
    tips: list[list[str]]
    n_lines: int  # that there would be if all were drawn
    what: str = "columns"  # that lines are
    heads: tuple[str, ...] = ()  # above lines, where a feature has several
    labels: tuple[str, ...] = ()  # of lines, below those


@dataclass(frozen=True, eq=False)
class HeatMap:
    """The heat map of a plot, with one column per component."""

    lines: tuple[str, ...]  # names of the lines, from above
    values: Array  # (lines, k)  what is coloured; NaN where there is nothing to say
    texts: list[list[str]]
    column: str  # what a column is called
    line: str  # what a line is
    colour: str  # what the colour is
    about_zero: bool  # whether values are on both sides of zero
    wide: tuple[float, float]  # inches, and inches a column
    high: int  # lines of text
    needed: bool  # texts are drawn even where they hardly fit


@dataclass(frozen=True, eq=False)
class RowCertainty:
    """How certain the components of rows are."""

    memberships: Array  # (n, k)  shares of components in each row, as shown
    responsibilities: Array  # (n, k)  how much each row counts in what is learned of a component
    values: Array  # (n,)  the certainty, or the relative error, of each row
    sentence: str  # empty if there is nothing to tell
    title: str
    caption: str
    axis: str
    span: tuple[float, float]  # of the values that are drawn on the page
    on_paper: tuple[str, float, str]  # the axis, what is in the middle, and how that is told


@dataclass(frozen=True, eq=False)
class Portrait(ABC):
    """A description of a model for people, with components ordered by size.

    The page, the plots and the command line show models by this alone. What is abstract here is
    what a kind of components has to say of itself.
    """

    fitted: Fitted[Any]
    names: tuple[str, ...]  # of the features
    order: NDArray[np.intp]  # (k,)  the model's own numbers of the components
    shares: Array  # (k,)  how common the components are
    centres: Array  # (k, d)  what each component has of each feature
    average: Array  # (d,)  the same for all rows together
    scores: Array  # (k, d)  how far components are from average
    geometric: Mask  # (d,)  features whose averages are geometric means
    learned_as: tuple[str | None, str | None]  # attributes that hold the centres and the shares
    withheld: Mask  # (k, d)  centres that are not shown

    of_what: ClassVar[str] = "of rows"  # shares are shares of it
    belonging: ClassVar[str] = "sure"  # what the share of a component in a row is called

    @property
    def noun(self) -> str:
        """The word for a component: group, class, state or topic."""
        return self.fitted.model.about.noun

    @property
    def nouns(self) -> str:
        """The plural of the noun."""
        return plural(self.noun)

    @property
    def k(self) -> int:
        """The number of components."""
        return len(self.shares)

    @property
    def known(self) -> str:
        """Attributes that have confidence intervals."""
        return f"averages and shares of {self.nouns}"

    def in_own_units(self, centres: Array) -> Array:
        """Values (n, d) of the model's centres in the units of the table."""
        done = self.fitted.preprocessing
        return centres if done is None else done.undo(centres)

    def ranked_by(self, relevance: float) -> Self:
        """The same with features ranked by share (1), by relevance (0), or both."""
        return self

    def own_sections(self, page: ReportContext) -> list[Section]:
        """Sections that only this portrait has."""
        return []

    def without_small_cells(self, rows: RowCertainty, sample: Sample, least: float) -> Self:
        """The same without numbers that rest on fewer than ``least`` rows of a sample."""
        return self.without_averages(few_behind(rows, sample.table, least))

    @abstractmethod
    def without_averages(self, few: Mask) -> Self:
        """The same without some centres (k, d), and without what reveals them."""

    @abstractmethod
    def briefs(self) -> list[str]:
        """A few words about each component, without numbers."""

    @abstractmethod
    def descriptions(self, members: str = "rows") -> list[Description]:
        """Each component in words."""

    @abstractmethod
    def grid(self, low: Array | None, high: Array | None) -> Grid:
        """The heat map of the page; ``low`` and ``high`` (k, d) are ends of 95 % intervals."""

    @abstractmethod
    def heat_map(self, n_words: int) -> HeatMap:
        """The heat map of a plot; ranked features are limited in number."""

    @abstractmethod
    def row_certainty(self, rows: Rows) -> RowCertainty:
        """How certain the model is of what is hidden behind each row."""

    @abstractmethod
    def predicted(self, hidden: Array) -> dict[str, Any]:
        """Posterior probabilities or loadings (n, k) as columns of a result table."""

    @abstractmethod
    def tallied(self, hidden: Array) -> Array:
        """Summary numbers of rows (n, k) that add over batches, their number first."""

    @abstractmethod
    def summed_up(self, tally: Array) -> str:
        """Those numbers in a sentence."""


def few_behind(certainty: RowCertainty, table: Array, least: float) -> Mask:
    """Averages (k, d) that rest on fewer than that many rows.

    Rows that have a value count by their responsibilities c, all together as ``(Σ c)² / Σ c²``.
    """
    return np.asarray(effective_rows(certainty.responsibilities, ~np.isnan(table)) < least)


def few_behind_sparse(certainty: RowCertainty, rows: Rows, least: float) -> Mask:
    """The same for sparse rows."""

    def summed(block: Block) -> Array:
        own = certainty.responsibilities[block.start : block.start + len(block)]
        return block.presence().back(np.hstack([own, own**2]))

    total, squares = np.hsplit(rows.accumulate(summed), 2)  # (d, k) each
    behind = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
    return np.asarray(least > behind.T)


def effective_rows(responsibilities: Array, seen: Mask) -> Array:
    """The effective number of observed rows behind each average; (k, d)."""
    total, squares = responsibilities.T @ seen, (responsibilities**2).T @ seen
    return np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
