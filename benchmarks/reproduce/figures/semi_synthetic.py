"""Section 5.2: tables drawn from models fitted to real counts. Fig. 5b and c."""

from benchmarks.reproduce.description import Figure, Plan, Point
from benchmarks.reproduce.figures.scale import ANGLE, N_ROWS, QUICK_RUNS, RUNS, methods_on
from benchmarks.reproduce.gaps import Uniform
from benchmarks.reproduce.measures import angle

FITTED = (
    "A gamma-Poisson model is fitted to the real counts by the standard (unweighted) method, and "
    "tables are drawn from it. Probabilities p are drawn anew for each run. "
)


def _points(source: str, panel: str, rows: tuple[int, ...]) -> tuple[Point, ...]:
    return tuple(Point(panel, n, n, source, Uniform(0.0, 0.9), methods_on(source, n)) for n in rows)


def _figure(name: str, paper: str, title: str, choices: str, panel: str) -> Figure:
    return Figure(
        name=name,
        paper=paper,
        title=title,
        choices=FITTED + choices,
        measure=angle,
        layout="groups",
        x_label=N_ROWS,
        y_label=ANGLE,
        full=Plan(_points(name, panel, (3_000, 10_000, 30_000, 100_000)), RUNS),
        quick=Plan(_points(name, panel, (3_000, 15_000)), QUICK_RUNS),
    )


DIAGNOSES = _figure(
    "diagnoses",
    "Fig. 5b",
    "Diagnoses of patients (semi-synthetic)",
    "The paper's autism records are not public: 64 diagnoses at the first and 64 at later stays of "
    "diabetic patients (UCI 296) stand in, and the later ones have gaps. K = 5 as in the paper.",
    "64 of 128 features, p ~ U(0, 0.9)",
)
NEWSGROUPS = _figure(
    "newsgroups",
    "Fig. 5c",
    "Words of newsgroup posts (semi-synthetic)",
    "Which four groups the paper used cannot be told; ours give the same number of posts and "
    "words. The features with gaps are drawn anew for each run. K = 4 as in the paper.",
    "116 of 175 features, p ~ U(0, 0.9)",
)
