"""The methods that every figure compares, each with its one colour."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.reproduce import paper
from halfseen import GammaPoisson, GaussianMixture
from halfseen.data.arrays import Array
from halfseen.data.engines.memory import MemoryRows
from halfseen.latent.moment_tensor import FORMS
from halfseen.models.gaussian_mixture.cumulants import (
    NOISE_EIGENVALUES,
    GaussianCumulants,
    TiedSpherical,
)
from halfseen.moments.second_moment import AllPairs
from halfseen.moments.survey import survey
from halfseen.moments.whitening import signal_aware

SWEEPS = 200
"""Of stochastic EM: a fifth of our default, to keep the whole run within an hour."""

Fit = Callable[[int, Array], Any]
"""From a number of components and a table to a fitted estimator."""


@dataclass(frozen=True)
class Method:
    """How a method is fitted, and how it looks."""

    label: str
    colour: str  # Okabe and Ito's palette: told apart by colour-blind readers too
    marker: str
    fits: dict[str, Fit]  # by model


def _papers(method: str, weights: str = "observed") -> dict[str, Fit]:
    def fitting(make: Callable[..., Any]) -> Fit:
        settings = {"feature_weights": weights, "random_state": 0}
        return lambda k, X: make(k, method, **settings).fit(X)

    return {
        "gaussian": fitting(paper.gaussian_mixture),
        "gamma-poisson": fitting(paper.gamma_poisson),
    }


def learned_components(estimator: Any) -> Array:
    """Means or topics, whichever the estimator learned; (k, d)."""
    components: Array = estimator.means_ if hasattr(estimator, "means_") else estimator.components_
    return components


def signal_weights(n_components: int, X: Array) -> Array:
    """Signal-aware weights for a Gaussian mixture, whose own default is w = p; (d,).

    A feature that is never observed gets a one, which is not used.
    """
    rows = MemoryRows(X, tuple(map(str, range(X.shape[1]))))
    seen = survey(rows, 0.95)
    part = rows.select(seen.kept)
    moments = AllPairs().moments(part, seen.sums.select(seen.kept), centred=True)
    noise = TiedSpherical()
    model = GaussianCumulants(FORMS["centred"], noise, NOISE_EIGENVALUES["D-K+1"])
    signal = model.signal(moments, seen.complete[seen.kept], n_components)
    weights = np.ones(X.shape[1])
    weights[seen.kept] = signal_aware(moments.observed_fraction, signal)
    return weights


def _signal_gaussian(k: int, X: Array) -> Any:
    weights = signal_weights(k, X)
    return paper.gaussian_mixture(k, feature_weights=weights, random_state=0).fit(X)


def _ours(gaussian: dict[str, Any], topics: dict[str, Any]) -> dict[str, Fit]:
    def fitting(make: Callable[..., Any]) -> Fit:
        # The paper's tables have no outliers, and its figures are about likelihood alone.
        return lambda k, X: make(k, outliers=None, random_state=0).fit(X)

    return {
        "gaussian": fitting(partial(GaussianMixture, **gaussian)),
        "gamma-poisson": fitting(partial(GammaPoisson, **topics)),
    }


METHODS: dict[str, Method] = {
    "full": Method("full", "#0072B2", "o", _papers("full")),
    "partial": Method("partial", "#009E73", "s", _papers("partial")),
    "weighted": Method("weighted, w = p", "#D55E00", "^", _papers("weighted")),
    "sqrt": Method("weighted, w = √p", "#E69F00", "v", _papers("weighted", "sqrt")),
    "signal": Method(
        "weighted, signal-aware",
        "#56B4E9",
        "D",
        _papers("weighted", "auto") | {"gaussian": _signal_gaussian},
    ),
    "defaults": Method("halfseen, moments", "#CC79A7", "P", _ours({"refine": None}, {})),
    "refined": Method(
        "halfseen, refined",
        "#000000",
        "X",
        _ours({"refine": "em"}, {"refine": "saem", "n_sweeps": SWEEPS}),
    ),
}
"""The paper's settings but for the last two, which are ours: moments alone, then EM or SAEM."""

PAPERS = ("full", "partial", "weighted", "sqrt")
OURS = ("defaults", "refined")
EVERY = (*PAPERS, *OURS)
