"""Chains of states against all paths one by one."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.resampling import Bins
from halfseen.data.sampling import sequence_of
from halfseen.data.sequences import Sequences
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.mixed import Mixed
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.distributions.normal import Normal
from halfseen.latent import forward_backward
from halfseen.latent.chain import (
    CHAIN,
    PRIOR_MOVES,
    PRIOR_STARTS,
    ChainParameters,
    ChainSteps,
    ChainSums,
)
from halfseen.latent.forward_backward import smoothed
from halfseen.latent.score_bootstrap import FreeChain, replicated_chain

K, LENGTHS = 3, [5, 1, 4, 2]
ENDS = np.cumsum([0, *LENGTHS])
EMISSION = Mixed(Normal(SHAPES["diag"]))


def continuous(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4)) * 2
    X[rng.random(X.shape) < 0.4] = np.nan
    X[2] = np.nan  # a whole row
    states = MixedParameters(
        rng.dirichlet(np.ones(K)), rng.normal(size=(K, 4)), 0.5 + rng.random((K, 4))
    )
    return X, states


def categorical(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(12, 2)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[10] = np.nan
    nothing = np.full((K, 2), np.nan)
    states = MixedParameters(
        rng.dirichlet(np.ones(K)),
        nothing,
        nothing,
        nothing,
        nothing,
        0.0,
        nothing[0],
        nothing[0],
        nothing[0],
        nothing[0],
        nothing,
        nothing,
        nothing[0],
        rng.dirichlet(np.ones(3), size=(K, 2)).transpose(2, 0, 1),
        np.tile(np.arange(3.0)[:, None], (1, 2)),
        nothing,
        np.full(2, 2.0),
    )
    return X, states


WORLDS = {"continuous": continuous, "categorical": categorical}
every_world = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)


def chain_of(states, seed=0):
    rng = np.random.default_rng(seed)
    start, transition = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), size=K)
    return ChainParameters.of(states, start, transition)


def block_of(X):
    names = tuple(map(str, range(X.shape[1])))
    return next(MemoryRows(X, names, sequences=Sequences.of_lengths(LENGTHS)).blocks())


def all_paths(block, parameters, first, last):
    """Every path behind a sequence with its log-probability, that of what is observed included."""
    density = EMISSION.log_densities(block, parameters)
    for path in product(range(K), repeat=last - first):
        height = np.log(parameters.start[path[0]])
        height += sum(np.log(parameters.transition[i, j]) for i, j in pairwise(path))
        yield path, height + sum(density[first + t, k] for t, k in enumerate(path))


@every_world
def test_smoothing_and_moves_are_sums_over_all_paths(world):
    X, states = world()
    parameters, block = chain_of(states), block_of(X)
    height, shares, first, moves = smoothed(block, EMISSION, parameters)
    own_first, own_moves = np.zeros(K), np.zeros((K, K))
    for start, end in pairwise(ENDS):
        paths = list(all_paths(block, parameters, start, end))
        total = np.logaddexp.reduce([p for _, p in paths])
        assert height[start:end].sum() == pytest.approx(total, abs=1e-10)
        own = np.zeros((end - start, K))
        for path, p in paths:
            chance = np.exp(p - total)
            own[np.arange(end - start), path] += chance
            own_first[path[0]] += chance
            for i, j in pairwise(path):
                own_moves[i, j] += chance
        np.testing.assert_allclose(shares[start:end], own, atol=1e-10)
    np.testing.assert_allclose(first, own_first, atol=1e-10)
    np.testing.assert_allclose(moves, own_moves, atol=1e-10)


@every_world
def test_viterbis_path_is_the_likeliest_of_all(world):
    for seed in range(5):
        X, states = world(seed)
        parameters, block = chain_of(states, seed), block_of(X)
        found = CHAIN.likeliest(block, EMISSION, parameters)
        for start, end in pairwise(ENDS):
            paths = list(all_paths(block, parameters, start, end))
            best = max(paths, key=lambda one: one[1])[0]
            assert tuple(found[start:end]) == best


@every_world
def test_filtering_knows_nothing_of_later_rows(world):
    X, states = world()
    parameters, block = chain_of(states), block_of(X)
    found = forward_backward.filtered_states(block, EMISSION, parameters)
    for start, end in pairwise(ENDS):
        for last in range(start, end):
            paths = list(all_paths(block, parameters, start, last + 1))
            total = np.logaddexp.reduce([p for _, p in paths])
            own = np.zeros(K)
            for path, p in paths:
                own[path[-1]] += np.exp(p - total)
            np.testing.assert_allclose(found[last], own, atol=1e-10)


def test_rows_without_sequences_have_no_neighbours():
    X, states = continuous()
    parameters = chain_of(states)
    block = next(MemoryRows(X, tuple("abcd")).blocks())
    joint = np.log(parameters.start) + EMISSION.log_densities(block, parameters)
    found = CHAIN.posterior(block, EMISSION, parameters)
    np.testing.assert_allclose(found.log_likelihood, np.logaddexp.reduce(joint, axis=1), atol=1e-12)


def test_paths_drawn_backwards_have_the_smoothed_law():
    X, states = continuous()
    parameters, block = chain_of(states), block_of(X)
    shares = CHAIN.posterior(block, EMISSION, parameters).responsibilities
    drawn = np.array(
        list(CHAIN.drawn(lambda f: f(block), EMISSION, parameters, 4000, np.random.RandomState(0)))
    )
    seen = np.array([(drawn == k).mean(axis=0) for k in range(K)]).T
    assert np.abs(seen - shares).max() < 5 * 0.5 / np.sqrt(4000)
    _, _, _, moves = smoothed(block, EMISSION, parameters)
    goes_on = np.setdiff1d(np.arange(12), ENDS[1:] - 1)
    own = np.zeros((K, K))
    np.add.at(own, (drawn[:, goes_on], drawn[:, goes_on + 1]), 1 / 4000)
    assert np.abs(own - moves).max() < 0.1


def test_paths_drawn_from_the_law_alone_have_its_moves():
    parameters = chain_of(continuous()[1])
    states = CHAIN.path(parameters, np.array([20_000]), np.random.RandomState(0))
    own = np.zeros((K, K))
    np.add.at(own, (states[:-1], states[1:]), 1.0)
    own /= own.sum(axis=1, keepdims=True)
    assert np.abs(own - parameters.transition).max() < 0.03


def longer(n_sequences=60, length=12, seed=1):
    rng = np.random.default_rng(seed)
    _, states = continuous(seed)
    parameters = chain_of(states, seed)
    lengths = np.full(n_sequences, length)
    hidden = CHAIN.path(parameters, lengths, np.random.RandomState(seed))
    X = states.means[hidden] * 2 + rng.normal(size=(len(hidden), 4))
    X[rng.random(X.shape) < 0.3] = np.nan
    return MemoryRows(X, tuple("abcd"), sequences=Sequences.of_lengths(lengths)), parameters


def test_slopes_are_those_of_the_likelihood():
    rows, parameters = longer(8, 5)
    free = FreeChain.of(parameters, EMISSION)

    def height(step):
        moved = free.moved(step)
        return rows.accumulate(lambda b: CHAIN.posterior(b, EMISSION, moved).log_likelihood.sum())

    slope = rows.accumulate(lambda b: free.slopes(b, CHAIN, EMISSION)[0].sum(axis=0))
    total = rows.accumulate(lambda b: free.total(b, EMISSION))
    np.testing.assert_allclose(total[: free.size], slope, atol=1e-10)
    assert total[free.size :].sum() == pytest.approx(8 * 5)
    for i in range(free.size):
        way = np.zeros(free.size)
        way[i] = 1e-5
        assert (height(way) - height(-way)) / 2e-5 == pytest.approx(slope[i], abs=1e-4)


def test_em_never_falls_and_ends_where_slopes_vanish():
    rows, here = longer()
    steps, heights = ChainSteps(EMISSION, 1.0), []
    for _ in range(300):
        sums = rows.accumulate(steps.expect(here))
        seen = PRIOR_STARTS * np.log(here.start).sum()
        seen += PRIOR_MOVES * np.log(here.transition).sum()
        heights.append(sums.log_likelihood + seen / K)
        here = steps.maximise(sums, here)
    assert np.min(np.diff(heights)) > -1e-9
    free = FreeChain.of(here, EMISSION)
    slope = rows.accumulate(lambda b: free.slopes(b, CHAIN, EMISSION)[0].sum(axis=0))
    assert np.abs(slope).max() < 1.0  # what is left is the slope of the prior


def test_replicates_follow_the_weights_of_sequences():
    """To first order a replicate is the maximum with some sequences counting more."""
    rows, here = longer(200, 10)
    steps = ChainSteps(EMISSION, 1.0)
    for _ in range(400):
        here = steps.maximise(rows.accumulate(steps.expect(here)), here)
    bins = Bins.of_sequences(sequence_of(rows))
    more = np.zeros((2, bins.n))
    more[1, :20] = 0.3
    still, found = replicated_chain(rows, here, EMISSION, CHAIN, bins, more)
    again, weighed = here, np.where(bins.labels < 20, 1.3, 1.0)
    heavier = replace(rows, weights=weighed)
    for _ in range(400):
        again = steps.maximise(heavier.accumulate(steps.expect(again)), again)
    for name in ("transition", "centres", "start", "weights"):
        moved = getattr(again, name) - getattr(here, name)
        told = getattr(found, name) - getattr(still, name)
        assert np.abs(told - moved).max() < 0.15 * np.abs(moved).max()


def test_how_slopes_bend_is_seen_on_some_of_the_sequences(monkeypatch):
    rows, here = longer(400, 10)
    steps = ChainSteps(EMISSION, 1.0)
    for _ in range(400):
        here = steps.maximise(rows.accumulate(steps.expect(here)), here)
    bins = Bins.of_sequences(sequence_of(rows))
    more = np.random.default_rng(0).exponential(size=(100, bins.n)) - 1
    every = replicated_chain(rows, here, EMISSION, CHAIN, bins, more)
    monkeypatch.setattr("halfseen.latent.score_bootstrap.MAX_FIRST_ROWS", 3000)
    some = replicated_chain(rows, here, EMISSION, CHAIN, bins, more)
    for name in ("transition", "centres", "start", "weights"):
        one, other = (np.std([getattr(p, name) for p in part], axis=0) for part in (every, some))
        assert not np.array_equal(one, other)
        np.testing.assert_allclose(other, one, rtol=0.25)


def test_shares_that_are_known_lead_to_the_parameters_that_have_them():
    rows, like = longer(30, 8)
    shares = np.random.default_rng(0).dirichlet(np.ones(K), size=240)
    sums = rows.accumulate(ChainSums.given(EMISSION, shares, like))
    assert sums.first.sum() == pytest.approx(30)
    assert sums.moves.sum() == pytest.approx(30 * 7)
    pairs = sum(np.outer(shares[t], shares[t + 1]) for t in range(240) if t % 8 != 7)
    np.testing.assert_allclose(sums.moves, pairs, atol=1e-10)
