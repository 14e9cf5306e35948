"""halfseen learns latent-variable models from tables with gaps."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfseen.core.errors import (
        DataError,
        DroppedFeatureWarning,
        LikelihoodWarning,
        ModelFileError,
        WeakMomentsWarning,
    )
    from halfseen.engines.files import Files
    from halfseen.estimators import (
        Choice,
        GammaPoisson,
        GaussianMixture,
        ObservedBlocks,
        Stream,
        WeightsComparison,
        choose_components,
        compare_weights,
        load,
    )

__version__ = "0.1.0"

__all__ = [
    "Choice",
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
    "WeightsComparison",
    "choose_components",
    "compare_weights",
    "load",
]

_ERRORS = {name for name in __all__ if name.endswith(("Error", "Warning"))}


def __getattr__(name: str) -> Any:
    """Public names are loaded when first asked for, so that ``halfseen --help`` need not wait."""
    if name not in __all__:
        raise AttributeError(f"module 'halfseen' has no attribute {name!r}")
    value = getattr(import_module(f"halfseen.{_home(name)}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _home(name: str) -> str:
    if name == "Files":
        return "engines.files"
    return "core.errors" if name in _ERRORS else "estimators"
