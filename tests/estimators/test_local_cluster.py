"""Fits by real worker processes: as many as there are, and whichever of them die."""

import os

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from benchmarks import scale_plan, traffic
from benchmarks.cluster_schedule import blocks as blocks_of
from benchmarks.dying_workers import (
    RIGHT,
    WORLDS,
    fit_among_killings,
    local_cluster,
    parameters,
)
from halfseen import DataError, Files, GammaPoisson, GaussianMixture, simulate

N, D, K = 1500, 20, 3
NAMES = [f"x{i}" for i in range(D)]
# Distributed closes sockets of workers that are gone when it gets to it.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def measurements():
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(N, [0.5, 0.3, 0.2], rng.normal(0, 2, (K, D)), 1.0, rng)
    return simulate.independent_gaps(X, [1] * 15 + [0.8, 0.8, 0.5, 0.5, 0.3], rng)


def counts():
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(600, 3.0), size=K)
    X, _ = simulate.sparse_gamma_poisson(N, topics, [0.5] * K, 0.002, rng)
    X = X.astype(float)
    late = X.indices >= 590
    X.data[late & (rng.random(len(X.data)) < 0.3)] = np.nan
    return sparse.csr_array(X)


def arrays(X):
    array = da.from_array(X, chunks=(300, -1))
    return array, da.concatenate([array.blocks[i] for i in reversed(range(array.numblocks[0]))])


def same(model, given, expected):
    np.testing.assert_allclose(parameters(model.fit(given)), expected, rtol=1e-9, atol=1e-9)


STEPS = {"max_iter": 4, "random_state": 0}
DENSE = {
    "explicit": GaussianMixture(K, third_moment="explicit", **STEPS),
    "implicit": GaussianMixture(K, third_moment="implicit", refine=None),
    "partial, diag": GaussianMixture(K, method="partial", covariance_type="diag", **STEPS),
}
SPARSE = {
    "moments": GammaPoisson(K),
    "stochastic EM": GammaPoisson(K, refine="saem", n_sweeps=4, random_state=0),
}


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_workers", [1, 3])
def test_every_stage_gives_what_it_gives_in_memory_on_any_number_of_workers(n_workers, tmp_path):
    X, words = measurements(), counts()
    frame = pd.DataFrame(X, columns=NAMES)
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=400)
    far, blocks = dd.from_pandas(frame, npartitions=4), blocks_of(words, 350)
    array, backwards = arrays(X)
    with local_cluster(n_workers):
        for model in DENSE.values():
            same(model, array, parameters(model.fit(X)))
        model = DENSE["explicit"]
        expected = parameters(model.fit(frame))
        for given in (backwards, Files(tmp_path, dask=True), far):
            same(model, given, expected)
        assert model.score(far) == pytest.approx(model.score(frame), rel=1e-12)
        for name in ("predict", "predict_proba", "score_samples", "impute"):
            ours, theirs = (getattr(model, name)(given) for given in (far, frame))
            np.testing.assert_array_equal(ours.compute(), theirs)
        for model in SPARSE.values():
            same(model, blocks, parameters(model.fit(words)))
        np.testing.assert_array_equal(model.transform(blocks).compute(), model.transform(words))


@pytest.mark.parametrize(
    ("world", "stages"),
    [("mixture", ("pairs of features", "polishing")), ("topics", ("polishing",))],
)
def test_a_fit_survives_workers_that_are_killed(world, stages):
    expected = parameters(WORLDS[world].model().fit(WORLDS[world].near()))
    with local_cluster(2) as cluster:
        found, killed = fit_among_killings(cluster, WORLDS[world], stages, seed=0)
    assert dict(killed) == dict.fromkeys(stages, 1)
    assert np.abs(found - expected).max() <= RIGHT * np.abs(expected).max()


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
def test_what_reaches_the_client_is_what_the_plan_says():
    d, k, t = 150, 12, 60
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(6000, np.full(k, 1 / k), rng.normal(0, 2, (k, d)), 1.0, rng)
    X = simulate.independent_gaps(X, [1.0] * (d - t) + [0.6] * t, rng)
    table = da.from_array(X, chunks=(1000, -1))
    with local_cluster(2) as cluster:
        for route in ("explicit", "implicit"):
            with traffic.measured(cluster.scheduler_address) as found:
                model = GaussianMixture(k, third_moment=route, outliers=None).fit(table)
            assert model.diagnostics_.third_moment == route
            steps = {"n_steps": model.n_iter_, "n_sampled": 1000}
            plan = scale_plan.mixture(d, k, t, **steps, route=route)
            planned = scale_plan.heard(plan, model.diagnostics_.seconds)
            found.pop("decomposition", None)  # in which only Dask's own words may come
            assert dict(found) == pytest.approx(planned, rel=0.2)


def test_a_partition_that_ends_workers_stops_the_fit():
    # Which task the scheduler blames depends on which were on the worker.
    blamed = r"(Partition \d, or one that was on the same workers,|One of the partitions) ended"

    def load(number):
        if number == 2:
            os._exit(1)
        return np.ones((10, 3))

    parts = [da.from_delayed(dask.delayed(load)(i), (10, 3), float) for i in range(4)]
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        local_cluster(2),
        pytest.raises(DataError, match=blamed),
    ):
        GaussianMixture(2).fit(da.concatenate(parts))
