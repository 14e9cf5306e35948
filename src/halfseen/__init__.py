"""halfseen learns latent-variable models from tables with gaps."""

from halfseen.core.errors import (
    DataError,
    DroppedFeatureWarning,
    LikelihoodWarning,
    ModelFileError,
    WeakMomentsWarning,
)
from halfseen.engines.files import Files
from halfseen.estimators import GammaPoisson, GaussianMixture, ObservedBlocks, Stream, load

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "DroppedFeatureWarning",
    "Files",
    "GammaPoisson",
    "GaussianMixture",
    "LikelihoodWarning",
    "ModelFileError",
    "ObservedBlocks",
    "Stream",
    "WeakMomentsWarning",
    "load",
]
