"""Section 5.1 and appendix D: synthetic tables. Figs. 4, 5a and 8."""

from benchmarks.reproduce.description import Figure, Plan, Point
from benchmarks.reproduce.figures.scale import (
    ANGLE,
    N_ROWS,
    QUICK_ROWS,
    QUICK_RUNS,
    ROWS,
    RUNS,
    methods_on,
)
from benchmarks.reproduce.gaps import Gaps, Independent, Together
from benchmarks.reproduce.measures import angle
from benchmarks.reproduce.synthetic import PATTERNS

GAPS: dict[str, Gaps] = {
    f"p = ({', '.join(map(str, observed))})": Independent(observed)
    for observed in PATTERNS.values()
}
LOW, MID, WIDE, HIGH = GAPS

TOGETHER: dict[str, Gaps] = {f"p = {p}, all together": Together(p) for p in (0.05, 0.2, 0.6)}

VECTORS = (
    "The paper's four vectors p are not printed: ours are low, middling, wide apart and high, for "
    "the four incomplete features; the other six are complete. "
)


def _against_rows(source: str, gaps: dict[str, Gaps], rows: tuple[int, ...]) -> tuple[Point, ...]:
    return tuple(
        Point(panel, n, n, source, pattern, methods_on(source, n))
        for panel, pattern in gaps.items()
        for n in rows
    )


def _figure(
    name: str, paper: str, title: str, choices: str, source: str, gaps: dict[str, Gaps], runs: int
) -> Figure:
    return Figure(
        name=name,
        paper=paper,
        title=title,
        choices=choices,
        measure=angle,
        layout="groups",
        x_label=N_ROWS,
        y_label=ANGLE,
        full=Plan(_against_rows(source, gaps, ROWS), runs),
        quick=Plan(_against_rows(source, gaps, QUICK_ROWS), QUICK_RUNS),
    )


GAUSSIAN = _figure(
    "gaussian",
    "Fig. 4, left",
    "Mixtures of four Gaussians in ten dimensions",
    VECTORS
    + "As in the paper, means are drawn from N(0, 100), shares from Dir(1), and σ² = 100; new "
    "ones for each run.",
    "gaussian",
    GAPS,
    RUNS,
)
GAMMA_POISSON = _figure(
    "gamma-poisson", "Fig. 4, right", "The topics of Fig. 2c", VECTORS, "topics", GAPS, RUNS
)
CORRELATED = _figure(
    "correlated",
    "Fig. 5a",
    "The four incomplete features missing together",
    "Each row has all four incomplete features with probability p, or none of them. The pattern of "
    "Fig. 1b with a fixed number of full samples is in the figure `crossover`.",
    "topics",
    TOGETHER,
    RUNS,
)
RANDOM_TOPICS = _figure(
    "random-topics",
    "App. D",
    "Topics drawn from Dir(1), new ones for each run",
    VECTORS,
    "random topics",
    GAPS,
    25,
)
