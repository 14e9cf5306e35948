"""Appendix E: which weights. No figure of the paper shows it; this one does."""

from benchmarks.reproduce.description import Figure, Plan, Point
from benchmarks.reproduce.figures.scale import QUICK_RUNS, RUNS
from benchmarks.reproduce.figures.synthetic import GAPS, TOGETHER
from benchmarks.reproduce.gaps import Gaps, Uniform
from benchmarks.reproduce.measures import angle

NAMES = ("low p", "middling p", "wide p", "high p")
PATTERNS: dict[str, Gaps] = dict(zip(NAMES, GAPS.values(), strict=True))
TITLES = {
    "gaussian": "Gaussian",
    "short topics": "topics, L = 10",
    "topics": "topics, L = 40",
    "long topics": "topics, L = 160",
    "random topics": "random topics",
}
SEMI_SYNTHETIC = ("diagnoses", "newsgroups")


def _points(n_rows: int) -> tuple[Point, ...]:
    settings = [
        (f"{title}, {name}", source, gaps)
        for source, title in TITLES.items()
        for name, gaps in PATTERNS.items()
    ]
    settings += [(f"topics, L = 40, {name}", "topics", gaps) for name, gaps in TOGETHER.items()]
    settings += [
        (f"{source}, p ~ U(0, 0.9)", source, Uniform(0.0, 0.9)) for source in SEMI_SYNTHETIC
    ]
    methods = ("full", "sqrt", "weighted", "signal", "defaults")
    return tuple(
        Point(label, place, n_rows, source, gaps, methods)
        for place, (label, source, gaps) in enumerate(settings)
    )


WEIGHTS = Figure(
    name="weights",
    paper="App. E",
    title="Error with other weights, relative to w = p",
    choices=(
        "The paper's pipeline with w = 1 (its full method), √p, p, and the signal-aware weights "
        "that are our default for topics; beside it our whole pipeline, not refined, which would "
        "take too long here. 10,000 rows. L is the mean length of rows."
    ),
    measure=angle,
    layout="ratios",
    x_label="ε$_c$ / ε$_c$ with w = p (ratio)",
    y_label="",
    full=Plan(_points(10_000), RUNS),
    quick=Plan(_points(5_000), QUICK_RUNS),
)
