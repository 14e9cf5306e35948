"""A chain of states read off the moments of rows, and of rows that follow each other."""

from typing import Any

import numpy as np

from halfseen.method.em import normalised
from halfseen.method.model import Start
from halfseen.method.plan import Plan, Routes
from halfseen.moments.gaps.joint_gaps import JointGaps
from halfseen.moments.items.sequence_start import sequence_start
from halfseen.rows.rows import Rows
from halfseen.rows.sampled import fewer_rows
from halfseen.rows.stages import Stages
from halfseen.structures.chain.parameters import ChainParameters
from halfseen.structures.one_class.mixed.facts import Facts
from halfseen.structures.one_class.mixed.start import (
    MOST_ROWS,
    Statistics,
    items_of,
    read,
    recorded_of,
    weighting,
)

EARLY = 0.95
"""What is taken of transitions that moments tell: those that look impossible may not be."""


def by_sequences(model: Any, calm: Rows, plan: Plan, routes: Routes, stages: Stages) -> Start:
    """Read states off the moments of distinct columns and of neighbouring rows."""
    facts: Facts = model.emission.looked_through
    with stages("moments of sequences"):
        if plan.polish:
            calm = fewer_rows(calm, MOST_ROWS)
        seen = recorded_of(model, calm, plan, facts)
        statistics = Statistics.of(facts, seen)
        found = sequence_start(
            calm,
            items_of(facts, seen),
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
    parameters = model.emission.begun(chain)
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
