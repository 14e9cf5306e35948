"""Markov chains of states: parameters, EM, and start from moments."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from halfseen.data.arrays import Array, Labels
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows, with_gaps
from halfseen.distributions.emission import Posterior
from halfseen.distributions.mixed_parameters import NOT_GIVEN, MixedParameters
from halfseen.inference.em import normalised
from halfseen.inference.model import Cells, Each, Start
from halfseen.inference.multi_start import EVERY, FEW_ROWS, LARGE, MANY_ROWS, StartPlan
from halfseen.inference.parameters import ANY, GIVEN, SHARE, SHOWN, learned
from halfseen.inference.plan import FitPlan, Routes
from halfseen.latent import forward_backward
from halfseen.latent.autocorrelation import (
    cells_given_sequence,
    draw_residuals,
    fit_autocorrelation,
)
from halfseen.latent.forward_backward import Begins, filtered, smoothed, smoothed_by
from halfseen.latent.moment_start import from_distinct_columns, read, start_of
from halfseen.latent.score_bootstrap import replicated_chain
from halfseen.latent.structure import ClassSteps, ClassSums, LatentStructure
from halfseen.moments.product_mixture.markov_start import sequence_start


@dataclass(frozen=True, eq=False)
class ChainParameters(MixedParameters):
    """States h_1, h_2, … along a sequence, and rows that arise from each as in a mixture.

    ``P(h_1 = k) = π_k`` and ``P(h_t+1 = j | h_t = k) = A_kj``. The weights are how often rows are
    of each state. What states leave of a continuous column lasts along a sequence by ``lasting``
    and ``fading`` (see :mod:`~halfseen.latent.autocorrelation`).
    """

    weights: Array = learned("weights_", "k", SHARE, role=SHOWN)
    start: Array = learned("start_", "k", SHARE, default=NOT_GIVEN)  # π
    transition: Array = learned("transition_", "kj", SHARE, default=NOT_GIVEN)  # A
    lasting: Array = learned("lasting_", "d", ANY, np.nan, GIVEN, default=NOT_GIVEN)  # c
    fading: Array = learned("fading_", "d", ANY, np.nan, GIVEN, default=NOT_GIVEN)  # ρ

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start is NOT_GIVEN:
            object.__setattr__(self, "start", self.weights)
        if self.transition is NOT_GIVEN:
            object.__setattr__(self, "transition", np.tile(self.weights, (len(self.weights), 1)))
        if self.lasting is NOT_GIVEN:
            nothing = np.full(self.means.shape[1], np.nan)
            object.__setattr__(self, "lasting", nothing)
            object.__setattr__(self, "fading", nothing)

    @classmethod
    def of(cls, mixture: MixedParameters, start: Array, transition: Array) -> "ChainParameters":
        own: dict[str, Any] = {one.name: getattr(mixture, one.name) for one in fields(mixture)}
        return cls(**own | {"start": start, "transition": transition})


# The law of a chain: the state of a row depends on that of the row before it.

PRIOR_STARTS = 1.0
"""Of the Dirichlet prior on start probabilities, in sequences, spread evenly over states."""
PRIOR_MOVES = 0.1
"""Of the Dirichlet prior on transitions, in steps from each state, spread evenly over states."""
STAYING = 0.5
"""How likely a state lasts where nothing is known of that."""
USUAL = StartPlan(
    n_seeds=2,
    n_further=2,
    thorough=False,
    most_rows=2000,
    rounds=((EVERY, 4), (2, 8)),
    agreeing=2,
    last=((2, 15),),
    n_joined=0,
    simpler_first=True,  # which makes all other passes cheaper
)
"""Passes along sequences cost more than those over rows, and have fewer maxima."""


@dataclass(frozen=True, eq=False)
class ChainSums(ClassSums):
    """The sums of an E-step along sequences: those of a mixture, first states and transitions."""

    first: Array  # (k,)      Σ γ_1, over sequences
    moves: Array  # (k, k)    Σ_t ξ_t

    @classmethod
    def under(cls, emission: Any, parameters: Any) -> Callable[[Block], "ChainSums"]:
        def summarise(block: Block) -> ChainSums:
            density = emission.step_densities(block, parameters)
            height, shares, first, moves = smoothed_by(density, block, parameters)
            statistics = emission.sums_given(block, shares, density, parameters)
            weighed = block.weighed(shares).sum(axis=0)
            likelihood = float(block.weighed(height).sum())
            return cls(weighed.sum(), likelihood, weighed, statistics, first, moves)

        return summarise

    @classmethod
    def given(cls, emission: Any, shares: Array, like: Any) -> Callable[[Block], "ChainSums"]:
        def summarise(block: Block) -> ChainSums:
            own = shares[block.start : block.start + len(block)]
            weighed = block.weighed(own)
            begins = forward_backward.begins_of(block.sequence, len(block))
            goes_on = np.ones(len(block), dtype=bool)
            goes_on[begins[1:] - 1] = False
            at = np.flatnonzero(goes_on)
            moves = weighed[at].T @ own[at + 1]
            first = weighed[begins[:-1]].sum(axis=0)
            statistics = emission.given(block, weighed, like)
            return cls(weighed.sum(), 0.0, weighed.sum(axis=0), statistics, first, moves)

        return summarise


@dataclass(frozen=True, eq=False)
class ChainSteps(ClassSteps[Any]):
    """The steps of Baum and Welch."""

    sums: ClassVar[type[ClassSums]] = ChainSums
    strength: float  # of the prior

    def maximise(self, sums: ChainSums, before: Any) -> Any:
        k = len(sums.share)
        first = sums.first + self.strength * PRIOR_STARTS / k
        moves = sums.moves + self.strength * PRIOR_MOVES / k
        total = moves.sum(axis=1, keepdims=True)  # none from a state that only ends sequences
        moves = np.divide(moves, total, out=before.transition.copy(), where=total > 0)
        start, transition = normalised(first / first.sum()), normalised(moves)
        return replace(super().maximise(sums, before), start=start, transition=transition)

    def prior(self, parameters: Any) -> float:
        k = len(parameters.start)
        height = PRIOR_STARTS * np.log(parameters.start).sum()
        height += PRIOR_MOVES * np.log(parameters.transition).sum()
        return float(super().prior(parameters) + self.strength * height / k)


@dataclass(frozen=True, eq=False)
class Chain(LatentStructure):
    """States follow each other along sequences; rows without neighbours are as first ones."""

    strength: float = 1.0  # of the prior, relative to the usual one
    least_rows: ClassVar[float] = 0.5  # a state of one row is never sure of it for its neighbours

    def posterior(self, block: Block, emission: Any, parameters: Any) -> Posterior:
        height, shares, _, _ = smoothed(block, emission, parameters)
        return Posterior(height, shares)

    def steps(self, emission: Any) -> ChainSteps:
        return ChainSteps(emission, self.strength)

    def plan(self, n_rows: float) -> StartPlan:
        if n_rows <= FEW_ROWS.most_rows:
            return USUAL._replace(n_seeds=3, n_further=3)
        if n_rows <= MANY_ROWS:
            return USUAL
        return LARGE._replace(n_seeds=1, n_joined=0, simpler_first=True)

    def uninformed(self, parameters: Any) -> Any:
        k = len(parameters.weights)
        # States last a while, and are otherwise alike.
        transition = STAYING * np.eye(k) + (1 - STAYING) / k
        return replace(parameters, start=np.full(k, 1 / k), transition=transition)

    def renormalised(self, parameters: Any) -> Any:
        moves = parameters.transition / parameters.transition.sum(axis=1, keepdims=True)
        start = normalised(parameters.start / parameters.start.sum())
        return replace(parameters, start=start, transition=normalised(moves))

    def finalised(self, rows: Rows, emission: Any, parameters: Any) -> Any:
        def shares(block: Block) -> Array:
            return self.posterior(block, emission, parameters).responsibilities

        found = emission.finalised_by(rows, parameters, shares)
        lasting, fading = fit_autocorrelation(rows, emission, found, shares)
        return replace(found, lasting=lasting, fading=fading)

    def given_other_rows(
        self, block: Block, emission: Any, parameters: Any, shares: Array, cells: Cells
    ) -> Cells:
        return cells_given_sequence(block, emission, parameters, shares, cells)

    def draws_given_other_rows(
        self, each: Each, emission: Any, parameters: Any, random: Any
    ) -> Callable[[Array, Labels], Array]:
        if not (np.nan_to_num(parameters.lasting) > 0).any():
            return super().draws_given_other_rows(each, emission, parameters, random)
        known, begins = _by_sequence(each, with_gaps)

        def lean(rows: Array, labels: Labels) -> Array:
            own = draw_residuals(known, begins, emission, parameters, labels, random)
            return np.where(np.isnan(own), rows, own)

        return lean

    def drawn(
        self, each: Each, emission: Any, parameters: Any, number: int, random: Any
    ) -> Iterator[Labels]:
        # Paths given all rows: filtered forwards, and drawn backwards.
        ahead, begins = _by_sequence(each, lambda block: filtered(block, emission, parameters)[1])
        transition = np.ascontiguousarray(parameters.transition)
        for _ in range(number):
            states = np.zeros(len(ahead), dtype=np.int64)
            chance = random.random_sample(len(ahead))
            forward_backward.backward_draw(ahead, transition, begins, chance, states)
            yield states

    def draw(self, parameters: Any, n_rows: int, random: Any) -> Labels:
        return self.path(parameters, np.array([n_rows]), random)

    def path(self, parameters: Any, lengths: Any, random: Any) -> Labels:
        """Draw the states of sequences of these lengths."""
        begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        states = np.zeros(begins[-1], dtype=np.int64)
        start, transition = parameters.start, np.ascontiguousarray(parameters.transition)
        chance = random.random_sample(len(states))
        forward_backward.forward_draw(
            np.ascontiguousarray(start), transition, begins, chance, states
        )
        return states

    def likeliest(self, block: Block, emission: Any, parameters: Any) -> Labels:
        """Viterbi's most likely path of states behind each sequence; (n,)."""
        density = np.array(emission.log_densities(block, parameters), dtype=float, order="C")
        states = np.zeros(len(block), dtype=np.int64)
        begins = forward_backward.begins_of(block.sequence, len(block))
        start, transition = np.log(parameters.start), np.log(parameters.transition)
        forward_backward.likeliest(density, start, np.ascontiguousarray(transition), begins, states)
        return states

    def replicated(
        self, rows: Rows, parameters: Any, emission: Any, bins: Bins, more: Array
    ) -> list[Any]:
        return replicated_chain(rows, parameters, emission, self, bins, more)


