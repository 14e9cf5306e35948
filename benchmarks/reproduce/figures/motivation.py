"""Section 3: what incomplete features are worth. Figs. 2 and 3."""

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
from benchmarks.reproduce.gaps import LeftOut, PartialRows
from benchmarks.reproduce.measures import angle

N_PARTIAL = "number of partial samples N$_p$ (thousand rows)"


def _extra_features(rows: tuple[int, ...]) -> tuple[Point, ...]:
    methods = ("full", "defaults", "refined")  # with no gaps the paper's methods are one
    return tuple(
        Point(
            f"{extra} extra features",
            n,
            n,
            "topics",
            LeftOut(extra),
            methods_on("topics", n, methods),
        )
        for extra in range(5)
        for n in rows
    )


def _partial_rows(whole: tuple[int, ...], partial: tuple[int, ...]) -> tuple[Point, ...]:
    return tuple(
        Point(
            f"{n_whole:,} full samples",
            n,
            n_whole + n,
            "topics",
            PartialRows(n_whole),
            methods_on("topics", n_whole + n),
        )
        for n_whole in whole
        for n in partial
    )


DIMENSIONALITY = Figure(
    name="dimensionality",
    paper="Fig. 2a",
    title="Error on six features of interest, with 0 to 4 extra features used",
    choices="No gaps, so the paper's three methods are one and the same, shown as full.",
    measure=angle,
    layout="methods",
    x_label=N_ROWS,
    y_label=ANGLE,
    full=Plan(_extra_features(ROWS), RUNS),
    quick=Plan(_extra_features(QUICK_ROWS), QUICK_RUNS),
)

PARTIAL_SAMPLES = Figure(
    name="partial-samples",
    paper="Fig. 2b",
    title="Error against the number of partial samples, for several numbers of full samples",
    choices="The paper shows its full method; the others stand beside it.",
    measure=angle,
    layout="methods",
    x_label=N_PARTIAL,
    y_label=ANGLE,
    full=Plan(
        _partial_rows((1_000, 3_000, 10_000), (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)),
        RUNS,
    ),
    quick=Plan(_partial_rows((1_000, 5_000), (1_000, 10_000, 100_000)), QUICK_RUNS),
)

TOPIC_SHAPES = Figure(
    name="topics",
    paper="Fig. 2c",
    title="The topics of the synthetic gamma-Poisson example",
    choices=(
        "The paper shows the topics but prints no numbers: these have a peak each and overlap in "
        "every feature. Loadings have shape c = 0.5 each, and rows a mean length of 40 counts."
    ),
    measure=angle,
    layout="topics",
    x_label="feature d",
    y_label="share a$_{dk}$ of the topic's counts",
    full=Plan((), 0),
    quick=Plan((), 0),
)

CROSSOVER = Figure(
    name="crossover",
    paper="Figs. 3 and 5a",
    title="Error against the number of partial samples, beside 10,000 full ones",
    choices=(
        "The paper shows full and partial in Fig. 3, and adds weighted in what we take to be the "
        "same setting in Fig. 5a."
    ),
    measure=angle,
    layout="groups",
    x_label=N_PARTIAL,
    y_label=ANGLE,
    full=Plan(
        _partial_rows((10_000,), (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)),
        RUNS,
    ),
    quick=Plan(_partial_rows((10_000,), (1_000, 10_000, 100_000, 300_000)), QUICK_RUNS),
)
