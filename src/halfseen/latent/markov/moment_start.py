"""A chain of states read off the moments of rows, and of rows that follow each other."""

from typing import Any

import numpy as np

from halfseen.data.progress import Stages
from halfseen.data.rows import Rows
from halfseen.data.sampling import sample_weighted
from halfseen.distributions.column_summary import Facts
from halfseen.inference.em import normalised
from halfseen.inference.model import Start
from halfseen.inference.plan import Plan, Routes
from halfseen.latent.markov.chain import ChainParameters
from halfseen.latent.mixture.moment_start import (
    MOST_ROWS,
    Statistics,
    read,
    recorded_of,
    weighting,
)
from halfseen.moments.missing_patterns import JointGaps
from halfseen.moments.product_mixture.markov_start import sequence_start

EARLY = 0.95
"""What is taken of transitions that moments tell: those that look impossible may not be."""


def by_sequences(model: Any, winsorised: Rows, plan: Plan, routes: Routes, stages: Stages) -> Start:
    """Read states off the moments of distinct columns and of neighbouring rows."""
    facts: Facts = model.emission.looked_through
    with stages("moments of sequences"):
        if plan.refine:
            winsorised = sample_weighted(winsorised, MOST_ROWS)
        seen = recorded_of(model, winsorised, plan, facts)
        statistics = Statistics(facts, seen)
        found = sequence_start(
            winsorised,
            statistics.items,
            statistics,
            statistics.owner,
            plan.n_components,
            weighting(plan),
            plan.decompose,
        )
    states = found.states
    mixture = read(states, statistics, model.emission.informative)
    k = len(states.weights)
    transition = normalised(EARLY * found.transition + (1 - EARLY) / k)
    chain = ChainParameters.of(mixture, normalised(found.start), transition)
    parameters = model.emission.em_start(chain)
    return Start(
        found=model.emission.shown(parameters),
        used=np.ones(len(facts.kinds), dtype=bool),
        weights=states.item_weights,
        gaps=JointGaps(states.counts, states.n_rows),
        spectrum=states.spectrum,
        n_kept=k - 1,
        decomposition=states.decomposition,  # type: ignore[arg-type]
        route=found.route,
        reason=found.reason,
        n_unseen=states.n_unseen,
    )
