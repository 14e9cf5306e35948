"""Portrait of latent classes: averages of numbers, shares of categories."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.sampling import Sample
from halfseen.report.categories import Categories
from halfseen.report.charts.drawing import MOST_LABELS, length
from halfseen.report.groups import MOST_DRAWN, SOMEWHAT, Groups
from halfseen.report.portrait import Difference, Grid, HeatMap, RowCertainty, few_behind
from halfseen.report.separation import Density, Separation


class Line(NamedTuple):
    """One line of a grid: the average of a column, or the share of a category."""

    column: int
    part: Categories | None = None
    label: int = 0

    @property
    def place(self) -> tuple[int, bool]:
        """The sort key: columns in order, each with its gaps last."""
        return self.column, self.part is not None and self.part.of_gaps


@dataclass(frozen=True, eq=False)
class Classes(Groups):
    """Portrait of classes: averages of numbers, shares of categories."""

    nominal: Mask  # (d,)  columns of which averages say nothing
    least_rows: float  # that stand behind what is shown

    @classmethod
    def made(
        cls,
        groups: Groups,
        nominal: Mask,
        categories: tuple[Categories, ...],
        densities: tuple[Density, ...],
        separation: Separation,
    ) -> Self:
        """Classes from groups; ``nominal`` columns (d,) have no averages."""
        shown = replace(
            groups,
            centres=np.where(nominal, np.nan, groups.centres),
            average=np.where(nominal, np.nan, groups.average),
            scores=np.where(nominal, 0.0, groups.scores),
            categories=categories,
            densities=densities,
            separation=separation,
        )
        return cls(**vars(shown), nominal=nominal, least_rows=0.0)

    def without_small_cells(self, certainty: RowCertainty, sample: Sample, least: float) -> Self:
        few, used = few_behind(certainty, sample.table, least), np.isfinite(self.separation.nats)
        few = np.where(used, few, few[:, used].all(axis=1, keepdims=True))
        parts = (
            part.without_small_cells(certainty.responsibilities, sample.table, least)
            for part in self.categories
        )
        return replace(self.without_averages(few), categories=tuple(parts), least_rows=least)

    @property
    def told_by_shares(self) -> list[Categories]:
        """Columns described by shares: nominal columns, and gaps."""
        return [part for part in self.categories if part.of_gaps or self.nominal[part.column]]

    def _differences(self, i: int) -> list[Difference]:
        """Numbers by their averages, categories by their shares.

        Categories of which little is known say little of a class, however far they differ in the
        few rows that have them: they count by the root of how often their column is known.
        """
        known = np.sqrt(self.fitted.observed_fraction)
        parts = []
        for part in self.told_by_shares:
            one = part.difference(i)
            worth = one.size if part.of_gaps else one.size * known[part.column]
            parts.append(one._replace(size=float(worth)))
        return [*super()._differences(i), *(one for one in parts if one.size >= SOMEWHAT)]

    def _lines(self) -> list[Line]:
        """One line for a number or a two-valued column, else one per value."""
        used = np.isfinite(self.separation.nats)
        found = [Line(int(d)) for d in np.flatnonzero(used & ~self.nominal)]
        for part in self.told_by_shares:
            n = len(part.labels)
            shown = [0] * part.differs if part.of_gaps else [1] if n == 2 else range(n)
            found += [Line(part.column, part, label) for label in shown]
        return sorted(found, key=lambda line: line.place)

    def _line_scores(self, line: Line) -> Array:
        return self.scores[:, line.column] if line.part is None else line.part.scores[line.label]

    def _chosen(self) -> list[Line]:
        lines = self._lines()
        scores = np.array([np.abs(self._line_scores(line)).max() for line in lines])
        return [lines[i] for i in np.sort(np.argsort(-scores, kind="stable")[:MOST_DRAWN])]

    def grid(self, low: Array | None, high: Array | None) -> Grid:
        lines = self._chosen()
        columns = [-1, *(line.column for line in lines)]
        return replace(
            super().grid(low, high),
            caption=self._caption(),
            features=columns[1:],
            lines=[self._name(line) for line in lines],
            labels=tuple(
                line.part.labels[line.label]
                if line.part and self._below(line)
                else self._name(line)
                for line in lines
            ),
            shade=np.clip(np.array([self._line_scores(line) for line in lines]) / 2, -1.0, 1.0),
            texts=[[self._cell(line, i) for i in range(self.k)] for line in lines],
            tips=[[self._said(line, i, low, high) for i in range(self.k)] for line in lines],
            n_lines=len(self._lines()),
            what="lines",
            heads=tuple(
                self.names[line.column] if self._below(line) and line.column != before else ""
                for before, line in zip(columns, lines, strict=False)
            ),
        )

    def _caption(self) -> str:
        said = [self._colours("Averages of numbers and shares of categories", "those")]
        if self.geometric.any():
            said.append("Averages of columns on a log scale are geometric.")
        if self.withheld.any():
            said.append("What is withheld is left out of all rows, too.")
        if self.least_rows > 1 and self.told_by_shares:
            said.append(
                f"Shares of fewer than {self.least_rows:g} rows are told as bounds, and values "
                "that fewer rows hold are put together."
            )
        return " ".join(said)

    def _below(self, line: Line) -> bool:
        """Whether a line stands below the name of its column: with others, or for want of room."""
        if line.part is None or line.part.of_gaps:
            return False
        return len(line.part.labels) > 2 or length(self._name(line)) > MOST_LABELS - 8

    def _name(self, line: Line) -> str:
        name = self.names[line.column]
        return name if line.part is None else f"{name}: {line.part.labels[line.label]}"

    def _cell(self, line: Line, i: int) -> str:
        part = line.part
        return self._text(i, line.column) if part is None else part.text(line.label, i)

    def _said(self, line: Line, i: int, low: Array | None, high: Array | None) -> str:
        if line.part is None:
            return self._tip(i, line.column, low, high)
        return line.part.tip(line.label, i, self.noun)

    def heat_map(self, n_words: int) -> HeatMap:
        lines = self._chosen()
        names = [self._name(line) for line in lines]
        return replace(
            super().heat_map(n_words),
            lines=tuple(names),
            values=np.array([self._line_scores(line) for line in lines]),
            texts=[[self._cell(line, i) for i in range(self.k)] for line in lines],
            line="feature, or share of a category",
            high=len(names),
        )