def _by_sequence(each: Each, of_block: Callable[[Block], Array]) -> tuple[Array, Begins]:
    """What a function gives of all rows (n, m), and where their sequences begin."""

    def both(block: Block) -> Array:
        first = np.zeros(len(block))
        first[forward_backward.begins_of(block.sequence, len(block))[:-1]] = 1.0
        return np.column_stack([of_block(block), first])

    table = each(both)
    begins = np.append(np.flatnonzero(table[:, -1]), len(table)).astype(np.int64)
    return np.ascontiguousarray(table[:, :-1]), begins


CHAIN = Chain()


EARLY = 0.95
"""What is taken of transitions that moments tell: those that look impossible may not be."""


def by_sequences(
    model: Any, winsorised: Rows, plan: FitPlan, routes: Routes, stages: Stages
) -> Start:
    """Read states off the moments of distinct columns and of neighbouring rows."""
    with stages("moments of sequences"):
        found, statistics = from_distinct_columns(model, winsorised, plan, sequence_start)
    mixture = read(found.states, statistics, model.emission.informative)
    moves = normalised(EARLY * found.transition + (1 - EARLY) / len(found.start))
    chain = ChainParameters.of(mixture, normalised(found.start), moves)
    return start_of(model, chain, found.states, found.route, found.reason)
