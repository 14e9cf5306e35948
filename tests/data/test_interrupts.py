"""Compiled work is done in calls so short that an interrupt is heard between them."""

import os
import re
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import halfseen
from halfseen import GammaPoisson
from halfseen.data import interrupts as short
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.interrupts import NobodyWaits, go_on, is_served, serving, short_calls


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_pieces_are_all_rows_once_and_in_order(n):
    steps = np.random.default_rng(n).exponential(short.MOST_STEPS / 3, n)
    pieces = list(short_calls(steps))
    assert np.concatenate([np.arange(n)[one] for one in pieces]).tolist() == list(range(n))
    assert all(steps[one].sum() - steps[one].max(initial=0.0) <= short.MOST_STEPS for one in pieces)
    assert len(pieces) >= 1


def test_a_row_is_never_cut():
    assert list(short_calls(np.array([9.0, 9.0]) * short.MOST_STEPS)) == [slice(0, 1), slice(1, 2)]


def test_work_that_nobody_waits_for_ends():
    given_up = threading.Event()
    with serving(given_up):
        assert is_served()
        go_on()
        given_up.set()
        with pytest.raises(NobodyWaits):
            next(short_calls(np.ones(3)))
    assert not is_served()
    go_on()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_work_of_a_thread_is_not_shared_out_again_and_a_fork_has_threads_of_its_own():
    table = np.ones((3000, 100))
    rows = MemoryRows(table, tuple(map(str, range(100))), n_threads=2)
    inner = rows.accumulate(lambda block: rows.accumulate(len))  # would wait for its own threads
    assert inner == 3000 * sum(1 for _ in rows.blocks())
    child = os.fork()
    if not child:
        os._exit(0 if rows.accumulate(len) == 3000 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_no_compiled_loop_is_without_an_end():
    """A compiled ``while True`` cannot be left by Ctrl-C."""
    for path in Path(halfseen.__file__).parent.rglob("*.py"):
        text = path.read_text()
        if "njit" in text:
            assert not re.search(r"while (True|1)\b", text), path


@pytest.fixture
def interrupts():
    """As in a terminal: a shell has what it runs in the background ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("verb", ["score_samples", "posterior"])
def test_an_interrupt_is_heard_within_a_second(n_jobs, verb, interrupts):
    """Importance sampling of these rows takes minutes."""
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(1.0, 20.0, (60_000, 3)) @ rng.dirichlet(np.ones(8), 3)).astype(float)
    model = GammaPoisson(3, n_jobs=n_jobs).fit(X[:2000])
    getattr(model, verb)(X[:3])  # compiled
    rows = MemoryRows(X, tuple("abcdefgh"), n_threads=n_jobs)
    fitted = model.fitted
    heard = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    heard.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        rows.accumulate(
            lambda block: (
                fitted.model.log_likelihood(block, fitted.parameters).sum()
                if verb == "score_samples"
                else fitted.model.cells(block, fitted.parameters).mean.sum()
            )
        )
    assert time.monotonic() - began < 2.0
