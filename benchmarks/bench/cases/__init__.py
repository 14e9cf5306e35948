"""The cases, by name."""

from benchmarks.bench.case import Case
from benchmarks.bench.cases import chains, mixtures, starting

CASES: dict[str, Case] = {
    one.name: one
    for one in (mixtures.WITH_GAPS, mixtures.WITHOUT, chains.CHAINS, starting.STARTING)
}
