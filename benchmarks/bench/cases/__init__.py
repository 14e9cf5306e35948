"""The cases, by name."""

from benchmarks.bench.case import Case
from benchmarks.bench.cases import (
    chains,
    classes,
    filling,
    growing,
    large,
    mixtures,
    number,
    starting,
    topics,
)

CASES: dict[str, Case] = {
    one.name: one
    for one in (
        mixtures.WITH_GAPS,
        mixtures.WITHOUT,
        growing.COMPONENTS,
        growing.COLUMNS,
        filling.MIXED,
        classes.CLASSES,
        chains.CHAINS,
        topics.GAPS,
        topics.SPARSE,
        topics.TEXT,
        filling.NUMBERS,
        number.NUMBER,
        large.LARGE,
        starting.STARTING,
    )
}
