"""halfseen learns latent-variable models from tables with gaps."""

from halfseen.core.errors import (
    DataError,
    DroppedFeatureWarning,
    LikelihoodWarning,
    WeakMomentsWarning,
)
from halfseen.engines.files import Files
from halfseen.estimators import GammaPoisson, GaussianMixture

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "DroppedFeatureWarning",
    "Files",
    "GammaPoisson",
    "GaussianMixture",
    "LikelihoodWarning",
    "WeakMomentsWarning",
]
