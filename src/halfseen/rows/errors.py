"""What the package raises and warns of.

Every message says what is wrong, with names and values, and then what to do about it.
"""


class DataError(ValueError):
    """The data cannot give what was asked for."""


class ModelFileError(DataError):
    """The file does not hold a model, or not one that this version can read."""


class WeakMomentsWarning(UserWarning):
    """The moments are so uncertain that the model should not be trusted blindly."""


class DroppedFeatureWarning(UserWarning):
    """A feature says nothing about the model and was left out of the fit."""


class LikelihoodWarning(UserWarning):
    """Likelihoods were estimated with too large an error to compare models by."""
