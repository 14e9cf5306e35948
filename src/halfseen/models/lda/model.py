"""Latent Dirichlet allocation: shares of topics behind each row, and how many items it has."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.method.model import Abilities, About, Polished, Start
from halfseen.method.plan import Plan, Routes
from halfseen.models.lda.cumulants import CountCumulants
from halfseen.models.lda.parameters import LdaParameters, ReadTopics
from halfseen.models.lda.polish import polish
from halfseen.models.lda.start import by_shares
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block, Rows
from halfseen.rows.stages import Stages
from halfseen.structures.loadings.concerns import alike, bursty, odd_counts
from halfseen.structures.loadings.law import Rest, unrecorded
from halfseen.structures.loadings.model import Loadings
from halfseen.structures.loadings.text_like import TEXT, items_a_cell

MOST_SCORED = 600
"""Rows by which numbers of topics are compared: likelihoods take a millisecond each."""
ABOUT = About(
    name="lda",
    noun="topic",
    gives="topics, of items in documents of any length",
    assumes="What a row counts is chosen item by item, by its shares of the topics.",
    weighting="signal",
    labels=False,
    counts=True,
)
NO_INTERVALS = (
    "There are no intervals for latent Dirichlet allocation: its topics are not moments that rows "
    "can be weighed in again. Use GammaPoisson with refine=None for intervals of topics."
)
NOT_STREAMED = (
    "Lengths of rows are found by going over them again, and those of a stream are gone. Use fit()."
)


@dataclass(frozen=True, eq=False)
class Shares:
    """Loadings are shares ``θ ~ Dirichlet(α)`` times a row's mean length."""

    n_sweeps: int
    smoothing: float
    concentration: float | None  # None if it is to be found
    totals: Array | None = None  # (n,)  of all rows, by number, if they are known

    @property
    def numbered(self) -> bool:
        """Totals are known by rows' numbers."""
        return self.totals is not None

    def start(self, model: Any, calm: Rows, plan: Plan, routes: Routes, stages: Stages) -> Start:
        """By the moments of shares."""
        return by_shares(model, calm, plan, routes, stages, self.totals, self.concentration)

    def finished(self, read: ReadTopics) -> LdaParameters:
        """With the law of lengths that was found."""
        return read.parameters()

    def polish(self, rows: Rows, start: LdaParameters, kept: Survey, seed: int) -> Polished:
        """By expectations and then by draws."""
        return polish(
            rows,
            start,
            seed=seed,
            n_sweeps=self.n_sweeps,
            smoothing=self.smoothing,
            concentration=self.concentration,
            totals=self.totals,
            text=items_a_cell(kept) < TEXT,
        )

    def rest(self, block: Block, parameters: LdaParameters) -> Rest | None:
        """What is left of known totals."""
        if self.totals is None:
            return None
        totals = self.totals[block.start : block.start + len(block)]
        return unrecorded(block, parameters.topics, totals)

    def shown(self, loadings: Array) -> Array:
        """Shares; (..., k)."""
        shares: Array = loadings / np.maximum(loadings.sum(axis=-1, keepdims=True), 1e-300)
        return shares

    def drawn(self, parameters: LdaParameters, n_rows: int, random: Any) -> Array:
        """Shares times lengths; (n, k)."""
        size = (n_rows, len(parameters.shapes))
        gammas = np.maximum(random.gamma(parameters.shapes, size=size), 1e-300)
        lengths = random.gamma(parameters.length_shape, 1 / parameters.rate, size=(n_rows, 1))
        drawn: Array = lengths * self.shown(gammas)
        return drawn


def lda(kind: Shares, *, outliers: bool) -> Loadings[LdaParameters]:
    """The model."""
    return Loadings(
        kind=kind,
        about=ABOUT,
        abilities=Abilities(
            thin_products=True,
            rank_tests=True,
            not_streamed=NOT_STREAMED,
            no_intervals=NO_INTERVALS,
            no_weights="",
            polish_candidates=False,
            scored_rows=MOST_SCORED,
        ),
        cumulants=CountCumulants(),
        checks=(odd_counts, bursty, alike),
        outliers=outliers,
    )
