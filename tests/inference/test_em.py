"""One EM for every model, against plain EM of a model that is written out here."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.data.engines import memory
from halfseen.data.engines.memory import MemoryRows
from halfseen.inference import em
from halfseen.inference.em import LEAST_SHARE, normalised, run_em
from halfseen.inference.parameters import ANY, POSITIVE, SHARE, learned

SEED = st.integers(0, 2**16)


@dataclass(frozen=True, eq=False)
class Balls:
    """``Σ_k π_k N(a_k, σ²_k I)``: one field on each scale."""

    shares: np.ndarray = learned("shares_", "k", SHARE)
    centres: np.ndarray = learned("centres_", "kd", ANY)
    variances: np.ndarray = learned("variances_", "k", POSITIVE)


@dataclass(frozen=True, eq=False)
class Expected:
    n_rows: float
    log_likelihood: float
    share: np.ndarray  # (k,)
    count: np.ndarray  # (k, d)
    first: np.ndarray  # (k, d)
    second: np.ndarray  # (k, d)

    def __add__(self, other):
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Expected(*(a + b for a, b in pairs))


@dataclass
class Plain:
    """The two steps, and how often each was asked for."""

    passes: list = field(default_factory=list)

    def expect(self, parameters):
        self.passes.append(parameters)
        return lambda block: expected(block, parameters)

    def maximise(self, sums, before):
        centres = sums.first / np.maximum(sums.count, 1e-300)
        residual = sums.second - 2 * centres * sums.first + centres**2 * sums.count
        variances = residual.sum(axis=1) / np.maximum(sums.count.sum(axis=1), 1e-300)
        return Balls(normalised(sums.share / sums.n_rows), centres, variances)

    def units(self, parameters):
        return {"centres": np.sqrt(parameters.variances)[:, None]}

    def within(self, parameters):
        return replace(parameters, variances=np.clip(parameters.variances, 1e-6, 1e6))

    def prior(self, parameters):
        return 0.0


def expected(block, parameters):
    deviations = block.values[:, None] - parameters.centres  # (n, k, d)
    variances = parameters.variances[:, None]
    densities = -0.5 * (deviations**2 / variances + np.log(2 * np.pi * variances))
    joint = np.log(parameters.shares) + np.sum(densities * block.observed[:, None], axis=2)
    log_likelihood = np.logaddexp.reduce(joint, axis=1)
    shares = block.weighed(np.exp(joint - log_likelihood[:, None]))
    return Expected(
        float(block.weighed(np.ones(len(block))).sum()),
        float(block.weighed(log_likelihood).sum()),
        shares.sum(axis=0),
        shares.T @ block.observed,
        shares.T @ block.values,
        shares.T @ block.values**2,
    )


def table(n=250, apart=2.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + apart * rng.integers(2, size=(n, 1))
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def rows(X, weights=None):
    return MemoryRows(X, ("a", "b", "c"), weights).recentred(np.zeros(3))


def anywhere(seed, k=2):
    rng = np.random.default_rng(seed)
    return Balls(rng.dirichlet(np.ones(k)), rng.normal(1, 2, (k, 3)), rng.uniform(0.2, 4, k))


START = Balls(np.array([0.5, 0.5]), np.array([[0.0] * 3, [1.5] * 3]), np.ones(2))


def step(X, parameters, weights=None):
    """The mean log-likelihood of parameters, and one step of plain EM from them."""
    sums = rows(X, weights).accumulate(Plain().expect(parameters))
    return sums.log_likelihood / sums.n_rows, Plain().maximise(sums, parameters)


def plain(X, parameters, n_steps):
    for _ in range(n_steps):
        _, parameters = step(X, parameters)
    return parameters


def climbed(X, start=START, steps=None, weights=None, tolerance=1e-10, max_iterations=2000):
    steps = Plain() if steps is None else steps
    limits = {"tolerance": tolerance, "max_iterations": max_iterations}
    return run_em(rows(X, weights), start, steps, **limits)


def assert_near(ours, theirs, atol):
    for name, value in vars(theirs).items():
        np.testing.assert_allclose(getattr(ours, name), value, rtol=0, atol=atol)


@given(seed=SEED, k=st.integers(1, 4))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_the_likelihood_never_falls_wherever_a_climb_starts(seed, k):
    X, start = table(seed=seed), anywhere(seed, k)
    heights = [step(X, start)[0]]
    heights += [
        climbed(X, start, tolerance=0.0, max_iterations=n).convergence.log_likelihood
        for n in range(1, 25)
    ]
    assert (np.diff(heights) >= -1e-12).all()


@given(seed=SEED)
@settings(max_examples=10, deadline=None, derandomize=True)
def test_the_likelihood_told_is_that_of_the_parameters_however_long_the_climb(seed):
    X, start = table(seed=seed), anywhere(seed)
    for most in range(1, 12):
        found = climbed(X, start, tolerance=0.0, max_iterations=most)
        height, _ = step(X, found.parameters)
        assert found.convergence.log_likelihood == pytest.approx(height, rel=1e-12)


def test_the_end_is_where_plain_em_ends():
    X = table(apart=3.0)
    found = climbed(X, tolerance=1e-15).parameters
    assert_near(found, plain(X, START, 500), 1e-7)


@given(seed=SEED)
@settings(max_examples=10, deadline=None, derandomize=True)
def test_the_end_is_a_fixed_point_of_plain_em(seed):
    X = table(apart=3.0, seed=seed)
    found = climbed(X, tolerance=1e-15).parameters
    assert_near(step(X, found)[1], found, 1e-6)


def test_leaps_save_passes():
    X = table(1000, apart=1.2)
    steps, here, height = 0, START, -np.inf
    while (higher := step(X, here)[0]) - height >= 1e-8:
        here, height, steps = step(X, here)[1], higher, steps + 1
    found = climbed(X, tolerance=1e-8)
    assert found.convergence.log_likelihood >= height - 1e-6
    assert found.convergence.n_iterations < steps / 2


def test_steps_put_together_save_passes_where_little_is_gained(monkeypatch):
    X, start = table(1000, apart=0.8), anywhere(3)
    mixed = climbed(X, start, tolerance=1e-12)
    monkeypatch.setattr(em.Anderson, "FLAT", 0.0)
    leaps = climbed(X, start, tolerance=1e-12)
    assert mixed.convergence.converged
    assert mixed.convergence.log_likelihood >= leaps.convergence.log_likelihood - 1e-9
    assert mixed.convergence.n_iterations < leaps.convergence.n_iterations


def test_blocks_give_what_all_rows_at_once_give(monkeypatch):
    X = table()
    whole = climbed(X)
    monkeypatch.setattr(memory, "FEWEST_ROWS", 17)
    monkeypatch.setattr(memory, "BLOCK_ENTRIES", 1)
    assert rows(X).accumulate(lambda block: 1) > 10
    blocks = climbed(X)
    assert blocks.convergence.n_iterations == whole.convergence.n_iterations
    assert_near(blocks.parameters, whole.parameters, 1e-10)


def test_weights_of_rows_are_repeats():
    X, repeats = table(), np.random.default_rng(1).integers(0, 4, 250)
    weighted = climbed(X, weights=repeats.astype(float), tolerance=1e-14)
    repeated = climbed(np.repeat(X, repeats, axis=0), tolerance=1e-14)
    assert_near(weighted.parameters, repeated.parameters, 1e-6)
    assert weighted.convergence.log_likelihood == pytest.approx(
        repeated.convergence.log_likelihood, rel=1e-12
    )


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5, 1e-8])
def test_a_climb_stops_when_a_step_gains_less_than_the_tolerance(tolerance):
    X = table()
    steps = Plain()
    found = climbed(X, steps=steps, tolerance=tolerance)
    before, after = (step(X, parameters)[0] for parameters in steps.passes[-2:])
    assert found.convergence.converged
    assert after - before < tolerance
    assert found.parameters is steps.passes[-1]  # the step that gained so little is kept


@pytest.mark.parametrize("seed", range(10))
def test_where_gains_fall_slowly_little_is_left_at_the_end(seed):
    """Components that nearly cover each other: steps gain little, and many would follow."""
    X = table(400, apart=0.3, seed=seed)
    found = climbed(X, anywhere(seed), tolerance=1e-7, max_iterations=5000)
    further = climbed(X, found.parameters, tolerance=0.0, max_iterations=20_000)
    gain = further.convergence.log_likelihood - found.convergence.log_likelihood
    assert found.convergence.converged
    assert gain * len(X) < 0.01


def test_a_leap_that_leads_downwards_makes_the_next_ones_shorter(monkeypatch):
    X, start = table(1000, apart=0.5), anywhere(5)
    monkeypatch.setattr(em.Anderson, "FLAT", 0.0)
    shorter = climbed(X, start, tolerance=1e-9)
    monkeypatch.setattr(em.Squarem, "FACTOR", 1.0)
    as_long = climbed(X, start, tolerance=1e-9)
    assert shorter.convergence.converged
    assert shorter.convergence.log_likelihood >= as_long.convergence.log_likelihood - 1e-6
    assert shorter.convergence.n_iterations < as_long.convergence.n_iterations


def test_any_gain_is_too_little_for_an_endless_tolerance():
    X = table()
    found = climbed(X, tolerance=np.inf)
    assert found.convergence.converged
    assert found.convergence.n_iterations == 2
    assert_near(found.parameters, step(X, START)[1], 1e-12)


def test_a_step_that_gains_nothing_stops_the_climb():
    class Still(Plain):
        def maximise(self, sums, before):
            return before

    found = climbed(table(), steps=Still(), tolerance=1e-300)
    assert found.convergence.converged
    assert found.convergence.n_iterations == 2
    assert found.parameters is START


def test_parameters_come_to_rest_if_they_may_settle():
    """A gain that is too small to matter leaves them off by its root."""
    X = table(apart=1.5)
    steps, top = Plain(), climbed(X, tolerance=0.0).parameters

    def off(final_passes):
        found = run_em(
            rows(X), START, steps, tolerance=1e-6, max_iterations=2000, final_passes=final_passes
        ).parameters
        return float(np.abs(found.centres - top.centres).max())

    assert off(0) > 1e-5
    assert off(500) < 1e-7


def test_settling_ends_when_its_passes_are_used_up():
    X = table(apart=1.0)
    few, more = (
        run_em(
            rows(X), START, Plain(), tolerance=1e-4, max_iterations=2000, final_passes=n
        ).convergence
        for n in (0, 6)
    )
    assert few.converged
    assert more.converged
    assert few.n_iterations < more.n_iterations <= few.n_iterations + 6


@pytest.mark.parametrize("most", range(1, 12))
def test_no_more_passes_are_made_than_are_told_and_allowed(most):
    steps = Plain()
    found = climbed(table(), steps=steps, tolerance=0.0, max_iterations=most)
    assert len(steps.passes) == found.convergence.n_iterations == most
    assert not found.convergence.converged


class Believing(Plain):
    """Variances as if three cells of spread 4 had been seen of each component before."""

    def prior(self, parameters):
        return float(-1.5 * np.sum(4.0 / parameters.variances + np.log(parameters.variances)))

    def maximise(self, sums, before):
        found, count = super().maximise(sums, before), sums.count.sum(axis=1)
        return replace(found, variances=(count * found.variances + 3 * 4.0) / (count + 3))


def test_with_a_prior_their_sum_is_climbed_and_told():
    X, start = table(30), anywhere(4)

    def height(parameters):
        return step(X, parameters)[0] + Believing().prior(parameters) / len(X)

    climbs = [climbed(X, start, Believing(), tolerance=0.0, max_iterations=n) for n in range(1, 25)]
    heights = [height(start)] + [one.convergence.log_likelihood for one in climbs]
    assert (np.diff(heights) >= -1e-12).all()
    for found in climbs:
        assert found.convergence.log_likelihood == pytest.approx(
            height(found.parameters), rel=1e-12
        )
    alone = climbed(X, start, tolerance=1e-12)
    assert height(climbed(X, start, Believing(), tolerance=1e-12).parameters) > height(
        alone.parameters
    )


class Astray(Plain):
    """Whose leaps land where every row is less likely."""

    def within(self, parameters):
        return replace(parameters, variances=1e3 * parameters.variances)


def test_leaps_that_lower_the_likelihood_are_not_taken():
    X = table(apart=3.0)
    assert_near(climbed(X, steps=Astray(), tolerance=1e-15).parameters, plain(X, START, 500), 1e-7)
    for most in range(1, 10):
        found = climbed(X, steps=Astray(), tolerance=0.0, max_iterations=most)
        # A step, the next, a leap in vain, and then from where the steps had come.
        n_steps = [0, 1, 1, 2, 3, 3, 4, 5, 5][most - 1]
        assert_near(found.parameters, plain(X, START, n_steps), 1e-12)


def test_leaps_land_on_parameters_that_can_be():
    landed = []

    class Watched(Plain):
        def within(self, parameters):
            landed.append(parameters)
            return super().within(parameters)

    climbed(table(), steps=Watched())
    assert landed
    for leap in landed:
        assert leap.shares.sum() == pytest.approx(1.0)
        assert (leap.shares > 0).all()
        assert (leap.variances > 0).all()


def test_units_of_what_may_be_any_number_do_not_matter():
    X = table(apart=1.2)
    large = replace(START, centres=64 * START.centres, variances=64**2 * START.variances)
    ours, theirs = climbed(X), climbed(64 * X, large)
    assert ours.convergence.n_iterations == theirs.convergence.n_iterations
    np.testing.assert_allclose(theirs.parameters.centres / 64, ours.parameters.centres, atol=1e-8)


@given(seed=SEED, k=st.integers(1, 6))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_shares_sum_to_one_and_none_is_gone_for_good(seed, k):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(k)) * (rng.random(k) < 0.5)
    found = normalised(shares)
    assert found.sum() == pytest.approx(1.0)
    assert (found >= LEAST_SHARE / 2).all()
