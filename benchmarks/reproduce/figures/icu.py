"""Section 5.3: real rows of intensive care. Fig. 6."""

from benchmarks.reproduce.description import Figure, Plan, Point
from benchmarks.reproduce.figures.scale import QUICK_RUNS, RUNS
from benchmarks.reproduce.gaps import LeftOut
from benchmarks.reproduce.measures import held_out
from benchmarks.reproduce.methods import EVERY

EVERY_ROW = 1_000_000  # more than there are


def _points(n_rows: int) -> tuple[Point, ...]:
    # The gaps are those of the data: none is added.
    return (Point("sepsis", 0, n_rows, "sepsis", LeftOut(0), EVERY),)


ICU = Figure(
    name="icu",
    paper="Fig. 6",
    title="Held-out likelihood of the complete features of an ICU table, K = 6",
    choices=(
        "MIMIC-III may not be passed on: the sepsis table of the PhysioNet/CinC Challenge 2019 "
        "stands in (32 features, 18 of them missing in under 5 % of rows, the others in up to "
        "70 %). Skewed measurements as logarithms, all standardised on the training rows and "
        "clipped at ±6. Each run holds out a fifth of the patients, not of the rows: most values "
        "are carried over from a patient's row before. The likelihood is that of the complete "
        "features alone."
    ),
    measure=held_out,
    layout="boxes",
    x_label="method",
    y_label="held-out log-likelihood (nats per row)",
    full=Plan(_points(EVERY_ROW), RUNS),
    quick=Plan(_points(20_000), QUICK_RUNS),
)
