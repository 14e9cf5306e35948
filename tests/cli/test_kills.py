"""A fit that is killed while it writes leaves the old model or the new one, whole."""

import os
import shutil
import subprocess
import sys

import pytest

from halfseen import load
from halfseen.datasets.clinic import PATH

# The process that is killed is a fork of one that has loaded everything, so that kills fall into
# the work and not into the loading.
KILLER = """
import os, random, signal, sys, time
import numpy as np
import halfseen.cli.fit, halfseen.models.load, pyarrow.csv, sklearn.utils
from halfseen.cli.app import app

data, out, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])

def child(k):
    process = os.fork()
    if process == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        try:
            more = ["--covariance", "diag", "--standardise", "--out", out, "--force"]
            app(["fit", data, "-k", str(k), *more])
        finally:
            os._exit(9)
    return process

os.waitpid(child(2), 0)  # the first has to read everything from the disk
start = time.perf_counter()
os.waitpid(child(2), 0)
whole = time.perf_counter() - start
random.seed(int(sys.argv[4]))
killed = 0
for number in range(kills):
    process = child(2 + number % 2)
    wait = random.uniform(0, 1.3 * whole)
    time.sleep(wait)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        killed += 1
    else:  # it was over: the machine is less busy than it was, and fits take less than that
        whole = min(whole, wait)
    from halfseen import load
    print(load(out).n_components_, flush=True)
print(killed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked to be killed")
def test_killed_at_any_moment_the_old_or_the_new_model_is_there_whole(tmp_path):
    data, out = tmp_path / "clinic.csv", tmp_path / "it.halfseen"
    shutil.copy(PATH, data)
    n_kills = int(os.environ.get("HALFSEEN_KILLS", "8"))
    result = subprocess.run(
        [sys.executable, "-c", KILLER, str(data), str(out), str(n_kills), "0"],
        capture_output=True,
        text=True,
        check=True,
    )
    *found, killed = map(int, result.stdout.split())
    assert len(found) == n_kills
    assert set(found) <= {2, 3}
    assert killed >= n_kills / 4
    assert load(out).n_components_ in (2, 3)
    left = [path.name for path in tmp_path.iterdir() if path not in (data, out)]
    assert all(name.startswith(".halfseen-") for name in left)
