"""One component a row: mixtures, whatever their columns are."""

from halfseen.structures.one_class.emission import Emission, Pull
from halfseen.structures.one_class.form import Centred
from halfseen.structures.one_class.from_zero import FromZero
from halfseen.structures.one_class.model import OneClass, anything

__all__ = ["Centred", "Emission", "FromZero", "OneClass", "Pull", "anything"]
