"""R's libraries, called by ``Rscript``: tables go and come as files."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.bench.normals import Mixture, Table
from halfseen.data.arrays import Array

SHAPES = {"diag": "VVI", "spherical": "VII", "full": "VVV"}
MCLUST = """
suppressPackageStartupMessages(library(mclust))
asked <- commandArgs(trailingOnly = TRUE)
X <- matrix(readBin(asked[1], "double", 1e9), ncol = as.integer(asked[3]))
set.seed(1)
from <- list(subset = sample(nrow(X), min(nrow(X), 2000)))
found <- Mclust(X, G = eval(parse(text = asked[4])), modelNames = asked[5],
                initialization = from, verbose = FALSE)
of <- found$parameters
writeBin(c(of$pro, t(of$mean), of$variance$sigma), asked[2])
"""


def _run(program: str, given: Array, *asked: str) -> Array:
    """What a program of R writes, of what it reads."""
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("it.R", "in", "out")]
        Path(files[0]).write_text(program)
        np.asfortranarray(given).ravel(order="F").tofile(files[1])
        call = ["Rscript", *files, *asked]
        told = subprocess.run(call, capture_output=True, text=True, check=False)
        if told.returncode:
            raise RuntimeError(" ".join(told.stderr.split())[-200:])
        found: Array = np.fromfile(files[2])
    return found


def mclust(table: Table, threads: int) -> Mixture:
    """Of as many components as there are."""
    return chosen(table.X, str(table.k), SHAPES[table.kind])


def chosen(X: Array, numbers: str, shapes: str) -> Mixture:
    """Of the number that it chooses among ``numbers`` in R's writing."""
    d = X.shape[1]
    found = _run(MCLUST, X, str(d), numbers, shapes)
    k = len(found) // (1 + d + d * d)
    weights, means, rest = np.split(found, [k, k + k * d])
    return Mixture(weights, means.reshape(d, k).T, rest.reshape(k, d, d))
