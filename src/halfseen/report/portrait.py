"""A learned model as people are shown it: in the table's own units, most common first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.rows import Block, Rows
from halfseen.data.sampling import Sample
from halfseen.diagnostics.concerns.concern import ConcernContext
from halfseen.diagnostics.intervals import Interval
from halfseen.inference.fit import Fitted
from halfseen.io.kind_inference import named_as_year
from halfseen.report.section import Section

YEARS = (1500, 2200)


class Told(NamedTuple):
    """A component in words."""

    title: str
    lines: list[str]


class Difference(NamedTuple):
    """What sets a component apart from all rows."""

    size: float  # in standard deviations
    said: str
    brief: str  # the same in two or three words
    known: float = 1.0  # how much of that is known, by which it counts where there is little room


def years_among(fitted: Fitted[Any]) -> Mask:
    """Which features hold years: whole numbers of the last centuries; (d,).

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
Sure = Callable[[Callable[[Any], Array]], Interval | None]
"""From what follows from a model's parameters to its 95 % interval, if there is one."""


@dataclass(frozen=True, eq=False)
class Grid:
    """What components are like, for the page: a line for each of some features, or several."""

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
    """What components are like, on paper: a column for each."""

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
class Doubts:
    """How sure a model is of some rows."""

    memberships: Array  # (n, k)  shares of components in each row, as shown
    carried: Array  # (n, k)  how much of what is learned of a component comes from each row
    values: Array  # (n,)  how sure the model is of a row
    sentence: str  # empty if there is nothing to tell
    title: str
    caption: str
    axis: str
    span: tuple[float, float]  # of the values that are drawn on the page
    on_paper: tuple[str, float, str]  # the axis, what is in the middle, and how that is told


class Portrait(Protocol):
    """Components numbered from 1 by how common they are.

    What a model hands out as its portrait. The page, the plots and the command line know models
    only by this.
    """

    @property
    def noun(self) -> str:
        """What a component is to people."""

    @property
    def nouns(self) -> str:
        """What several are."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the features."""

    @property
    def order(self) -> NDArray[np.intp]:
        """The model's own numbers of the components; (k,)."""

    @property
    def shares(self) -> Array:
        """How common the components are; (k,)."""

    @property
    def centres(self) -> Array:
        """What each component has of each feature; (k, d)."""

    @property
    def average(self) -> Array:
        """The same for all rows together; (d,)."""

    @property
    def scores(self) -> Array:
        """How far components are from average, in what suits them; (k, d)."""

    @property
    def withheld(self) -> Mask:
        """What of the centres is not shown; (k, d)."""

    @property
    def geometric(self) -> Mask:
        """Features whose averages are geometric means; (d,)."""

    @property
    def learned_as(self) -> tuple[str | None, str | None]:
        """The learned attributes that hold the centres and the shares, if any does."""

    @property
    def k(self) -> int:
        """How many components there are."""

    @property
    def of_what(self) -> str:
        """What shares are shares of."""

    @property
    def known(self) -> str:
        """What has confidence intervals."""

    @property
    def belonging(self) -> str:
        """What the share of a component in a row is called."""

    def called(self, component: int) -> str:
        """What the model's own component of a number is called."""

    def in_own_units(self, centres: Array) -> Array:
        """Values (n, d) of the model's centres, as people have them."""

    def withholding(self, few: Mask) -> Self:
        """The same without some of the centres (k, d), nor what they could be reckoned from."""

    def for_sharing(self, doubts: Doubts, sample: Sample, least: float) -> Self:
        """The same without what fewer than ``least`` of the rows of a sample stand behind."""

    def briefs(self) -> list[str]:
        """Each component in a few words, without numbers."""

    def told(self, members: str = "rows") -> list[Told]:
        """Each component in words."""

    def grid(self, low: Array | None, high: Array | None) -> Grid:
        """What components are like; ``low`` and ``high`` (k, d) are ends of 95 % intervals."""

    def telling(self, relevance: float) -> Self:
        """The same with features ranked by their share (1), by what they tell (0), or both."""

    def chapters(self, sure: Sure, case: ConcernContext) -> list[Section]:
        """Chapters of the page that only such components have."""

    def heat_map(self, n_words: int) -> HeatMap:
        """What components are like; where features are listed by rank, so many of them."""

    def doubts(self, rows: Rows) -> Doubts:
        """How sure the model is of each row."""

    def predicted(self, hidden: Array) -> dict[str, Any]:
        """What is hidden behind rows (n, k), in the model's own order, as columns of results."""

    def tallied(self, hidden: Array) -> Array:
        """What is to be said of rows (n, k) together, in numbers that add: how many first."""

    def summed_up(self, tally: Array) -> str:
        """The same in a sentence."""


def few_behind(doubts: Doubts, table: Array, least: float) -> Mask:
    """Averages (k, d) that fewer than so many rows stand behind, of those that were looked at.

    By the effective number of rows ``(Σ c)² / Σ c²``, over the rows of ``table`` (n, d) that have
    a value, each carrying a component by ``c``.
    """
    return np.asarray(effective_rows(doubts.carried, ~np.isnan(table)) < least)


def few_behind_sparse(doubts: Doubts, rows: Rows, least: float) -> Mask:
    """The same for rows of which only what is stored is at hand."""

    def summed(block: Block) -> Array:
        own = doubts.carried[block.start : block.start + len(block)]
        return block.presence().back(np.hstack([own, own**2]))

    total, squares = np.hsplit(rows.accumulate(summed), 2)  # (d, k) each
    behind = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
    return np.asarray(least > behind.T)


def effective_rows(carried: Array, seen: Mask) -> Array:
    """The effective number of rows, of those ``seen`` (n, d), by which each is carried; (k, d)."""
    total, squares = carried.T @ seen, (carried**2).T @ seen
    return np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
