"""2,000 simulated patients of a clinic: vital signs for all, blood tests for some.

``python -m halfseen.datasets`` writes the table again, the same to the last digit.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from halfseen.data.arrays import Array, Labels
from halfseen.models import simulate

PATH = Path(__file__).parent / "clinic.csv"


class Measurement(NamedTuple):
    """A column: what healthy people have, and in what fraction of patients it is seen."""

    name: str
    unit: str
    typical: float
    spread: float
    digits: int
    observed: float


MEASUREMENTS = (
    Measurement("temperature", "°C", 36.8, 0.4, 1, 1.0),
    Measurement("heart rate", "/min", 75, 10, 0, 1.0),
    Measurement("systolic pressure", "mmHg", 122, 12, 0, 0.99),
    Measurement("diastolic pressure", "mmHg", 77, 8, 0, 0.99),
    Measurement("breathing rate", "/min", 15, 2, 1, 0.98),
    Measurement("oxygen saturation", "%", 97.0, 1.2, 1, 0.97),
    Measurement("white cells", "10⁹/L", 7.0, 1.8, 1, 0.5),
    Measurement("creatinine", "µmol/L", 80, 14, 0, 0.4),
    Measurement("platelets", "10⁹/L", 260, 50, 0, 0.4),
    Measurement("lactate", "mmol/L", 1.2, 0.4, 2, 0.2),
    Measurement("bilirubin", "µmol/L", 10, 3.5, 1, 0.1),
)

# How four groups of patients differ from healthy people, in spreads; and how common they are.
GROUP_SHARES = (0.5, 0.2, 0.18, 0.12)
GROUPS = (
    (0.1, 0.1, 0.1, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (3.0, 3.0, -2.5, -2.0, 2.5, -1.0, 4.0, 2.0, -1.5, 4.5, 1.0),
    (1.0, 1.5, 0.0, 0.0, 3.5, -3.5, 1.5, 0.0, 0.5, 0.5, 0.0),
    (-0.5, 0.5, 3.0, 2.5, 0.5, 0.0, 0.0, 6.0, -1.0, 0.5, 3.0),
)


@dataclass(frozen=True, eq=False)
class Clinic:
    """The table, its columns, and what is normal."""

    measurements: tuple[Measurement, ...]
    values: Array  # (n, d)  in units, NaN in the gaps

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [m.name for m in self.measurements]

    @property
    def typical(self) -> Array:
        """Healthy people's means; (d,)."""
        return np.array([m.typical for m in self.measurements])

    @property
    def spread(self) -> Array:
        """Healthy people's standard deviations; (d,)."""
        return np.array([m.spread for m in self.measurements])

    @property
    def scores(self) -> Array:
        """Deviations from healthy people's means in their standard deviations; (n, d)."""
        return (self.values - self.typical) / self.spread


def load_clinic() -> Clinic:
    """The bundled table.

    >>> load_clinic().values.shape
    (2000, 11)
    """
    with PATH.open(newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    values = np.array([[float(cell) if cell else np.nan for cell in line] for line in lines])
    return Clinic(MEASUREMENTS, values)


def simulate_clinic(n_patients: int = 2000, seed: int = 20) -> tuple[Clinic, Labels]:
    """The table as it was made, and the true group of each patient."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(len(GROUP_SHARES), size=n_patients, p=GROUP_SHARES)
    scores = np.asarray(GROUPS)[groups]
    scores = scores + rng.standard_normal(scores.shape)
    scores = simulate.independent_gaps(scores, [m.observed for m in MEASUREMENTS], rng)
    columns = [
        np.round(m.typical + m.spread * column, m.digits)
        for m, column in zip(MEASUREMENTS, scores.T, strict=True)
    ]
    return Clinic(MEASUREMENTS, np.column_stack(columns)), groups


def as_csv(clinic: Clinic) -> str:
    """The table as comma-separated text, gaps being empty."""
    lines = [",".join(clinic.names)]
    for row in clinic.values:
        cells = zip(row, clinic.measurements, strict=True)
        lines.append(",".join("" if np.isnan(x) else f"{x:.{m.digits}f}" for x, m in cells))
    return "\n".join(lines) + "\n"
