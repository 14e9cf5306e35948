"""Sums over Dask's partitions: in a fixed tree, of tasks that change nothing they are given."""

import operator
from functools import partial, reduce

import dask
import numpy as np
import pytest
from dask import delayed
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.data.engines.dask_rows import (
    FAN_IN,
    ClusterRows,
    View,
    added,
    computed,
    partitioned,
    tree,
)
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.emission import posterior
from halfseen.distributions.normal import Normal
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.moments.regression import RegressionSums
from halfseen.moments.second_moment import PairSums
from halfseen.moments.third_moment import ThirdSums

NAMES = ("age", "pulse", "lactate", "ph")
RNG = np.random.default_rng(0)
TABLE = np.where(RNG.random((90, 4)) < 0.3, np.nan, RNG.standard_normal((90, 4)))


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def read(table, first):
    return MemoryRows(table, NAMES, first=first)


def cluster_rows(lengths, **more):
    stops = np.cumsum(lengths)
    contents = [
        (f"Partition {i}", delayed(TABLE[stop - length : stop]))
        for i, (stop, length) in enumerate(zip(stops, lengths, strict=True))
    ]
    return ClusterRows(partitioned(contents, lengths, len), View(read), NAMES, **more)


def assert_equal(ours, theirs):
    for name, value in vars(theirs).items():
        np.testing.assert_allclose(getattr(ours, name), value, rtol=1e-12, atol=1e-12)


ORIGIN = np.array([1.0, -1.0, 0.5, 2.0])
SOME = np.array([True, False, True, True])
COMPONENTS = MixtureParameters(np.array([0.5, 0.5]), np.array([[0.0, 1], [1, 0]]), np.ones((2, 2)))
COMPLETE = np.array([True, True, False, False])
SUMMARIES = {
    "features": FeatureSums.of,
    "pairs": PairSums.about(ORIGIN),
    "triples": ThirdSums.about(ORIGIN),
    "regression": RegressionSums.on(
        lambda block: posterior(block, Normal(SHAPES["diag"]), COMPONENTS).responsibilities,
        COMPLETE,
        ~COMPLETE,
        ORIGIN[~COMPLETE],
    ),
}


@pytest.mark.parametrize("name", SUMMARIES)
@given(cuts=st.lists(st.integers(0, 90), max_size=20))
@settings(max_examples=10, deadline=None)
def test_any_partitions_give_the_sums_of_all_rows(name, cuts):
    lengths = np.diff([0, *sorted(cuts), 90]).tolist()
    ours = cluster_rows(lengths).accumulate(SUMMARIES[name])
    assert_equal(ours, MemoryRows(TABLE, NAMES).accumulate(SUMMARIES[name]))


def test_chosen_features_are_measured_from_where_they_are_asked_to_be():
    ours = cluster_rows([40, 50]).recentred(ORIGIN).select(SOME).recentred(np.ones(3))
    theirs = MemoryRows(TABLE - ORIGIN, NAMES).select(SOME).recentred(np.ones(3))
    assert ours.names == theirs.names == ("age", "lactate", "ph")
    assert_equal(ours.accumulate(FeatureSums.of), theirs.accumulate(FeatureSums.of))


def test_blocks_have_the_numbers_of_their_rows():
    def starts(block):
        return [block.start]

    assert cluster_rows([40, 0, 20, 30]).accumulate(starts) == [0, 40, 60]


def test_a_table_of_no_rows_has_neutral_sums():
    sums = cluster_rows([0, 0]).accumulate(FeatureSums.of)
    assert sums.n_rows == 0
    assert (sums.count == 0).all()


def test_only_what_is_made_of_the_sum_is_handed_back():
    def finish(sums):
        return sums.count

    count = cluster_rows([30, 60]).condensed(FeatureSums.of, finish)
    np.testing.assert_array_equal(count, np.sum(~np.isnan(TABLE), axis=0))


def test_rows_are_counted_where_nobody_knows_their_number():
    contents = [(f"Partition {i}", delayed(TABLE[:i])) for i in (3, 0, 5)]
    partitions = partitioned(contents, [None, 0, None], len)
    assert [(p.first, p.n_rows) for p in partitions] == [(0, 3), (3, 5)]


def test_progress_is_told_after_every_pass():
    heard = []
    rows = cluster_rows([30, 60], advance=heard.append)
    rows.accumulate(FeatureSums.of)
    rows.condensed(FeatureSums.of, str)
    assert heard == [90, 90]


def running_total(block, before):
    return np.array([len(block), before.sum()]), before + len(block)


@pytest.mark.parametrize("lengths", [[90], [40, 50], [1, 0, 89]])
def test_what_is_kept_beside_the_blocks_is_what_the_last_step_left(lengths):
    def begin(block):
        return np.array([block.start])

    carried = cluster_rows(lengths).carrying(begin)
    starts = [start for start, n in zip(np.cumsum([0, *lengths]), lengths, strict=False) if n]
    first, second, third = (carried.accumulate(running_total) for _ in range(3))
    np.testing.assert_array_equal(first, [90, sum(starts)])
    np.testing.assert_array_equal(second, [90, sum(starts) + 90])
    np.testing.assert_array_equal(third, [90, sum(starts) + 180])


