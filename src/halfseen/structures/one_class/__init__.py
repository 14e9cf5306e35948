"""One component a row: mixtures, whatever their columns are."""

from halfseen.structures.one_class.emission import Emission
from halfseen.structures.one_class.model import OneClass, anything

__all__ = ["Emission", "OneClass", "anything"]
