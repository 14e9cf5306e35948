"""One component a row: mixtures, whatever their columns are."""

from halfseen.distributions.emission import Emission, Pull
from halfseen.distributions.exponential_family import FromZero
from halfseen.latent.mixture.model import OneClass
from halfseen.latent.mixture.moment_tensor import Centred

__all__ = ["Centred", "Emission", "FromZero", "OneClass", "Pull"]
