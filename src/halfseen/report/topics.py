"""Portrait of topics."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import percent, shortened
from halfseen.data.rows import Rows, gathered
from halfseen.data.sampling import Sample, sample_counts
from halfseen.diagnostics.topics import (
    N_WORDS,
    USUAL_RELEVANCE,
    check_relevance,
    most_relevant,
)
from halfseen.inference.fit import Fitted
from halfseen.inference.parameters import whole
from halfseen.latent.topics import loadings
from halfseen.report.portrait import (
    NOT_SHOWN,
    WITHHELD,
    Description,
    Grid,
    HeatMap,
    Portrait,
    RowCertainty,
    few_behind_sparse,
)
from halfseen.report.section import ReportContext, Section
from halfseen.report.topic_relations import topic_relations_section

MOST_DRAWN, OF_EACH, FEWEST_DRAWN = 40, 10, 3
"""Features of the heat map in all, and the most and the fewest of each topic."""
MOST_TOLD, MOST_BRIEF = 12, 3
"""Features by which a topic is described, and by which it is named."""
LEAST_WRITTEN = 0.0005
"""Share of a feature in a topic that is rounded to 0.1 %, the least that is written."""
SMALL = 0.05
"""Topics whose largest share is smaller are of many words, and told by words alone."""
MOST_STORED = 20_000
"""Counts of rows whose loadings are looked at with their errors, which takes milliseconds each."""


@dataclass(frozen=True, eq=False)
class Topics(Portrait):
    """Portrait of topics."""

    relevance: float = (
        USUAL_RELEVANCE  # of shares, beside what features tell, where they are ranked
    )

    of_what: ClassVar[str] = "of all that is counted"
    belonging: ClassVar[str] = "share"

    @classmethod
    def of(cls, fitted: Fitted[Any]) -> Self:
        topics = fitted.parameters.topics
        by_component = fitted.model.shares(fitted.parameters)
        order = fitted.order
        shares, centres = by_component[order], whole(topics[order], fitted.kept, 0.0)
        average = shares @ centres
        ratio = np.divide(centres, average, out=np.ones_like(centres), where=average > 0)
        return cls(
            fitted=fitted,
            names=fitted.own_names,
            order=order,
            shares=shares,
            centres=centres,
            average=average,
            scores=np.log2(np.maximum(ratio, 2.0**-10)),
            geometric=np.zeros(centres.shape[1], bool),
            learned_as=(fitted.name_of(topics), fitted.name_of(by_component)),
            withheld=np.zeros(centres.shape, bool),
        )

    def ranked_by(self, relevance: float) -> Self:
        check_relevance(relevance)
        return replace(self, relevance=relevance)

    def words(self, most: int) -> list[NDArray[np.intp]]:
        """Characteristic features of each topic, most relevant first."""
        return most_relevant(self.centres, self.average, self.relevance, most)

    def without_averages(self, few: Mask) -> Self:
        wholly: Mask = np.asarray(few.any(axis=1))
        shares = np.where(wholly, 0.0, self.shares)
        average = shares @ self.centres / (shares.sum() or 1.0)
        return replace(
            self,
            withheld=np.broadcast_to(wholly[:, None], few.shape),
            average=average if wholly.any() else self.average,
        )

    def without_small_cells(self, certainty: RowCertainty, sample: Sample, least: float) -> Self:
        return self.without_averages(few_behind_sparse(certainty, sample.rows, least))

    @property
    def known(self) -> str:
        return "shares of columns"

    @property
    def of_words(self) -> bool:
        """Whether topics spread over many features, as in text."""
        return bool(np.median(self.centres.max(axis=1)) < SMALL)

    def briefs(self) -> list[str]:
        words = [", ".join(self.names[d] for d in top) for top in self.words(MOST_BRIEF)]
        return [NOT_SHOWN if self.withheld[i].all() else words[i] for i in range(self.k)]

    def descriptions(self, members: str = "rows") -> list[Description]:
        return [self._told(i) for i in range(self.k)]

    def _told(self, i: int) -> Description:
        title = f"{self.noun.capitalize()} {i + 1}: {percent(self.shares[i])} {self.of_what}"
        if self.withheld[i].all():
            return Description(title, [WITHHELD])
        topic = self.centres[i]
        relevant = self.words(MOST_TOLD)[i]
        top = [int(d) for d in relevant[np.argsort(-topic[relevant], kind="stable")]]
        if self.of_words:  # shares of less than a percent tell nobody anything
            return Description(title, [", ".join(self.names[d] for d in relevant)])
        ratio = np.where(topic >= topic[top[-1]] / 4, self.scores[i], -np.inf)
        special = [int(d) for d in np.argsort(-ratio, kind="stable")[:4] if ratio[d] > 1]
        lines = ["Mostly " + ", ".join(f"{self.names[d]} ({percent(topic[d])})" for d in top)]
        if special:
            named = ", ".join(f"{self.names[d]} ({2 ** ratio[d]:.1f} times)" for d in special)
            lines.append(f"More than elsewhere: {named}")
        return Description(title, lines)

    def grid(self, low: Array | None, high: Array | None) -> Grid:
        shown = np.where(self.withheld, 0.0, self.centres)
        main = shown.argmax(axis=0)
        there = np.flatnonzero(~self.withheld.all(axis=1))
        each = max(MOST_DRAWN // max(len(there), 1), FEWEST_DRAWN)
        words = self.words(min(OF_EACH, each))
        top = {int(d) for i in there for d in words[i]}
        chosen = sorted(top, key=lambda d: (main[d], -shown[main[d], d]))

        def text(k: int, d: int) -> str:
            share = self.centres[k, d]
            if self.withheld[k, d]:
                return ""
            small = f"{100 * share:.1f}" if share >= LEAST_WRITTEN else ""
            return percent(share) if shown.max() >= SMALL else small

        def tip(k: int, d: int) -> str:
            if self.withheld[k, d]:
                return f"{self.names[d]} in {self.noun} {k + 1}: {WITHHELD}"
            between = ""
            if low is not None and high is not None:
                between = f" (between {100 * low[k, d]:.2g}% and {100 * high[k, d]:.2g}%)"
            return (
                f"{self.names[d]} is {100 * self.centres[k, d]:.2g}% of {self.noun} {k + 1}"
                f"{between}, and {100 * self.average[d]:.2g}% of all"
            )

        return Grid(
            title=f"What the {self.nouns} are like",
            caption=f"Share of each column in each {self.noun}, for the columns that tell most of "
            f"every {self.noun}{', in percent' if shown.max() < SMALL else ''}.",
            features=chosen,
            lines=[self.names[d] for d in chosen],
            n_lines=len(self.names),
            shade=-np.sqrt(shown[:, chosen].T / float(shown.max() or 1.0)),
            texts=[[text(k, d) for k in range(self.k)] for d in chosen],
            tips=[[tip(k, d) for k in range(self.k)] for d in chosen],
        )

    def own_sections(self, page: ReportContext) -> list[Section]:
        return topic_relations_section(self, self.words(N_WORDS), page.case)

    def heat_map(self, n_words: int) -> HeatMap:
        top = np.argsort(-self.centres, axis=1, kind="stable")[:, :n_words].T  # (n_words, k)
        values = np.take_along_axis(self.centres.T, top, axis=0)
        pairs = zip(top, values, strict=True)
        return HeatMap(
            lines=tuple(str(rank) for rank in range(1, len(top) + 1)),
            values=values,
            texts=[
                [f"{shortened(self.names[d], 18)}\n{x:.2g}" for d, x in zip(*line, strict=True)]
                for line in pairs
            ],
            column=self.noun,
            line=f"rank of the word in the {self.noun}",
            colour=f"share of the word in the {self.noun}",
            about_zero=False,
            wide=(1.5, 1.6),
            high=2 * len(top),
            needed=True,
        )

    def row_certainty(self, rows: Rows) -> RowCertainty:
        parameters = self.fitted.parameters
        part, model = rows.select(self.fitted.kept), self.fitted.model
        few = sample_counts(part, MOST_STORED)
        both = gathered(few, lambda block: np.hstack(loadings(block, parameters)))
        mean, spread = np.hsplit(both, 2)
        largest = mean.argmax(axis=1)[:, None]
        error: Array = np.take_along_axis(spread / mean, largest, axis=1)[:, 0]
        middle = float(np.median(error))
        if few is not part:  # what is expected alone takes less long
            mean = gathered(part, lambda block: model.expected_latent(block, parameters))
        return RowCertainty(
            memberships=(mean / mean.sum(axis=1, keepdims=True))[:, self.order],
            responsibilities=mean[:, self.order],
            values=error,
            sentence=f"In a typical row the amount of its main {self.noun} is known to within "
            f"{middle:.0%}.",
            title=f"How sure we are of each row's main {self.noun}",
            caption=f"Rows by the relative error of their largest {self.noun} ({len(error):,} "
            "rows).",
            axis="relative standard error",
            span=(0.0, float(np.quantile(error, 0.99)) or 1.0),
            on_paper=(
                "standard deviation of the row's largest loading, relative to the loading",
                middle,
                f"median {middle:.2f}",
            ),
        )

    def predicted(self, hidden: Array) -> dict[str, Any]:
        return {f"{self.noun}_{i + 1}": hidden[:, c] for i, c in enumerate(self.order)}

    def tallied(self, hidden: Array) -> Array:
        return np.array([float(len(hidden))])

    def summed_up(self, tally: Array) -> str:
        return (
            f"Of {tally[0]:,.0f} rows, the expected count of each of {self.k} {self.nouns} in all "
            "columns."
        )
