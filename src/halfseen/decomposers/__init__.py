"""Ways to decompose a small symmetric tensor into orthonormal components."""

from halfseen.core.decomposition import Decomposer
from halfseen.decomposers.jennrich import jennrich
from halfseen.decomposers.joint import joint
from halfseen.decomposers.power import power

DECOMPOSERS: dict[str, Decomposer] = {"joint": joint, "power": power, "jennrich": jennrich}
