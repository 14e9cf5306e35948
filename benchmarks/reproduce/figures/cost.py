"""Section 4, running time: seconds, which are never the same twice."""

from benchmarks.reproduce.description import Figure, Plan, Point
from benchmarks.reproduce.figures.scale import N_ROWS, QUICK_RUNS, RUNS
from benchmarks.reproduce.figures.synthetic import GAPS, WIDE
from benchmarks.reproduce.measures import seconds

METHODS = ("full", "partial", "weighted", "defaults")
MODELS = {"gaussian": "Gaussian mixture", "topics": "gamma-Poisson"}


def _points(rows: tuple[int, ...]) -> tuple[Point, ...]:
    return tuple(
        Point(panel, n, n, source, GAPS[WIDE], METHODS)
        for source, panel in MODELS.items()
        for n in rows
    )


COST = Figure(
    name="cost",
    paper="Section 4",
    title="Time of a fit, weighted and not",
    choices=(
        "The shortest of five fits by each method, taken in turns, on one thread. Where full "
        "takes longer, it is the power method that stops later on a noisier tensor. Refining is a "
        "choice to spend more and is not timed here. The one file of results that differs from "
        "run to run."
    ),
    measure=seconds,
    layout="groups",
    x_label=N_ROWS,
    y_label="time of a fit (seconds)",
    full=Plan(_points((10_000, 30_000, 100_000)), RUNS),
    quick=Plan(_points((10_000, 30_000)), QUICK_RUNS),
    repeatable=False,
)
