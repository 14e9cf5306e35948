"""scikit-learn estimators: the public face of the models."""

from halfseen.estimators.choice import Choice
from halfseen.estimators.components_choice import choose_components
from halfseen.estimators.gamma_poisson import GammaPoisson
from halfseen.estimators.gaussian_mixture import GaussianMixture
from halfseen.estimators.loading import load
from halfseen.estimators.observed_blocks import ObservedBlocks
from halfseen.estimators.stream import Stream

__all__ = [
    "Choice",
    "GammaPoisson",
    "GaussianMixture",
    "ObservedBlocks",
    "Stream",
    "choose_components",
    "load",
]
