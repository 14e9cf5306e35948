"""What the sepsis table can say: gaps that tell, and intervals by row and by patient.

Run ``python -m benchmarks.sepsis_sureness``. Rows are four-hour windows, most of whose
values are carried forward, so that those of one patient are far from independent.
"""

import argparse
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.reproduce import sepsis
from halfseen import GaussianMixture
from halfseen.data.arrays import Array

N_GROUPS = 6


def standardised() -> tuple[Any, Array]:
    """All stays on a common scale, in columns with names, and whose they are."""
    import pyarrow as pa

    stays = sepsis.load()
    mean, spread = np.nanmean(stays.values, axis=0), np.nanstd(stays.values, axis=0)
    values = np.clip((stays.values - mean) / spread, -sepsis.LIMIT, sepsis.LIMIT)
    return pa.table(list(values.T), names=list(stays.names)), np.asarray(stays.patients)


def widths(model: GaussianMixture, X: Any, groups: Any) -> dict[str, Array]:
    """How wide the 95 % intervals of each attribute are."""
    found = model.intervals(X, groups=groups)
    return {name: np.asarray(one.high - one.low) for name, one in found.items()}


def sentences(page: str) -> list[str]:
    """What the chapter on what to distrust says."""
    chapter = page.split('id="distrust"')[1].split("</section>")[0]
    points = re.findall(r"<li>(.*?)</li>", chapter, re.S)
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>|&#39;", "'", point)).strip() for point in points]


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    X, patients = standardised()
    model = GaussianMixture(N_GROUPS, covariance_type="diag").fit(X)
    by_row, by_patient = widths(model, X, None), widths(model, X, patients)
    ratios = {
        name: {
            "median": float(np.median(by_patient[name] / by_row[name])),
            "lowest": float(np.min(by_patient[name] / by_row[name])),
            "highest": float(np.max(by_patient[name] / by_row[name])),
        }
        for name in by_row
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        model.report(X, path, groups=patients)
        said = sentences(path.read_text("utf-8"))
    figures = {
        "rows": len(X),
        "patients": len(np.unique(patients)),
        "interval by patient / by row": ratios,
        "the report says": said,
    }
    for name, figure in figures.items():
        print(name, figure)
    if options.keep:
        command = "python -m benchmarks.sepsis_sureness"
        results_file.write("sepsis_sureness", command, figures)


if __name__ == "__main__":
    main()
