"""Section on one cloud: the line along which rows differ most."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.formatting import number, percent
from halfseen.data.sampling import sample_rows
from halfseen.diagnostics.cluster_tendency.latent_traits import FirstTrait, first_trait
from halfseen.diagnostics.concerns import ConcernContext
from halfseen.inference.fit import Fitted
from halfseen.report.categories import Categories
from halfseen.report.charts.drawing import Figure
from halfseen.report.charts.heat_map import Heads, grid_chart
from halfseen.report.charts.histograms import histogram
from halfseen.report.portrait import WITHHELD, Grid, Portrait, years_among
from halfseen.report.section import ReportContext, Section

TITLE = "The main line along which rows differ"
NO_LINE = "The columns hardly go along with each other: there is no line along which rows differ."
MAX_LINE_ROWS = 5_000
"""Rows that the line is estimated from: a correlation is then known to 0.03."""
LEAST_ROWS = 50
"""Of the table: with fewer, a fifth of them is next to nothing."""
MOST_DRAWN = 40
"""Lines of the chart, of which the strongest columns come first."""
MOST_NAMED = 3
"""Columns that the ends of the line are told by."""
WORTH_NAMING, HARDLY = 0.05, 0.01
"""Share of a column's variance from which on it is named for the ends (a correlation of 0.22), and
below which it is said that it hardly changes (0.1)."""
HEADS = Heads(
    ("", "column"),
    (("lowest", "fifth"), ("middle", "fifth"), ("highest", "fifth"), ("corre-", "lation")),
    ("lowest fifth", "middle fifth", "highest fifth", "correlation"),
)


class Change(NamedTuple):
    """How a column changes along the line: its average, or the share of a value."""

    column: int
    name: str
    texts: list[str]  # in the lowest, the middle and the highest fifth of rows
    shades: Array  # (3,)  from -1, below all rows, to 1, above


class Ends(NamedTuple):
    """The values of a column at both ends of the line."""

    low: str
    high: str


@dataclass(frozen=True, eq=False)
class MainLine:
    """The first trait, in the words and units of the table."""

    trait: FirstTrait
    fitted: Fitted[Any]
    columns: Labels  # (c,)  which of the table are looked at
    table: Array  # (n, c)  rows that were looked at, in own units
    least: float  # rows that stand behind what is shown

    @property
    def exists(self) -> bool:
        return self.trait.exists

    @cached_property
    def order(self) -> list[int]:
        """The columns, from the strongest to the weakest."""
        explained = self.trait.explained
        ranked = np.argsort(-np.nan_to_num(explained), kind="stable")
        return [int(i) for i in ranked if np.isfinite(explained[i])]

    def name(self, i: int) -> str:
        return str(self.fitted.own_names[self.columns[i]])

    def correlation(self, i: int) -> float:
        """Correlations with the line; for nominal columns the correlation ratio."""
        size = float(np.sqrt(self.trait.explained[i]))
        return -size if self.trait.direction[i] < 0 else size

    @property
    def sentence(self) -> str:
        """From where to where the line goes."""
        named = [i for i in self.order if self.trait.explained[i] >= WORTH_NAMING]
        ends = [self.ends(i) for i in named[:MOST_NAMED]]
        low, high = (_and([getattr(one, end) for one in ends]) for end in Ends._fields)
        return f"Rows differ most along one line: from {low} to {high}."

    def ends(self, i: int) -> Ends:
        part = self._categories(i)
        if part is None:
            low, high = f"low {self.name(i)}", f"high {self.name(i)}"
            return Ends(low, high) if self.trait.direction[i] > 0 else Ends(high, low)
        rise = part.shares[:, 2] - part.shares[:, 0]
        often = f"{part.name} more often "
        return Ends(*(often + part.quoted(int(at)) for at in (rise.argmin(), rise.argmax())))

    def changes(self) -> list[Change]:
        """Changes of all columns, strongest first."""
        return [one for i in self.order for one in self._changes(i)]

    def _changes(self, i: int) -> list[Change]:
        part = self._categories(i)
        if part is None:
            return [self._average(i)]
        rise = part.shares[:, 2] - part.shares[:, 0]
        shown = {1} if len(rise) == 2 else {int(rise.argmax()), int(rise.argmin())}
        return [
            Change(
                i,
                f"{part.name}: {part.labels[label]}",
                [part.text(label, fifth) for fifth in range(3)],
                np.clip(part.scores[label] / 2, -1.0, 1.0),
            )
            for label in sorted(shown, key=lambda label: -rise[label])
        ]

    def _average(self, i: int) -> Change:
        column, year = self.table[:, i], bool(years_among(self.fitted)[self.columns[i]])
        known = ~np.isnan(column)
        mean, spread = column[known].mean(), column[known].std()
        texts, shades = [""] * 3, np.zeros(3)
        for k, fifth in enumerate(self.trait.fifths.T):
            if np.count_nonzero(known & fifth) >= max(self.least, 1):
                average = float(column[known & fifth].mean())
                texts[k], shades[k] = number(average, year), (average - mean) / spread / 2
        return Change(i, self.name(i), texts, np.clip(shades, -1.0, 1.0))

    def _categories(self, i: int) -> Categories | None:
        """Values of a column of words or of two values, with shares in the fifths; else None."""
        column, fifths = self.table[:, i], self.trait.fifths.astype(float)
        values = np.unique(column[~np.isnan(column)])
        coding = self.fitted.coding
        labels = () if coding is None else coding.labels[self.columns[i]]
        if not labels and len(values) > 2:
            return None
        called = tuple(labels[round(value)] if labels else _written(value) for value in values)
        counts = (column[:, None] == values).T @ fifths  # (m, 3)
        shares = counts / np.maximum(counts.sum(axis=0), 1.0)
        part = Categories.of(i, self.name(i), called, values, shares, np.full(3, 1 / 3))
        return part.without_small_cells(fifths, self.table, self.least)


def _written(value: float) -> str:
    """A value of few; whole numbers that went to another scale and back are whole."""
    return f"{value:.0f}" if np.isclose(value, round(value), atol=1e-9) else number(value)


def main_line(case: ConcernContext, least: float) -> MainLine | None:
    """The main line of one group of rows; None for several groups, sequences or sparse rows."""
    fitted = case.fitted
    if fitted.n_components > 1 or not fitted.model.about.labels:
        return None
    if case.rows.sequenced or case.rows.sparse:
        return None
    table, columns = (
        sample_rows(case.sample.rows, MAX_LINE_ROWS).table,
        np.flatnonzero(case.features),
    )
    if len(table) < LEAST_ROWS or not len(columns):
        return None
    trait = first_trait(table[:, columns], _without_order(fitted)[columns])
    own = table if fitted.preprocessing is None else fitted.preprocessing.undo(table)
    return MainLine(trait, fitted, columns, own[:, columns], least)


def _without_order(fitted: Fitted[Any]) -> Mask:
    """Nominal columns and columns of two words; (d,)."""
    if fitted.coding is None:
        return fitted.nominal
    two_words = np.array([len(labels) == 2 for labels in fitted.coding.labels], bool)
    return np.asarray(fitted.nominal | two_words)


def main_line_section(page: ReportContext, line: MainLine) -> Section:
    """The section on the line, what changes along it, and positions of rows."""
    trait, explained = line.trait, line.trait.explained
    little = [line.name(i) for i in line.order if explained[i] < HARDLY]
    hardly = f"{_and(little)} hardly change{'s' * (len(little) == 1)} along it."
    sentences = [
        line.sentence,
        "The line is the first factor of the columns; on average it explains "
        f"{percent(trait.share)} of a column's variance." + f" {hardly}" * bool(little),
        *groups_anyway(page.case, page.view),
    ]
    return Section("components", TITLE, sentences, [_along(line), _positions(line)])


def groups_anyway(case: ConcernContext, view: Portrait) -> list[str]:
    """How to get several groups anyway."""
    k = getattr(case.fitted.diagnostics.choice, "runner_up", None)
    if k is None or k < 2:
        return []
    command = f"halfseen fit TABLE --model {case.fitted.model.about.name} -k {k}"
    return [f"If you want {view.nouns} anyway: {command} (in Python n_components={k})."]


def _along(line: MainLine) -> Figure:
    changes = line.changes()
    shown = changes[:MOST_DRAWN]
    strength = [f"{line.correlation(one.column):.2f}" for one in shown]
    caption = (
        "Averages of columns and shares of their values, among the fifth of rows that lies lowest "
        "on the line, the one in the middle and the highest one. Red is above all rows, blue "
        "below. The last column is the correlation with the line; of categories it has no sign."
    )
    if any("" in one.texts for one in shown):
        caption += f" Cells that fewer than {line.least:g} rows stand behind are empty."
    grid = Grid(
        title="What changes along the line",
        caption=caption,
        features=[one.column for one in shown],
        lines=[one.name for one in shown],
        shade=np.array([[*one.shades, 0.0] for one in shown]),
        texts=[[*one.texts, r] for one, r in zip(shown, strength, strict=True)],
        tips=[_tips(one, r) for one, r in zip(shown, strength, strict=True)],
        n_lines=len(changes),
        what="lines",
    )
    return grid_chart(grid, HEADS)


def _tips(change: Change, correlation: str) -> list[str]:
    fifths = zip(HEADS.names, change.texts, strict=False)
    told = [f"{change.name} in the {fifth} of rows: {text or WITHHELD}" for fifth, text in fifths]
    return [*told, f"{change.name}: correlation with the line {correlation}"]


def _positions(line: MainLine) -> Figure:
    at = line.trait.positions[np.isfinite(line.trait.positions)]
    error = float(np.nanmean(line.trait.errors))
    caption = (
        f"Rows by their position on the line ({len(at):,} rows), in standard deviations from the "
        f"mean. The standard error of a row's position is {error:.2f} on average."
    )
    return histogram("Where rows lie", caption, "position on the line", at, -3.0, 3.0)


def _and(names: Sequence[str], most: int = 8) -> str:
    """A list of names in words, cut if it is long.

    >>> _and(["a"]), _and(["a", "b", "c"]), _and(["a", "b", "c"], most=1)
    ('a', 'a, b and c', 'a and 2 more')
    """
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
