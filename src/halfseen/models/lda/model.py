"""Latent Dirichlet allocation: shares of topics behind each row, and how many items it has."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import gammaln

from halfseen.data.arrays import Array
from halfseen.data.messages import setting
from halfseen.data.rows import Block, Rows
from halfseen.inference.model import Abilities, About, EMResult
from halfseen.latent.topics.concerns import alike, bursty, odd_counts
from halfseen.latent.topics.importance_sampling import importance_sample
from halfseen.latent.topics.loading_prior import Rest, unrecorded
from halfseen.latent.topics.model import LoadingDistribution, Loadings
from halfseen.latent.topics.refinement import MAX_ITEMS_OF_TEXT, mean_items_per_cell
from halfseen.models.lda.cumulants import CountCumulants, by_shares
from halfseen.models.lda.parameters import LdaParameters, ReadTopics
from halfseen.models.lda.stochastic_em import refine
from halfseen.moments.survey import Survey

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
    "can be weighed in again. Use GammaPoisson with "
    + setting(refine=None)
    + " for intervals of topics."
)
NOT_STREAMED = (
    "Lengths of rows are found by going over them again, and those of a stream are gone. Use fit()."
)


@dataclass(frozen=True, eq=False)
class Shares(LoadingDistribution[LdaParameters]):
    """Loadings are shares ``θ ~ Dirichlet(α)`` times a row's mean length."""

    n_sweeps: int
    smoothing: float
    concentration: float | None  # None if it is to be found
    totals: Array | None = None  # (n,)  of all rows, by number, if they are known

    @property
    def uses_row_numbers(self) -> bool:
        """Totals are known by rows' numbers."""
        return self.totals is not None

    def from_moments(self, read: ReadTopics) -> LdaParameters:
        """With the law of lengths that was found."""
        return read.parameters()

    def refine(
        self, rows: Rows, start: LdaParameters, kept: Survey, seed: int
    ) -> EMResult[LdaParameters]:
        """By expectations and then by draws."""
        return refine(
            rows,
            start,
            seed=seed,
            n_sweeps=self.n_sweeps,
            smoothing=self.smoothing,
            concentration=self.concentration,
            totals=self.totals,
            text=mean_items_per_cell(kept) < MAX_ITEMS_OF_TEXT,
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
            refine_candidates=False,
            scored_rows=MOST_SCORED,
        ),
        cumulants=CountCumulants(),
        moment_start=partial(by_shares, totals=kind.totals, concentration=kind.concentration),
        checks=(odd_counts, bursty, alike),
        outliers=outliers,
    )


SEED = 0
SLIGHT, RARE = 1e-6, 1e-9
"""Shape and rate of a law of lengths that says nothing of them."""


def given_length(
    block: Block, parameters: LdaParameters, rest: Rest | None = None
) -> tuple[Array, Array]:
    """Log-probabilities of the items of rows, and how many they are; (n,) each.

    With a law of lengths that says nothing, ``p(x)`` is ``p(x | r)`` times the chance that r items
    are recorded, whatever the gaps. Where the ``rest`` is known, its items are among the r, each
    as one that was not recorded.
    """
    indifferent = replace(parameters, length_shape=SLIGHT, rate=RARE)
    counts = block.nonzeros()
    others = np.zeros(len(block)) if rest is None else rest.counts
    items = counts.totals() + others
    of_counts = importance_sample(block, indifferent, SEED, rest=rest).log_likelihood
    orders = gammaln(items + 1) - counts.row_sums(gammaln(counts.counts + 1)) - gammaln(others + 1)
    of_length = gammaln(SLIGHT + items) - gammaln(SLIGHT) - gammaln(items + 1)
    of_length += SLIGHT * np.log(RARE)
    return np.where(items > 0, of_counts - orders - of_length, 0.0), items
