"""From a CSV with gaps and columns of text to groups: lines and seconds, in three ways.

Run ``python -m benchmarks.first_answer passengers.csv`` with StepMix installed, on a table whose
columns are named below (Titanic's passengers as R's ``carData`` has them). The scripts are what the
README of StepMix and the guide of scikit-learn lead to: text is coded by hand, gaps are left to
StepMix and filled for scikit-learn, and the number of groups is chosen by BIC. Ours is one command,
and it writes a page too.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import results_file

HALFSEEN = """
halfseen fit {table}
"""
STEPMIX = """
import numpy as np
import pandas as pd
from stepmix import StepMix
from stepmix.utils import get_mixed_descriptor

table = pd.read_csv("{table}").drop(columns=["rownames", "Name"])
for column in ["PClass", "Sex"]:
    codes, _ = pd.factorize(table[column])
    table[column] = np.where(codes < 0, np.nan, codes)
X, descriptor = get_mixed_descriptor(
    table, continuous_nan=["Age"], binary_nan=["Sex", "Survived", "SexCode"],
    categorical_nan=["PClass"])
models = [
    StepMix(k, measurement=descriptor, n_init=10, random_state=0, progress_bar=0, verbose=0).fit(X)
    for k in range(1, 7)]
best = min(models, key=lambda model: model.bic(X))
print(best.n_components, best.get_parameters_df())
"""
SCIKIT_LEARN = """
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

table = pd.read_csv("{table}").drop(columns=["rownames", "Name"])
ready = make_column_transformer(
    (OneHotEncoder(sparse_output=False), ["PClass", "Sex"]),
    (make_pipeline(SimpleImputer(), StandardScaler()), ["Age", "Survived", "SexCode"]))
X = ready.fit_transform(table)
models = [
    GaussianMixture(k, covariance_type="diag", n_init=10, random_state=0).fit(X)
    for k in range(1, 7)]
best = min(models, key=lambda model: model.bic(X))
print(best.n_components, pd.DataFrame(best.means_, columns=ready.get_feature_names_out()))
"""


def told(lines: str, command: list[str], folder: str) -> dict[str, Any]:
    """How much is written, and how long that takes, in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"lines": sum(bool(one.strip()) for one in lines.splitlines()), "processor s": spent}


def main() -> None:
    """Run all three, and keep what they took if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    asked = parser.parse_args()
    table = asked.table.resolve()
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        ours = [sys.executable, "-m", *HALFSEEN.format(table=table).split()]
        figures["halfseen"] = told(HALFSEEN, ours, folder)
        for name, script in {"StepMix": STEPMIX, "scikit-learn": SCIKIT_LEARN}.items():
            path = Path(folder) / "script.py"
            path.write_text(script.format(table=table), "utf-8")
            figures[name] = told(script, [sys.executable, "-W", "ignore", str(path)], folder)
    for name, one in figures.items():
        print(f"{name}: lines {one['lines']}, {one['processor s']:.1f} s of processor")
    if asked.keep:
        results_file.write(
            "first_answer", f"python -m benchmarks.first_answer {table.name}", figures
        )


if __name__ == "__main__":
    main()
