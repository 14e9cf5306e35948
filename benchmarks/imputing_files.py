"""Time and memory of ``halfseen impute`` on files of more and more rows.

Tables of twelve mixed columns, a tenth of the cells empty, are written as Parquet a part at a time,
and filled by a process of its own, whose peak of memory must not grow with the rows.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROWS = (100_000, 400_000, 1_600_000)
PART = 100_000
CALL = "from halfseen.cli.app import app; app()"


def part(seed: int) -> Any:
    """Some rows: groups, numbers that share a factor, counts and words."""
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    group, factor = rng.integers(3, size=PART), rng.normal(size=PART)
    columns: dict[str, Any] = {
        f"x{j}": (group * (j % 3) + factor + rng.normal(size=PART)).round(2) for j in range(8)
    }
    columns["visits"] = rng.poisson(1.0 + group).astype(float)
    for j, words in enumerate((("no", "yes"), ("red", "green", "blue"), ("low", "mid", "high"))):
        place = (group + (rng.random(PART) < 0.2)) % len(words)
        columns[f"word{j}"] = np.array(words)[place]
    gaps = (rng.random(PART) < 0.1 for _ in columns)
    cells = zip(columns.items(), gaps, strict=True)
    return pa.table({name: pa.array(column, mask=gap) for (name, column), gap in cells})


def files(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """A process for each number of rows."""
    return [_filled(rows) for rows in ROWS]


def _filled(n_rows: int) -> dict[str, Any]:
    from pyarrow import parquet

    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "it.parquet", Path(folder) / "out.parquet"
        with parquet.ParquetWriter(source, part(0).schema) as writer:
            for number in range(n_rows // PART):
                writer.write_table(part(number))
        call = [sys.executable, "-c", CALL, "impute", str(source), "--out", str(out), "--json"]
        null = os.open(os.devnull, os.O_WRONLY)
        told = [(os.POSIX_SPAWN_DUP2, null, 1)]
        child = os.posix_spawn(sys.executable, call, os.environ, file_actions=told)
        _, status, used = os.wait4(child, 0)
        os.close(null)
        if status:
            raise RuntimeError(f"halfseen impute of {n_rows:,} rows ended with {status}.")
        written = parquet.ParquetFile(out).metadata.num_rows
    found = {
        "table": f"{n_rows:,} rows",
        "rows written": written,
        "file of floats, MB": round(8 * 12 * n_rows / 1e6),
        "seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak MB": round(used.ru_maxrss / 1024),
    }
    print(found, flush=True)
    return found
