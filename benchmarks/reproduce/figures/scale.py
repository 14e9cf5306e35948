"""What the figures share: numbers of rows and runs, in full and quick, and labels."""

from benchmarks.reproduce.methods import EVERY
from benchmarks.reproduce.sources import SOURCES

ROWS = (1_000, 3_000, 10_000, 30_000, 100_000)
QUICK_ROWS = (1_000, 5_000, 20_000)
RUNS, QUICK_RUNS = 20, 5

SAEM_ROWS = 13_000
"""Stochastic EM takes seconds on so many rows, and minutes on many more."""

ANGLE = "error ε$_c$ (radians)"
N_ROWS = "number of samples N (thousand rows)"


def methods_on(source: str, n_rows: int, methods: tuple[str, ...] = EVERY) -> tuple[str, ...]:
    """The methods without those that would take too long."""
    slow = SOURCES[source].model == "gamma-poisson" and n_rows > SAEM_ROWS
    return tuple(name for name in methods if not (slow and name == "refined"))
