"""Tables in files of every format: cut, damaged, oddly written, or called what they are not."""

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from scipy import io as scipy_io
from scipy import sparse

from benchmarks.attack import commands, learning, tables, words
from benchmarks.attack.damage import damaged
from benchmarks.attack.defect import check
from benchmarks.attack.odd_text import names_of, odd_text
from benchmarks.attack.word_containers import arrow_of
from halfseen import load
from halfseen.models import MODELS

Rng = np.random.Generator
ready = learning.ready
DAMAGED = 0.5
MANY_COLUMNS = 10**5
"""That a file may say it has. All commands on ten times as many take minutes of work, each column
being told of, which on a busy machine cannot be told from a hang."""


def _arrow(rng: Rng, X: Any) -> Any:
    if X.dtype.kind == "O":
        return arrow_of(rng, X)[0]
    arrays = [pa.array(np.ascontiguousarray(x), from_pandas=True) for x in X.T]
    return pa.table(arrays, names=names_of(X))


def _into(write: Callable[[io.BytesIO], Any]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def _feather(rng: Rng, X: Any) -> bytes:
    kind = ["uncompressed", "lz4", "zstd"][rng.integers(3)]
    return _into(lambda f: pa.feather.write_feather(_arrow(rng, X), f, compression=kind))


def _parquet(rng: Rng, X: Any) -> bytes:
    kind = ["none", "snappy", "gzip", "zstd"][rng.integers(4)]
    return _into(
        lambda f: pa.parquet.write_table(_arrow(rng, X), f, compression=kind, row_group_size=20)
    )


def _archive(rng: Rng, X: Any) -> bytes:
    """Dense, or sparse with a structure that may lie."""
    if rng.random() < 0.4 or X.dtype.kind == "O":
        return _into(lambda f: np.savez(f, table=X))
    S = sparse.csr_array(np.nan_to_num(X, nan=0.0))
    parts: dict[str, Any] = {
        "data": S.data,
        "indices": S.indices,
        "indptr": S.indptr,
        "shape": np.array(S.shape),
    }
    parts["format"] = np.array([b"csr", b"csc", b"coo", b"bsr", b"dia", b"xyz"][rng.integers(6)])
    for name in ("data", "indices", "indptr", "shape"):
        if rng.random() < 0.3 and parts[name].size:
            parts[name] = _lying(rng, parts[name])
    return _into(lambda f: np.savez(f, **parts))


def _lying(rng: Rng, values: Any) -> Any:
    values, place = values.copy(), int(rng.integers(values.size))
    kind = rng.integers(5)
    if kind == 0:
        return values[:-1]
    if kind == 1:
        return values.astype([">f8", "<i8", "U5", "c16", "?"][rng.integers(5)])
    if kind == 2:
        return values[None]
    values[place] = [-5, 2_000_000_000, 0, MANY_COLUMNS][rng.integers(4)]
    return values


def _matrix_market(rng: Rng, X: Any) -> bytes:
    S = sparse.coo_array(np.nan_to_num(X, nan=0.0))
    text = _into(lambda f: scipy_io.mmwrite(f, S)).decode()
    if rng.random() < 0.5:
        lines = text.splitlines()
        place = int(rng.integers(len(lines)))
        odd = ["", "0 0 1", "9999 1 1", "1 1 99999999999999999999999", "1 1 1e999", "x y z", "-1 2"]
        odd += ["2000000000000 2 1", "2 2 1000000000000", "1 1 nan", "% hm", "3 3 3 3"]
        lines[place] = odd[rng.integers(len(odd))]
        text = "\n".join(lines)
    return text.encode()


WRITERS: dict[str, Callable[[Rng, Any], bytes]] = {
    ".csv": lambda rng, X: odd_text(rng, X, ","),
    ".tsv": lambda rng, X: odd_text(rng, X, "\t"),
    ".csv.gz": lambda rng, X: gzip.compress(odd_text(rng, X, ",")),
    ".tsv.gz": lambda rng, X: gzip.compress(odd_text(rng, X, "\t")),
    ".parquet": _parquet,
    ".feather": _feather,
    ".arrow": _feather,
    ".npy": lambda rng, X: _into(lambda f: np.save(f, X)),
    ".npz": _archive,
    ".mtx": _matrix_market,
}
"""How a table is written, by the ending of the file's name."""
OF_NUMBERS = (".mtx",)


def attack(seed: int, folder: Path) -> str:
    """One file, the commands that read one, and what they leave."""
    rng = np.random.default_rng(seed)
    counts = bool(rng.random() < 0.5)
    drawn = tables.draw(rng, counts)
    X: Any = drawn if drawn.size else np.ones((3, 2))
    ending = list(WRITERS)[rng.integers(len(WRITERS))]
    if rng.random() < 0.5 and ending not in OF_NUMBERS:
        X = words.draw(rng, X)
    data = WRITERS[ending](rng, X)
    if rng.random() < DAMAGED:
        data = damaged(rng, data)
    called = ending if rng.random() < 0.95 else list(WRITERS)[rng.integers(len(WRITERS))]
    path, model = folder / f"t{called}", folder / "m.halfseen"
    path.write_bytes(data)
    if rng.random() < 0.5:
        commands.run("describe", path)
    result = commands.fit(rng, path, model, names_of(X)[:8])
    used(rng, path, model, folder) if model.exists() else in_python(rng, path)
    unknown = {p.name for p in folder.iterdir()} - KNOWN - {path.name}
    check(not unknown, "files are left behind", unknown)
    check(path.read_bytes() == data, "the table itself was changed")
    return "learned" if result.exit_code == 0 else "refused"


KNOWN = {"m.halfseen", "filled.csv", "said.csv", "page.html"}


def used(rng: Rng, path: Path, model: Path, folder: Path) -> None:
    """What follows a fit works on the same file."""
    load(model)
    kind = rng.random()
    if kind < 0.4:
        result = commands.run("impute", model, path, "--out", folder / "filled.csv")
    elif kind < 0.8:
        result = commands.run("predict", model, path, "--out", folder / "said.csv")
    else:
        result = commands.run("report", model, path, "--out", folder / "page.html")
    check(result.exit_code == 0, "a model refuses the file it was learned from", result.stderr)


def in_python(rng: Rng, path: Path) -> None:
    """The same door from Python; an error that is not ours is found by whoever called."""
    name = list(MODELS)[rng.integers(len(MODELS))]
    MODELS[name](1, random_state=0).fit(path)
