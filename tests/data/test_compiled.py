"""Compiled functions work wherever they are installed."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

import halfseen
from halfseen.data import compiled
from halfseen.data.block import _observed
from halfseen.data.compiled import njit

SOURCES = Path(halfseen.__file__).parent

NO_CACHE = """
import numba.core.caching
numba.core.caching.CacheImpl._locator_classes = []  # as without a folder that can be written to
"""
FULL_DISK = """
import numba.core.caching
def full(self, name, data):
    raise OSError(28, "No space left on device")
numba.core.caching.IndexDataCacheFile.save = full
"""
FIT = """
import numpy as np
from halfseen.data.block import Block
from halfseen.data.compiled import njit

@njit(cache=True, nogil=True)
def doubled(x):
    return 2 * x

print(doubled(21), doubled(0.5))
"""


def _said(before):
    return _run(before + FIT)


def _run(code):
    told = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return told.stdout.strip() or told.stderr


def test_without_a_place_for_a_cache_functions_are_compiled_anew():
    assert _said(NO_CACHE + "import halfseen, halfseen.models.gamma_poisson") == "42 1.0"


def test_a_cache_that_cannot_be_written_is_no_cache():
    # Functions of a script have no cache: the file of this one is used.
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n" + FULL_DISK
    code += "import compiled_sample as s, numpy as np; print(s.doubled(np.uint8(3)))"
    assert _said(code + "\n").startswith("6")


def test_options_are_those_of_numba():
    @njit(cache=False, error_model="numpy")
    def inverse(x):
        return 1 / x

    assert inverse(0.0) == float("inf")


def test_nothing_else_asks_numba_to_compile():
    asking = [
        path.name
        for path in SOURCES.rglob("*.py")
        if path.name != "compiled.py"
        and "njit" in path.read_text(encoding="utf-8")
        and "from halfseen.data.compiled import njit" not in path.read_text(encoding="utf-8")
    ]
    assert asking == []


@pytest.mark.parametrize("cache", [True, False])
def test_without_room_for_code_there_is_a_sentence_and_what_is_loaded_works_on(cache, monkeypatch):
    @njit(cache=cache)
    def doubled(x):
        return 2 * x

    assert doubled(21) == 42
    monkeypatch.setattr(compiled, "ROOM", 1 << 60)
    assert doubled(4) == 8
    with pytest.raises(MemoryError, match=r"^compiled functions need \d+ MB of address space to"):
        doubled(0.5)
    monkeypatch.undo()
    assert doubled(0.5) == 1.0


TABLE = np.arange(3.0)


def test_constant_arrays_may_be_handed_on():
    @njit(cache=False)
    def last(x):
        return x[-1]

    @njit(cache=False)
    def times_last(x):
        return x[0] * last(TABLE)

    assert times_last(np.full(1, 2.0)) == 4


@pytest.mark.parametrize("sender", [pickle, cloudpickle])
def test_another_process_finds_a_function_where_it_is_written(sender):
    sent = sender.dumps(_observed)
    assert len(sent) < 200
    assert sender.loads(sent) is _observed


def test_a_function_within_another_is_sent_as_numba_does():
    @njit(cache=False)
    def doubled(x):
        return 2 * x

    assert cloudpickle.loads(cloudpickle.dumps(doubled))(4) == 8


LITTLE = """
import resource
import numpy as np
from halfseen.inference.tensor_decomposition import joint

np.linalg.eigh(np.eye(64) @ np.eye(64))  # OpenBLAS takes its memory at its first call
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (8 << 20),) * 2)
try:
    joint(np.ones((2, 2, 2)), None)
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits are set on Linux")
def test_a_limit_of_memory_does_not_end_the_process():
    assert _run(LITTLE) == "compiled functions need 64 MB of address space to be loaded"
