"""halfseen learns latent-variable models from tables with gaps."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfseen.data.errors import (
        DataError,
        DroppedFeatureWarning,
        IdentifierWarning,
        LikelihoodWarning,
        ModelFileError,
        TablesWarning,
        UnseenCategoryWarning,
        WeakMomentsWarning,
    )
    from halfseen.diagnostics import recovery  # noqa: F401
    from halfseen.diagnostics.choice import Choice
    from halfseen.federated.plan import Plan
    from halfseen.federated.sums import Stream
    from halfseen.imputation.estimator import Imputer
    from halfseen.imputation.pool import Pooled, pool
    from halfseen.io.files import Files
    from halfseen.io.sparse_matrix import ObservedBlocks
    from halfseen.io.studies import Studies, together
    from halfseen.io.text import Text
    from halfseen.models import simulate as simulate
    from halfseen.models.gamma_poisson import GammaPoisson
    from halfseen.models.gaussian_mixture import GaussianMixture
    from halfseen.models.hidden_markov import HiddenMarkov
    from halfseen.models.latent_class import LatentClass
    from halfseen.models.lda import LatentDirichletAllocation
    from halfseen.models.load import load
    from halfseen.models.selection import (
        WeightsComparison,
        choose_components,
        compare_weights,
    )
    from halfseen.models.summed import summed

__version__ = "0.2.0"

_HOMES = {
    "Choice": "diagnostics.choice",
    "DataError": "data.errors",
    "DroppedFeatureWarning": "data.errors",
    "Files": "io.files",
    "IdentifierWarning": "data.errors",
    "Imputer": "imputation.estimator",
    "LikelihoodWarning": "data.errors",
    "ModelFileError": "data.errors",
    "ObservedBlocks": "io.sparse_matrix",
    "Plan": "federated.plan",
    "Pooled": "imputation.pool",
    "Stream": "federated.sums",
    "Studies": "io.studies",
    "TablesWarning": "data.errors",
    "Text": "io.text",
    "UnseenCategoryWarning": "data.errors",
    "WeakMomentsWarning": "data.errors",
    "WeightsComparison": "models.selection",
    "choose_components": "models.selection",
    "compare_weights": "models.selection",
    "load": "models.load",
    "pool": "imputation.pool",
    "summed": "models.summed",
    "together": "io.studies",
}
_MODULES = {"recovery": "diagnostics.recovery", "simulate": "models.simulate"}
__all__ = [
    "Choice",
    "DataError",
    "DroppedFeatureWarning",
    "Files",
    "GammaPoisson",
    "GaussianMixture",
    "HiddenMarkov",
    "IdentifierWarning",
    "Imputer",
    "LatentClass",
    "LatentDirichletAllocation",
    "LikelihoodWarning",
    "ModelFileError",
    "ObservedBlocks",
    "Plan",
    "Pooled",
    "Stream",
    "Studies",
    "TablesWarning",
    "Text",
    "UnseenCategoryWarning",
    "WeakMomentsWarning",
    "WeightsComparison",
    "choose_components",
    "compare_weights",
    "load",
    "pool",
    "summed",
    "together",
]


def __getattr__(name: str) -> Any:
    """Public names are loaded when first asked for, so that ``halfseen --help`` need not wait."""
    if name in _MODULES:
        return import_module(f"halfseen.{_MODULES[name]}")
    value = _named(name)
    globals()[name] = value
    return value


def _named(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"halfseen.{_HOMES[name]}"), name)
    registry: Any = import_module("halfseen.models")
    if name in registry.ESTIMATORS:
        return registry.MODELS[registry.ESTIMATORS[name]]
    raise AttributeError(f"module 'halfseen' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({"__version__", *_MODULES, *__all__})
