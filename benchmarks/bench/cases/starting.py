"""What has to be waited for before anything is learned: imports, and the first fit."""

import os
import subprocess
import sys

from benchmarks.bench.case import OURS, Case, Entrant, Errors, Setting

TABLE = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 10)) + 3 * rng.integers(2, size=(2000, 1))
"""
IMPORTS = {
    OURS: "from halfseen import GaussianMixture",
    "scikit-learn": "from sklearn.mixture import GaussianMixture",
    "StepMix": "from stepmix.stepmix import StepMix",
    "pomegranate": "import torch; from pomegranate.gmm import GeneralMixtureModel\n"
    "from pomegranate.distributions import Normal",
}
FITS = {
    OURS: "GaussianMixture(2, covariance_type='diag', n_jobs=1).fit(X)",
    "scikit-learn": "GaussianMixture(2, covariance_type='diag').fit(X)",
    "StepMix": "StepMix(2, measurement='gaussian_diag', progress_bar=0, verbose=0).fit(X)",
    "pomegranate": "GeneralMixtureModel([Normal(covariance_type='diag') for _ in range(2)]"
    ").fit(torch.tensor(X, dtype=torch.float32))",
}
PEERS = {"StepMix": "stepmix"}
REPEATS = 3


def drawn(what: str) -> str:
    """Nothing but what is asked for."""
    return what


def _call(name: str) -> Entrant:
    def call(what: str, threads: int) -> None:
        code = IMPORTS[name] if what == "import" else f"{TABLE}{IMPORTS[name]}\n{FITS[name]}"
        # Else every module would be compiled again, of those that no installer compiled.
        told = {name: of for name, of in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        for _ in range(REPEATS):
            call = [sys.executable, "-c", code]
            subprocess.run(call, check=True, stdout=subprocess.DEVNULL, env=told)

    words = "of a fresh process, three times; what is compiled is on the disk from before"
    return Entrant(PEERS.get(name, name), call, words)


def judge(what: str, given: None) -> Errors:
    """Nothing can be wrong."""
    return {"none": 0.0}


STARTING = Case(
    name="starting",
    asks="How long does a fresh process take to import, and to fit 2,000 × 10?",
    draw=drawn,
    settings=tuple(
        Setting(title, {"what": what}, quick=True)
        for what, title in (
            ("import", "import"),
            ("fit", "fit of 2,000 × 10, with the import"),
        )
    ),
    entrants={name: _call(name) for name in FITS},
    judge=judge,
    metric="none",
    close=0.0,
    why=(
        "halfseen imports scikit-learn and Numba, so that it cannot be there before scikit-learn "
        "is."
    ),
)
