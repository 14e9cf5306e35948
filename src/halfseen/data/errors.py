"""Errors and warnings of the package.

Every message says what is wrong, with names and values, and then what to do about it.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

BETWEEN = ("halfseen", "sklearn", "joblib")
"""Packages whose lines are not the user's: pipelines and searches call estimators through them."""


class DataError(ValueError):
    """The data cannot give what was asked for."""


class NumericalDataError(DataError):
    """Values of some columns are too large, too small or too equal to compute with."""

    def __init__(self, message: str, columns: Sequence[str] = (), *, filled: bool = False):
        super().__init__(message)
        self.columns = tuple(columns)
        self.filled = filled  # whether one of them stands for a gap


class ModelFileError(DataError):
    """The file does not hold a model, or not one that this version can read."""


class WeakMomentsWarning(UserWarning):
    """The moments are so uncertain that the model should not be trusted blindly."""


class DroppedFeatureWarning(UserWarning):
    """A feature holds no information for the model and was left out of the fit."""


class IdentifierWarning(UserWarning):
    """A feature looks like an identifier and was used as a measurement."""


class UnseenCategoryWarning(UserWarning):
    """New rows hold categories that were not in the fit; they count as gaps."""


class TablesWarning(UserWarning):
    """Several combined tables disagree."""


class LikelihoodWarning(UserWarning):
    """Estimated likelihoods have too large an error to compare models."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code that called the library."""
    inside = tuple(_folder(name) for name in BETWEEN if name in sys.modules)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _folder(package: str) -> str:
    return str(Path(str(sys.modules[package].__file__)).parent) + os.sep
