"""What has to be waited for before anything is learned: imports, help, the first fit."""

import subprocess
import sys

from benchmarks.bench.case import OURS, Case, Entrant, Errors, Setting

FIT = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 10)) + 3 * rng.integers(2, size=(2000, 1))
from {0} import GaussianMixture
GaussianMixture(2, covariance_type="diag"{1}).fit(X)
"""
CODE = {
    ("import", OURS): "import halfseen",
    ("import", "scikit-learn"): "import sklearn.mixture, sklearn.impute",
    ("import", "StepMix"): "import stepmix.stepmix",
    ("import", "pomegranate"): "import pomegranate.gmm",
    ("fit", OURS): FIT.format("halfseen", ", n_jobs=1"),
    ("fit", "scikit-learn"): FIT.format("sklearn.mixture", ""),
    ("help", OURS): "from halfseen.cli.app import app; app(['--help'])",
    ("help", "scikit-learn"): "import sklearn.mixture, sklearn.impute",
}
"""Of a fresh process; help is beside scikit-learn's import, which has no command."""
REPEATS = 3


def drawn(what: str) -> str:
    """Nothing but what is asked for."""
    return what


def _call(name: str) -> Entrant:
    def call(what: str, threads: int) -> None:
        if (what, name) not in CODE:
            raise ValueError(f"{name} has no {what} to compare.")
        for _ in range(REPEATS):
            code = CODE[what, name]
            subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)

    peers = {"StepMix": "stepmix"}
    words = "of a fresh process, three times; what is compiled is on the disk from before"
    return Entrant(peers.get(name, name), call, words)


def judge(what: str, given: None) -> Errors:
    """Nothing can be wrong."""
    return {"none": 0.0}


STARTING = Case(
    name="starting",
    asks="How long does a fresh process take to import, to show help, to fit 2,000 × 10?",
    draw=drawn,
    settings=tuple(
        Setting(title, {"what": what}, quick=True)
        for what, title in (
            ("import", "import"),
            ("help", "help, beside an import"),
            ("fit", "fit of 2,000 × 10, with the import"),
        )
    ),
    entrants={name: _call(name) for name in (OURS, "scikit-learn", "StepMix", "pomegranate")},
    judge=judge,
    metric="none",
    close=0.0,
)
