"""Exactly the paper's settings, in one place.

O. Gottesman, W. Pan, F. Doshi-Velez (2018), Weighted tensor decomposition for learning latent
variables with partial data: w = p, the tensor power method, moments of the Gaussian mixture about
zero with σ² from D_c - K eigenvalues, and incomplete features divided by their weights. The paper
has no answer for the features that its partial method leaves out; ours is given.
"""

from typing import Any

from halfseen.models.gamma_poisson import GammaPoisson
from halfseen.models.gaussian_mixture import GaussianMixture

METHODS = ("weighted", "full", "partial")


def _shared(method: str) -> dict[str, Any]:
    return {
        "method": method,
        "feature_weights": "observed",
        "complete_above": 0.95,
        "incomplete_features": "regress" if method == "partial" else "divide",
        "decomposer": "power",
        "third_moment": "explicit",
        "outliers": None,
    }


def gaussian_mixture(n_components: int, method: str = "weighted", **others: Any) -> GaussianMixture:
    """The paper's Gaussian mixture; ``others`` are parameters that it does not fix.

    >>> gaussian_mixture(4).form
    'raw'
    """
    settings = _shared(method) | {
        "covariance_type": "tied_spherical",
        "form": "raw",
        "noise_eigenvalues": "D-K",
        "refine": None,
    }
    return GaussianMixture(n_components, **(settings | others))


def gamma_poisson(n_components: int, method: str = "weighted", **others: Any) -> GammaPoisson:
    """The paper's gamma-Poisson model; ``others`` are parameters that it does not fix.

    >>> gamma_poisson(4).feature_weights
    'observed'
    """
    return GammaPoisson(n_components, **(_shared(method) | others))
