"""scikit-learn estimators: the public face of the models."""

from halfseen.estimators.choice import Choice
from halfseen.estimators.components_choice import choose_components
from halfseen.estimators.gamma_poisson import GammaPoisson
from halfseen.estimators.gaussian_mixture import GaussianMixture
from halfseen.estimators.loading import load
from halfseen.estimators.observed_blocks import ObservedBlocks
from halfseen.estimators.stream import Stream
from halfseen.estimators.weights_choice import WeightsComparison, compare_weights

__all__ = [
    "Choice",
    "GammaPoisson",
    "GaussianMixture",
    "ObservedBlocks",
    "Stream",
    "WeightsComparison",
    "choose_components",
    "compare_weights",
    "load",
]
