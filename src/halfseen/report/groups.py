"""Portrait of groups."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import number, percent
from halfseen.data.rows import Rows, gathered
from halfseen.data.sampling import Sample
from halfseen.inference.fit import Fitted
from halfseen.inference.parameters import whole
from halfseen.report.categories import Categories
from halfseen.report.portrait import (
    ABOUT_AVERAGE,
    NOT_SHOWN,
    WITHHELD,
    Description,
    Difference,
    Grid,
    HeatMap,
    Portrait,
    RowCertainty,
    years_among,
)
from halfseen.report.section import ReportContext, Section
from halfseen.report.separation import Density, Separation, separation_section

MOST_DRAWN = 40
"""Lines of the heat map, of which the most telling are drawn."""
SOMEWHAT, CLEARLY, MUCH = 0.4, 0.8, 1.5
"""Standard deviations of all rows from which a difference is worth so many words."""
SURE = 0.9
"""Posterior probability from which on a row is said to belong to one group."""
MOST_DIFFERENCES = 8
"""That a group is described by; further ones are counted."""
MOST_BRIEF = 2
"""Differences that a group is told by in a few words."""


@dataclass(frozen=True, eq=False)
class Groups(Portrait):
    """Groups that rows belong to, each with means of the features."""

    years: Mask  # (d,)  features that are written without separators
    categories: tuple[Categories, ...]  # columns of few values, where shares are known
    densities: tuple[Density, ...]  # where numbers lie, of columns of which that is known
    separation: Separation

    @classmethod
    def of(cls, fitted: Fitted[Any], means: Array, variances: Array) -> Self:
        """From means and variances (k, d) of the kept features in each component."""
        by_component, done = fitted.model.shares(fitted.parameters), fitted.preprocessing
        order = fitted.order
        shares, kept = by_component[order], fitted.kept
        centres = whole(means[order], kept, fitted.constants)
        spread = whole(variances[order], kept, 0.0)
        average = shares @ centres
        variance = shares @ (spread + (centres - average) ** 2)
        deviation = (centres - average)[:, kept] / np.sqrt(variance[kept])
        return cls(
            fitted=fitted,
            names=fitted.own_names,
            order=order,
            shares=shares,
            centres=centres if done is None else done.undo(centres),
            average=average if done is None else done.undo(average[None])[0],
            scores=whole(deviation, kept, 0.0),
            geometric=np.zeros(len(kept), bool) if done is None else done.logged,
            learned_as=(fitted.name_of(means), fitted.name_of(by_component)),
            years=years_among(fitted),
            withheld=np.zeros(centres.shape, bool),
            categories=(),
            densities=(),
            separation=Separation.unknown(len(kept)),
        )

    def without_averages(self, few: Mask) -> Self:
        shares = np.where(few, 0.0, self.shares[:, None])
        # The average is taken on the scale on which the column was averaged.
        logged, left = self.geometric, shares.sum(axis=0)
        centres = np.where(logged, np.log(np.where(logged, self.centres, 1.0)), self.centres)
        total = (shares * centres).sum(axis=0)
        mean = np.divide(total, left, out=np.full(len(left), np.nan), where=left > 0)
        mean = np.where(logged, np.exp(np.where(logged, mean, 0.0)), mean)
        return replace(
            self,
            withheld=few,
            average=np.where(few.any(axis=0), mean, self.average),
            scores=np.where(few, 0.0, self.scores),
        )

    def without_small_cells(self, certainty: RowCertainty, sample: Sample, least: float) -> Self:
        shown = super().without_small_cells(certainty, sample, least)
        parts = (
            part.without_small_cells(certainty.responsibilities, sample.table, least)
            for part in self.categories
        )
        return replace(shown, categories=tuple(parts))

    def descriptions(self, members: str = "rows") -> list[Description]:
        return [self._told(i, members) for i in range(self.k)]

    def briefs(self) -> list[str]:
        ranked = [
            [
                one.brief
                for one in sorted(self._differences(i), key=lambda one: -one.size * one.known)
            ]
            for i in range(self.k)
        ]
        briefs = [own[:MOST_BRIEF] for own in ranked]
        for i, own in enumerate(ranked):
            alike = [other for other in ranked if other is not own and _same(other, own)]
            special = [one for one in own if alike and not any(one in other for other in alike)]
            briefs[i] += special[:1]
        none = [NOT_SHOWN if self.withheld[i].all() else ABOUT_AVERAGE for i in range(self.k)]
        return [", ".join(own) or none[i] for i, own in enumerate(briefs)]

    def _told(self, i: int, members: str) -> Description:
        differences = sorted(self._differences(i), key=lambda one: -one.size)
        lines = [one.said for one in differences[:MOST_DIFFERENCES]]
        if len(differences) > MOST_DIFFERENCES:
            lines.append(f"and {len(differences) - MOST_DIFFERENCES} more that differ less")
        if self.withheld[i].all():
            lines = [WITHHELD]
        if not lines:
            lines = ["Nothing stands out: every column is about average."]
        title = f"{self.noun.capitalize()} {i + 1}: {percent(self.shares[i])} of {members}"
        return Description(title, lines)

    def _differences(self, i: int) -> list[Difference]:
        sizes = enumerate(np.abs(self.scores[i]))
        return [self._difference(i, d) for d, size in sizes if size >= SOMEWHAT]

    def _difference(self, i: int, d: int) -> Difference:
        score = self.scores[i, d]
        size = abs(score)
        degree = "much " if size >= MUCH else "" if size >= CLEARLY else "somewhat "
        direction = "higher" if score > 0 else "lower"
        said = (
            f"{self.names[d]} {degree}{direction} than average: "
            f"{self._number(self.centres[i, d], d)} (average {self._number(self.average[d], d)})"
        )
        # What few rows know of is named later in the brief, however much it differs.
        known = float(np.sqrt(self.fitted.observed_fraction[d]))
        return Difference(float(size), said, f"{direction} {self.names[d]}", known)

    def _number(self, value: float, d: int) -> str:
        return number(value, year=bool(self.years[d]))

    def grid(self, low: Array | None, high: Array | None) -> Grid:
        telling = np.argsort(-np.abs(self.scores).max(axis=0), kind="stable")[:MOST_DRAWN]
        chosen = sorted(map(int, telling))
        return Grid(
            title=f"What the {self.nouns} are like" if self.k > 1 else "What rows are like",
            caption=self._colours("Average of each column", "the average")
            + bool(self.geometric.any()) * " Averages of columns on a log scale are geometric."
            + bool(self.withheld.any()) * " What is withheld is left out of that average, too.",
            features=chosen,
            lines=[self.names[d] for d in chosen],
            n_lines=len(self.names),
            shade=np.clip(self.scores[:, chosen].T / 2, -1.0, 1.0),
            texts=[[self._text(k, d) for k in range(self.k)] for d in chosen],
            tips=[[self._tip(k, d, low, high) for k in range(self.k)] for d in chosen],
        )

    def _colours(self, what: str, of_all: str) -> str:
        if self.k == 1:
            return f"{what}."
        return (
            f"{what} in each {self.noun}. Red is above {of_all} of all rows, blue below; the "
            "stronger the colour, the further."
        )

    def _text(self, k: int, d: int) -> str:
        return "" if self.withheld[k, d] else self._number(self.centres[k, d], d)

    def _tip(self, k: int, d: int, low: Array | None, high: Array | None) -> str:
        if self.withheld[k, d]:
            return f"{self.names[d]} in {self.noun} {k + 1}: {WITHHELD}"
        mean = f"{self.names[d]} in {self.noun} {k + 1}: {self._number(self.centres[k, d], d)}"
        if low is not None and high is not None and np.isfinite(high[k, d]):
            ends = self._number(low[k, d], d), self._number(high[k, d], d)
            mean += f" (between {ends[0]} and {ends[1]})"
        return f"{mean}; average of all rows {self._number(self.average[d], d)}"

    def own_sections(self, page: ReportContext) -> list[Section]:
        if self.k == 1 or not self.separation.known:
            return []
        shown = self.categories, self.densities
        return [separation_section(self, self.separation, *shown, page.intervals.of, self._number)]

    def heat_map(self, n_words: int) -> HeatMap:
        scores = np.where(self.fitted.kept, self.scores, np.nan)
        return HeatMap(
            lines=self.names,
            values=scores.T,
            texts=[
                ["" if np.isnan(x) else f"{x:.0f}" if year else f"{x:.3g}" for x in line]
                for line, year in zip(self.centres.T, self.years, strict=True)
            ],
            column="component",
            line="feature",
            colour="standard deviations\nfrom the mean of all rows",
            about_zero=True,
            wide=(3.5, 0.8),
            high=len(self.names),
            needed=False,
        )

    def row_certainty(self, rows: Rows) -> RowCertainty:
        model, parameters = self.fitted.model, self.fitted.parameters
        part = rows.select(self.fitted.kept)
        hidden = gathered(part, lambda block: model.expected_latent(block, parameters))
        shares: Array = hidden[:, self.order]
        surest = shares.max(axis=1)
        mean, sure = float(surest.mean()), float((surest >= SURE).mean())
        return RowCertainty(
            memberships=shares,
            responsibilities=shares,
            values=surest,
            sentence=f"{percent(sure)} of rows belong to one {self.noun} with a probability of at "
            f"least {SURE:.0%}; the mean is {mean:.0%}."
            if self.k > 1
            else "",
            title=f"How sure we are of each row's {self.noun}",
            caption=f"Rows by the probability of their likeliest {self.noun} ({len(surest):,} "
            "rows).",
            axis=f"probability of the likeliest {self.noun}",
            span=(1 / self.k if self.k > 1 else 0.0, 1.0),
            on_paper=(
                "probability of the row's most probable component",
                mean,
                f"mean {mean:.2f}\n({(surest < SURE).mean():.0%} of rows below {SURE:g})",
            ),
        )

    def predicted(self, hidden: Array) -> dict[str, Any]:
        shares = hidden[:, self.order]
        columns = {f"probability_{i + 1}": shares[:, i] for i in range(self.k)}
        return {self.noun: shares.argmax(axis=1) + 1, **columns}

    def tallied(self, hidden: Array) -> Array:
        shares = hidden[:, self.order]
        counts = np.bincount(shares.argmax(axis=1), minlength=self.k)
        unsure = np.count_nonzero(shares.max(axis=1, initial=0.0) < SURE)
        return np.array([len(shares), unsure, *counts], dtype=float)

    def summed_up(self, tally: Array) -> str:
        n_rows, unsure, *counts = tally
        told = ", ".join(f"{n:,.0f} in {self.noun} {i}" for i, n in enumerate(counts, start=1))
        share = percent(unsure / max(n_rows, 1.0))
        return f"Of {n_rows:,.0f} rows {told}; {share} of them are less than {SURE:.0%} sure."


def _same(one: list[str], other: list[str]) -> bool:
    return sorted(one[:MOST_BRIEF]) == sorted(other[:MOST_BRIEF])
