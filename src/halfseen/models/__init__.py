"""Latent-variable models, one file or folder each, and the registry of all of them.

To add a model, write its file and put its estimator here: see ``docs/add_a_model.md``.
"""

from halfseen.estimators.estimator import Estimator
from halfseen.models.gamma_poisson.estimator import GammaPoisson
from halfseen.models.gaussian_mixture.estimator import GaussianMixture

MODELS: dict[str, type[Estimator]] = {
    one.about.name: one
    for one in (
        GaussianMixture,
        GammaPoisson,
    )
}
"""Estimators by the names that the command line, ``choose_components`` and the like know."""
