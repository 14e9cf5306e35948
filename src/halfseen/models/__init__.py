"""Models, one file or folder each, and their registry.

To add a model, write its file and name its estimator here: see ``docs/add_a_model.md``.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

HOMES = {
    "gaussian": "gaussian_mixture:GaussianMixture",
    "gamma-poisson": "gamma_poisson:GammaPoisson",
    "lda": "lda:LatentDirichletAllocation",
    "classes": "latent_class:LatentClass",
    "markov": "hidden_markov:HiddenMarkov",
}
"""Where each estimator is, by the name under which it is asked for."""
USUAL_MODEL = next(iter(HOMES))
"""What is meant where none is named."""


class Registry(Mapping[str, Any]):
    """Classes of estimators by name, loaded when they are asked for."""

    def __getitem__(self, name: str) -> Any:
        module, _, estimator = HOMES[name].partition(":")
        return getattr(import_module(f"halfseen.models.{module}"), estimator)

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


MODELS = Registry()
"""What the command line, ``choose_components``, ``load`` and the laws of models know."""
ESTIMATORS = {home.partition(":")[2]: name for name, home in HOMES.items()}
"""The names of the classes, which are public names of the package."""
