"""halfseen learns latent-variable models from tables with gaps."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfseen.doubt import matching as recovery  # noqa: F401
    from halfseen.doubt.choice import Choice
    from halfseen.estimators.plan import Plan
    from halfseen.estimators.stream import Stream
    from halfseen.imputer.estimator import Imputer
    from halfseen.imputer.pool import Pooled, pool
    from halfseen.models import simulate as simulate
    from halfseen.models.gamma_poisson.estimator import GammaPoisson
    from halfseen.models.gaussian_mixture.estimator import GaussianMixture
    from halfseen.models.latent_class.estimator import LatentClass
    from halfseen.models.lda.estimator import LatentDirichletAllocation
    from halfseen.public.choose_components import choose_components
    from halfseen.public.compare_weights import WeightsComparison, compare_weights
    from halfseen.public.load import load
    from halfseen.public.summed import summed
    from halfseen.rows.errors import (
        DataError,
        DroppedFeatureWarning,
        IdentifierWarning,
        LikelihoodWarning,
        ModelFileError,
        TablesWarning,
        UnseenCategoryWarning,
        WeakMomentsWarning,
    )
    from halfseen.tables.files import Files
    from halfseen.tables.observed_blocks import ObservedBlocks
    from halfseen.tables.studies import Studies, together
    from halfseen.tables.text import Text

__version__ = "0.2.0"

_HOMES = {
    "Choice": "doubt.choice",
    "DataError": "rows.errors",
    "DroppedFeatureWarning": "rows.errors",
    "Files": "tables.files",
    "IdentifierWarning": "rows.errors",
    "Imputer": "imputer.estimator",
    "LikelihoodWarning": "rows.errors",
    "ModelFileError": "rows.errors",
    "ObservedBlocks": "tables.observed_blocks",
    "Plan": "estimators.plan",
    "Pooled": "imputer.pool",
    "Stream": "estimators.stream",
    "Studies": "tables.studies",
    "TablesWarning": "rows.errors",
    "Text": "tables.text",
    "UnseenCategoryWarning": "rows.errors",
    "WeakMomentsWarning": "rows.errors",
    "WeightsComparison": "public.compare_weights",
    "choose_components": "public.choose_components",
    "compare_weights": "public.compare_weights",
    "load": "public.load",
    "pool": "imputer.pool",
    "summed": "public.summed",
    "together": "tables.studies",
}
_MODULES = {"recovery": "doubt.matching", "simulate": "models.simulate"}
__all__ = [
    "Choice",
    "DataError",
    "DroppedFeatureWarning",
    "Files",
    "GammaPoisson",
    "GaussianMixture",
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
    return sorted({*globals(), *__all__})
