"""scikit-learn estimators: the public face of the models."""

from halfseen.estimators.gamma_poisson import GammaPoisson
from halfseen.estimators.gaussian_mixture import GaussianMixture
from halfseen.estimators.loading import load

__all__ = ["GammaPoisson", "GaussianMixture", "load"]
