"""From results to the comparisons that a claim is about."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from benchmarks.reproduce.description import Point
from benchmarks.reproduce.measures import TEST_SHARE
from benchmarks.reproduce.store import Results
from benchmarks.reproduce.verdicts import FEWEST_RUNS, Comparison, Evidence
from halfseen.data.arrays import Array

Measured = Mapping[str, Results]
"""The results at hand, by figure."""

Gather = Callable[[Measured], Evidence | None]
"""The evidence on a claim, if it was measured."""

Where = Callable[[Point], bool]

MARGIN = 0.05
"""A ratio of errors within 5 %, or a likelihood within 0.05 nats a row, is as good as equal."""

COST_MARGIN = 0.10
FLAT = 0.125
"""The slope of log error on log N below which more rows do next to nothing: a quarter of the 1/2
by which errors fall when nothing stands in the way."""


def ratio_text(mean: float, standard_error: float) -> str:
    """A ratio of geometric means."""
    ratio = np.exp(mean)
    return f"{ratio:.3f} ± {ratio * standard_error:.3f}"


def nats_text(mean: float, standard_error: float) -> str:
    """A gain in log-likelihood, from a loss."""
    return f"{-mean:+.3f} ± {standard_error:.3f} nats"


def slope_text(mean: float, standard_error: float) -> str:
    """A slope, from how much steeper than :data:`FLAT` it is."""
    return f"slope {-(mean + FLAT):.3f} ± {standard_error:.3f}"


def anywhere(point: Point) -> bool:
    """All points."""
    return True


def among(*groups: str) -> Where:
    """The points of some groups."""
    return lambda point: point.group in groups


def label(results: Results, point: Point) -> str:
    """A point in words."""
    if results.figure.layout == "ratios":
        return point.group
    several = len({p.group for p in results.points}) > 1
    x = f"{_symbol(results)} = {point.x:,.0f}"
    return f"{point.group}, {x}" if several else x


def _symbol(results: Results) -> str:
    return "N_p" if "partial samples" in results.figure.x_label else "N"


def errors_ratio(
    figure: str, method: str, against: str, where: Where = anywhere, margin: float = MARGIN
) -> Gather:
    """ε of a method over ε of another, wherever both were measured."""
    return _gathered(figure, where, lambda get: _log_ratio(get(method), get(against)), margin)


def over_better(figure: str, method: str, others: tuple[str, ...]) -> Gather:
    """ε of a method over ε of the best of others: the best on average in that setting."""

    def differences(get: "Get") -> Array | None:
        candidates = [_log_ratio(get(method), get(other)) for other in others]
        known = [c for c in candidates if c is not None]
        return max(known, key=lambda c: float(c.mean())) if len(known) == len(others) else None

    return _gathered(figure, anywhere, differences, MARGIN)


def likelihood_lost(figure: str, method: str, against: str) -> Gather:
    """How much less likely held-out rows are under a method than under another."""

    def gather(measured: Measured) -> Evidence | None:
        overlap = TEST_SHARE / (1 - TEST_SHARE)
        comparisons = [
            Comparison(place, b - a, overlap)
            for place, get in _places(measured, figure, anywhere)
            if (a := get(method)) is not None and (b := get(against)) is not None
        ]
        return _enough(comparisons, nats_text, MARGIN)

    return gather


def between_points(
    figure: str, method: str, pairs: Callable[[Results], list[tuple[str, int, int]]]
) -> Gather:
    """ε of a method at some points over its ε at others; ``pairs`` label and number them."""

    def gather(measured: Measured) -> Evidence | None:
        comparisons = [
            Comparison(place, ratio)
            for results in _those(measured, figure)
            for place, i, j in pairs(results)
            if (ratio := _log_ratio(results.of(i, method), results.of(j, method))) is not None
        ]
        return _enough(comparisons, ratio_text, MARGIN)

    return gather


def steepness(figure: str, method: str) -> Gather:
    """How much steeper than :data:`FLAT` error falls with x, group by group."""

    def gather(measured: Measured) -> Evidence | None:
        comparisons = [
            Comparison(group, -slopes - FLAT)
            for results in _those(measured, figure)
            for group, places in _groups(results).items()
            if (slopes := _slopes(results, places, method)) is not None
        ]
        return _enough(comparisons, slope_text, 0.0)

    return gather


def with_most_and_least(results: Results) -> list[tuple[str, int, int]]:
    """At each x, the point of the last group and that of the first."""
    groups = list(_groups(results).values())
    return [
        (f"N = {results.points[first].x:,.0f}", last, first)
        for first, last in zip(groups[0], groups[-1], strict=True)
    ]


def each_and_the_one_before(results: Results) -> list[tuple[str, int, int]]:
    """Neighbours along x."""
    return [(f"N_p = {results.points[i].x:,.0f}", i, i - 1) for i in range(1, len(results.points))]


Get = Callable[[str], Array | None]


def _groups(results: Results) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for i, point in enumerate(results.points):
        groups.setdefault(point.group, []).append(i)
    return groups


def _slopes(results: Results, places: list[int], method: str) -> Array | None:
    """The slope of log error on log x, run by run; (runs,)."""
    columns = [column for i in places if (column := results.of(i, method)) is not None]
    if len(columns) < len(places):
        return None
    x = np.log([results.points[i].x for i in places])
    slopes: Array = np.polyfit(x, np.log(np.array(columns)), 1)[0]
    return slopes


def _those(measured: Measured, figure: str) -> list[Results]:
    """The results of a figure, if there are any."""
    return [measured[figure]] if figure in measured else []


def _places(measured: Measured, figure: str, where: Where) -> Iterator[tuple[str, Get]]:
    for results in _those(measured, figure):
        for i, point in enumerate(results.points):
            if where(point):
                yield label(results, point), partial(results.of, i)


def _gathered(
    figure: str, where: Where, differences: Callable[[Get], Array | None], margin: float
) -> Gather:
    def gather(measured: Measured) -> Evidence | None:
        comparisons = [
            Comparison(place, found)
            for place, get in _places(measured, figure, where)
            if (found := differences(get)) is not None
        ]
        return _enough(comparisons, ratio_text, margin)

    return gather


def _enough(
    comparisons: list[Comparison], show: Callable[[float, float], str], margin: float
) -> Evidence | None:
    if not comparisons or min(len(c.differences) for c in comparisons) < FEWEST_RUNS:
        return None
    size = np.log1p(margin) if show is ratio_text else margin
    return Evidence(tuple(comparisons), show, float(size))


def _log_ratio(numerator: Array | None, denominator: Array | None) -> Array | None:
    if numerator is None or denominator is None:
        return None
    ratio: Array = np.log(numerator) - np.log(denominator)
    return ratio