def test_memory_and_cluster_keep_the_same():
    def begin(block):
        return np.zeros(1)

    ours = cluster_rows([33, 57]).carrying(begin)
    theirs = MemoryRows(TABLE, NAMES).carrying(begin)
    for _ in range(3):
        np.testing.assert_array_equal(
            ours.accumulate(running_total), theirs.accumulate(running_total)
        )


class Fragile:
    """Sums that cannot be changed without being caught."""

    def __init__(self, *parts):
        self.parts, self.changed = parts, False

    def __add__(self, other):
        return Fragile(*self.parts, *other.parts)

    def __iadd__(self, other):
        self.parts += other.parts
        self.changed = True
        return self


@given(number=st.integers(1, 200))
def test_additions_keep_the_order_and_change_nothing(number):
    leaves = [Fragile(i) for i in range(number)]
    assert added(leaves).parts == tuple(range(number))
    assert not any(leaf.changed for leaf in leaves)


@pytest.mark.parametrize("number", [1, 2, FAN_IN, FAN_IN + 1, FAN_IN**2, FAN_IN**2 + 1])
def test_the_tree_is_shallow_and_in_order(number):
    total = tree([delayed([i]) for i in range(number)], "x")
    assert total.compute() == list(range(number))
    additions = {key for key in total.__dask_graph__() if str(key).startswith("halfseen-add")}
    depth = len({str(key).split("-")[3] for key in additions})
    assert FAN_IN**depth >= number > FAN_IN ** (depth - 1) - (depth == 0)


def test_what_all_tasks_share_is_in_the_graph_once():
    graph = cluster_rows([10] * 9)._total(FeatureSums.of, "t").__dask_graph__()
    assert sum(str(key).startswith("halfseen-pass") for key in graph) == 1


def broken(table, first, when):
    if first == when:
        raise OSError("the disk is on fire")
    return MemoryRows(table, NAMES, first=first)


def test_a_partition_that_cannot_be_read_is_named():
    rows = cluster_rows([30, 30, 30])
    rows = ClusterRows(rows.partitions, View(partial(broken, when=30)), NAMES)
    with pytest.raises(DataError, match="Partition 1 fails whenever it is tried: the disk is on f"):
        rows.accumulate(FeatureSums.of)


@pytest.mark.parametrize("bad", [0, 4, 10])
def test_a_partition_that_dask_cannot_compute_is_named(bad):
    def load(i):
        if i == bad:
            raise ZeroDivisionError("no such ward")
        return TABLE[:5]

    contents = [(f"Partition {i}", delayed(load)(i)) for i in range(11)]
    rows = ClusterRows(partitioned(contents, [5] * 11, len), View(read), NAMES)
    words = (
        f"Partition {bad} cannot be computed, however often it is tried: ZeroDivisionError: no "
        "such ward. Mend what Dask computes it from, or leave it out."
    )
    with pytest.raises(DataError, match=words):
        rows.accumulate(FeatureSums.of)


def test_an_error_that_does_not_come_again_is_handed_on_as_it_is():
    faults = [RuntimeError("a hiccup")]

    def load():
        if faults:
            raise faults.pop()
        return TABLE

    contents = [("Partition 0", delayed(load)())]
    rows = ClusterRows(partitioned(contents, [90], len), View(read), NAMES)
    with pytest.raises(RuntimeError, match="a hiccup"):
        rows.accumulate(FeatureSums.of)


class KilledWorker(Exception):
    """What distributed raises, as far as it is looked at."""

    def __init__(self, task):
        self.task = task


def test_the_partition_that_ended_workers_is_known_by_its_task():
    contents = [(f"Partition {i}", delayed(TABLE[:5], name=f"load-{i}")) for i in range(3)]

    class Failing:
        def __init__(self, task):
            self.task = task

        def compute(self, **_):
            raise KilledWorker(self.task)

    beside, words = (
        ", or one that was on the same workers,",
        "{} ended every worker that it was given",
    )
    for task, label in [
        ("load-1", "Partition 1" + beside),
        (f"halfseen-{'0' * 32}-2", "Partition 2" + beside),
        (f"halfseen-pass-{'0' * 32}", "One of the partitions"),
        ("somebody else's", "The task somebody else's" + beside),
    ]:
        with pytest.raises(DataError, match=words.format(label)):
            computed(Failing(task), contents)


def test_the_sum_of_one_partition_is_that_of_its_blocks():
    blocks = [Block.from_table(TABLE[:50], start=0), Block.from_table(TABLE[50:], start=50)]
    sums = reduce(operator.add, map(FeatureSums.of, blocks))
    assert_equal(cluster_rows([90]).accumulate(FeatureSums.of), sums)
