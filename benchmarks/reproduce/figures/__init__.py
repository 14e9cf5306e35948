"""The figures, in the paper's order."""

from benchmarks.reproduce.description import Figure
from benchmarks.reproduce.figures.cost import COST
from benchmarks.reproduce.figures.icu import ICU
from benchmarks.reproduce.figures.motivation import (
    CROSSOVER,
    DIMENSIONALITY,
    PARTIAL_SAMPLES,
    TOPIC_SHAPES,
)
from benchmarks.reproduce.figures.semi_synthetic import DIAGNOSES, NEWSGROUPS
from benchmarks.reproduce.figures.synthetic import (
    CORRELATED,
    GAMMA_POISSON,
    GAUSSIAN,
    RANDOM_TOPICS,
)
from benchmarks.reproduce.figures.weights import WEIGHTS

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        DIMENSIONALITY,
        PARTIAL_SAMPLES,
        TOPIC_SHAPES,
        CROSSOVER,
        GAUSSIAN,
        GAMMA_POISSON,
        CORRELATED,
        DIAGNOSES,
        NEWSGROUPS,
        ICU,
        RANDOM_TOPICS,
        WEIGHTS,
        COST,
    )
}
