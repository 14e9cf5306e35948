"""The wheel installed in environments of its own: alone, and with each extra alone.

``make test-package`` runs it. It needs what the tests need, and a package index.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyreadr
import pyreadstat

ROOT = Path(__file__).parents[1]
FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)).round(3), columns=list("abc"))
FIT = "import halfseen; m = halfseen.GaussianMixture(1).fit({}); assert m.means_.shape == (1, 3)"
ARRAY = "__import__('numpy').random.default_rng(0).normal(size=(60, 3))"


def tables(folder: Path) -> dict[str, str]:
    """A table in a format that each extra reads, by the extra; with none first."""
    FRAME.to_csv(folder / "t.csv", index=False)
    FRAME.to_excel(folder / "t.xlsx", index=False)
    pyreadstat.write_sav(FRAME, folder / "t.sav")
    pyreadr.write_rds(str(folder / "t.rds"), FRAME)
    with duckdb.connect(str(folder / "t.duckdb")) as base:
        base.register("frame", FRAME)
        base.execute("create table t as select * from frame")
    base = sqlite3.connect(folder / "t.sqlite")
    FRAME.to_sql("t", base, index=False)
    base.close()
    ends = {"": "csv", "excel": "xlsx", "stats": "sav", "r": "rds", "duckdb": "duckdb"}
    return {extra: str(folder / f"t.{end}") for extra, end in ends.items()}


def tries(folder: Path) -> dict[str, list[str]]:
    """What is tried with each extra alone; with none first."""
    found = tables(folder)
    files = {extra: [FIT.format(repr(path))] for extra, path in found.items()}
    address = f"sqlite:///{folder / 't.sqlite'}"
    page = f"m.report({ARRAY}, {str(folder / 'page.html')!r})"
    return {
        **files,
        "": [
            *files[""],
            FIT.format(ARRAY) + f"; {page}",
            "import sys; from halfseen.cli import main; "
            "sys.argv = ['halfseen', 'demo', '--force']; main()",
            "import halfseen.cli.fit",
        ],
        **dict.fromkeys(("cli", "io", "report"), files[""]),  # names of 0.2, which add nothing
        "sql": [FIT.format(f"halfseen.Files({address!r}, table='t')")],
        "plots": [
            "import matplotlib; matplotlib.use('Agg'); "
            + FIT.format(ARRAY)
            + "; import halfseen.plots; halfseen.plots.spectrum(m)"
        ],
        "dask": [FIT.format(f"__import__('dask.array').array.from_array({ARRAY}, chunks=(20, 3))")],
    }


def environment(folder: Path, name: str, like: Path | None) -> Path:
    """A new environment, with the libraries of another one, if it is to be ``like`` that."""
    made = folder / name
    options = [] if like is None else ["--without-pip"]
    subprocess.run([sys.executable, "-m", "venv", *options, made], check=True)
    if like is not None:
        for libraries in like.glob("lib/python*/site-packages"):
            there = made / libraries.relative_to(like)
            shutil.copytree(libraries, there, copy_function=os.link, dirs_exist_ok=True)
    return made


def install(made: Path, what: str) -> None:
    """Install a requirement."""
    pip = [made / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile"]
    options = ["--disable-pip-version-check", "-c", ROOT / "constraints.txt"]
    subprocess.run([*pip, *options, what], check=True)


def built(folder: Path) -> Path:
    """The wheel, made from the sdist, as an index would have it made."""
    code = (
        "from hatchling import build; import sys, tarfile, os; os.chdir(sys.argv[1]); "
        "name = build.build_sdist(sys.argv[2]); os.chdir(sys.argv[2]); "
        "tarfile.open(name).extractall('.', filter='data'); "
        "os.chdir(name.removesuffix('.tar.gz')); print(build.build_wheel(sys.argv[2]))"
    )
    made = subprocess.run(
        [sys.executable, "-c", code, ROOT, folder], capture_output=True, text=True, check=True
    )
    return folder / made.stdout.split()[-1]


def main(only: list[str]) -> None:
    """Try what is named, or all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, every = built(folder), tries(folder)
        core = environment(folder, "core", None)
        install(core, str(wheel))
        clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        for extra in only or every:
            began = time.monotonic()
            made = core
            if extra:
                made = environment(folder, extra, core)
                install(made, f"halfseen[{extra}] @ {wheel.as_uri()}")
            for code in every[extra]:
                subprocess.run([made / "bin/python", "-c", code], check=True, cwd=folder, env=clean)
            print(f"{extra or 'alone'}: well, in {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
