"""``halfseen doctor``: versions of libraries, threads, and missing readers."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from halfseen.cli.console import Console
from halfseen.cli.options import Json

CORE = (
    *("numpy", "scipy", "scikit-learn", "numba", "narwhals", "pyarrow", "joblib", "safetensors"),
    *("typer", "rich", "jinja2"),
)
ONCE_EXTRAS = ("pyarrow", "jinja2")
"""Libraries of the core that were extras in 0.2: scripts look for them among these in the JSON."""


class Extra(NamedTuple):
    """An optional library."""

    library: str  # as it is installed
    module: str
    extra: str
    what: str  # it is for


EXTRAS = (
    Extra("python-calamine", "python_calamine", "excel", "Excel and LibreOffice"),
    Extra("pyreadstat", "pyreadstat", "stats", "SPSS, Stata and SAS"),
    Extra("pyreadr", "pyreadr", "r", "R"),
    Extra("duckdb", "duckdb", "duckdb", "DuckDB"),
    Extra("sqlalchemy", "sqlalchemy", "sql", "databases by a connection string"),
    Extra("dask", "dask", "dask", "clusters"),
    Extra("matplotlib", "matplotlib", "plots", "pictures"),
)


def doctor(as_json: Json = False) -> None:
    r"""Say which versions, threads, caches and readers of files there are, and how to get others.

    \b
    For example:
      halfseen doctor
      halfseen doctor --json
    """
    console = Console(as_json)
    core = {name: _version(name) for name in CORE}
    extras = {one.library: _version(one.library) for one in EXTRAS if find_spec(one.module)}
    threads, cache = _threads(), _cache()
    console.say(
        f"halfseen {_version('halfseen')}, Python {platform.python_version()} on {_system()}"
    )
    console.say("")
    console.table("Needed by all", ("library", "version"), list(core.items()), right=2)
    console.say("")
    rows = [
        (one.what, one.library, extras.get(one.library) or f"pip install 'halfseen[{one.extra}]'")
        for one in EXTRAS
    ]
    console.table("For some things", ("for", "library", "version, or how to get it"), rows, right=3)
    console.say("")
    console.say(f"Threads: {threads['cpus']} processors, {threads['blas']} for linear algebra.")
    writable = "written to" if cache["writable"] else "NOT WRITABLE, so that each start is slow"
    console.say(f"Compiled functions are kept in {cache['folder']}, which is {writable}.")
    console.finish(
        halfseen=_version("halfseen"),
        python=platform.python_version(),
        system=_system(),
        libraries=core,
        extras={
            **{name: core[name] for name in ONCE_EXTRAS},
            **{one.library: extras.get(one.library) for one in EXTRAS},
        },
        missing={one.library: one.extra for one in EXTRAS if one.library not in extras},
        threads=threads,
        cache=cache,
    )


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def _system() -> str:
    return f"{platform.system()} {platform.machine()}"


def _threads() -> dict[str, int]:
    import numpy as np  # whose libraries are looked through
    from threadpoolctl import threadpool_info

    del np
    pools = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {"cpus": os.cpu_count() or 1, "blas": max(pools, default=1)}


def _cache() -> dict[str, Any]:
    """The folder of compiled functions."""
    told = os.environ.get("NUMBA_CACHE_DIR")
    package = Path(str(sys.modules["halfseen"].__file__)).parent
    folder = Path(told) if told else package
    return {"folder": str(folder), "writable": os.access(folder, os.W_OK)}
