"""The figures, in the paper's order."""

from halfseen.reproduce.description import Figure
from halfseen.reproduce.figures.cost import COST
from halfseen.reproduce.figures.icu import ICU
from halfseen.reproduce.figures.motivation import (
    CROSSOVER,
    DIMENSIONALITY,
    PARTIAL_SAMPLES,
    TOPIC_SHAPES,
)
from halfseen.reproduce.figures.semi_synthetic import DIAGNOSES, NEWSGROUPS
from halfseen.reproduce.figures.synthetic import (
    CORRELATED,
    GAMMA_POISSON,
    GAUSSIAN,
    RANDOM_TOPICS,
)
from halfseen.reproduce.figures.weights import WEIGHTS

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
