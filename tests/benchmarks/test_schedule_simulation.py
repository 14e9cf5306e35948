"""The simulated schedule against cases that can be counted out, and against the formula."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import scale_plan
from benchmarks.schedule_simulation import Machine, Work, formula, simulated

FREE = Machine(per_task=0.0, latency=0.0, bandwidth=float("inf"))
REAL = Machine(per_task=1e-3, latency=1e-3, bandwidth=1e9)


def work(tasks, addition=0.0, sums=0.0, shared=0.0, client=0.0):
    return Work(tasks, addition, sums, shared, client)


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=50))
def test_one_worker_does_one_task_after_another(tasks):
    assert simulated(work(tasks), FREE, 1) == pytest.approx(sum(tasks))


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=50))
def test_a_worker_for_each_task_waits_for_the_longest(tasks):
    assert simulated(work(tasks), FREE, len(tasks)) == pytest.approx(max(tasks))


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=50), st.integers(1, 20))
def test_no_schedule_beats_the_work_divided_nor_takes_twice_as_long(tasks, n_workers):
    least = max(sum(tasks) / n_workers, max(tasks))
    assert least * (1 - 1e-9) <= simulated(work(tasks), FREE, n_workers) <= 2 * least


def test_additions_are_levels_of_a_tree():
    eight = work([1.0] * 8, addition=0.5)
    assert simulated(eight, FREE, 8) == pytest.approx(1 + 7 * 0.5)
    nine = work([1.0] * 9, addition=0.5)
    assert simulated(nine, FREE, 9) == pytest.approx(1 + 7 * 0.5 + 0.5)


def test_what_is_added_has_to_be_sent():
    machine = Machine(per_task=0.0, latency=0.25, bandwidth=100.0)
    two = work([1.0, 1.0], sums=50.0)
    assert simulated(two, machine, 2) == pytest.approx(0.5 + 1 + 0.25 + 0.5)
    assert simulated(two, machine, 1) == pytest.approx(0.25 + 2)


def test_the_scheduler_hands_out_one_task_at_a_time():
    slow = Machine(per_task=1.0, latency=0.0, bandwidth=float("inf"))
    assert simulated(work([0.1] * 8), slow, 8) == pytest.approx(7 + 0.1 + 1.0)


@pytest.mark.parametrize("n_workers", [1, 2, 8, 64, 256])
@pytest.mark.parametrize("sums", [1e3, 1e7])
def test_the_formula_is_close_where_tasks_are_alike(n_workers, sums):
    alike = work([2.0] * 1000, addition=1e-3, sums=sums, shared=sums, client=0.1)
    assert simulated(alike, REAL, n_workers) == pytest.approx(
        formula(alike, REAL, n_workers), rel=0.15
    )


def test_the_plan_counts_bytes():
    passes = {p.stage: p for p in scale_plan.mixture(100, 10, 25, n_steps=20)}
    assert passes["pairs of features"].result == 2 * 100 * 100 * 8
    assert passes["triples of features"].result == (9**3 + 100 * 9 + 100) * 8
    assert passes["incomplete features"].result == 25 * 11 * 8
    assert passes["polishing"].to_client == 20 * (10 * 202 * 8 + scale_plan.ENVELOPE)
    explicit = scale_plan.mixture(100, 10, 0, n_steps=0, route="explicit")[2]
    assert explicit.sums == 2 * 171_700 * 8
    assert explicit.result == 9**3 * 8
    heard = scale_plan.heard(list(passes.values()), dict.fromkeys(passes, 10.0))
    assert heard["pairs of features"] == 160_000 + scale_plan.ENVELOPE + 10 * scale_plan.CHATTER
    words = scale_plan.topics(1000, 20, 100, n_products=7, n_parts=3)
    assert sum(p.times for p in words) == 13
    assert words[3].to_client == 7 * (1000 * 24 * 8 + scale_plan.ENVELOPE)
