"""Ways to decompose a small symmetric tensor into orthonormal components."""

from halfseen.method.decomposers.decomposition import Decomposer
from halfseen.method.decomposers.jennrich import jennrich
from halfseen.method.decomposers.joint import joint
from halfseen.method.decomposers.power import power

DECOMPOSERS: dict[str, Decomposer] = {"joint": joint, "power": power, "jennrich": jennrich}
