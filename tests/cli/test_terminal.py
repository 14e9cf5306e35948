"""What reaches a terminal: no codes that steer it, and signs that it has."""

import errno
import io
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from halfseen.cli.app import NO_RESULT, _stop, app
from halfseen.cli.console import printable
from tests.cli.options import DIAG

WILD = "a\x1b[31mred\x07\x9b2J\u202egnp"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _write(path, names, n_rows=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, len(names))) + (np.arange(n_rows) % 2 * 6)[:, None]
    X = np.where(rng.random(X.shape) < 0.03, np.nan, X)
    pd.DataFrame(X, columns=names).assign(**{"no" + names[0]: "text"}).to_csv(path, index=False)
    return path


def _steering(text):
    return [sign for sign in text if sign != "\n" and printable(sign) != sign]


def test_codes_in_names_never_reach_the_terminal(tmp_path):
    path, model = _write(tmp_path / "t.csv", [WILD, "b", "c"]), tmp_path / "m.halfseen"
    commands = [
        ("describe", path),
        ("fit", path, "-k", 2, *DIAG, "--out", model),
        ("weigh", path, "-k", 2),
        ("predict", model, path, "--out", tmp_path / "p.csv", "--keep", "nosuch"),
        ("fit", path, "--log", WILD, "-k", 2, *DIAG, "--out", tmp_path / "n.halfseen"),
        ("describe", path, "--json"),
    ]
    for command in commands:
        told = run(*command)
        assert "red" in told.output or command[0] in ("fit", "weigh"), told.output
        assert _steering(told.output) == []


def test_codes_in_names_of_files_never_reach_the_terminal(tmp_path):
    (tmp_path / f"{WILD}.csv").write_text("a,b\n")
    told = run("describe", tmp_path / f"{WILD}.csv")
    assert told.exit_code == 1
    assert _steering(told.output) == []


@pytest.mark.parametrize("command", ["describe", "fit", "weigh"])
def test_a_terminal_that_knows_only_ascii_gets_ascii(command, tmp_path):
    path = _write(tmp_path / "t.csv", ["größe", "µg/l", "温度"])
    more = {"fit": ["-k", "2", *DIAG, "--out", str(tmp_path / "m.halfseen")], "weigh": ["-k", "2"]}
    told = subprocess.run(
        [sys.executable, "-m", "halfseen", command, str(path), *more.get(command, [])],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.isascii()
    assert told.stderr.isascii()
    assert b"?" not in told.stdout


def test_signs_of_ours_have_plain_forms():
    class Ascii:
        encoding = "ascii"

    assert printable("█·  ±2 – 3…", Ascii()) == "#.  +/-2 - 3..."
    assert printable("größe", Ascii()) == r"gr\xf6\xdfe"
    assert printable("größe ±2", None) == "größe ±2"


def test_numbers_that_cannot_be_computed_with_are_the_tables_fault(tmp_path):
    path, out = _write(tmp_path / "t.csv", ["age", "mass", "dose"]), tmp_path / "m.halfseen"
    frame = pd.read_csv(path)
    frame["mass"] *= 1e-200
    frame.to_csv(path, index=False)
    told = run("fit", path, "-k", 2, *DIAG, "--out", out)
    assert told.exit_code in (0, 1), told.output
    if told.exit_code:
        assert "t.csv" in told.stderr
        assert "'mass'" in told.stderr
        assert not out.exists()
    told = run("weigh", path, "-k", 2)
    assert told.exit_code == 1
    assert "'mass' cannot be divided by a standard deviation of 0. Write it" in told.stderr
    assert "--drop mass" in told.stderr


@pytest.mark.parametrize(
    "error", [np.linalg.LinAlgError("SVD did not converge"), ZeroDivisionError()]
)
def test_a_failure_of_arithmetic_names_file_column_and_remedy(error, tmp_path, monkeypatch):
    path, out = _write(tmp_path / "t.csv", ["age", "mass", "dose"]), tmp_path / "m.halfseen"
    frame = pd.read_csv(path)
    frame["mass"] *= 1e30
    frame.to_csv(path, index=False)

    def fail(*given, **more):
        raise error

    monkeypatch.setattr("halfseen.estimators.estimator.Estimator.fit", fail)
    told = run("fit", path, "-k", 2, *DIAG, "--out", out)
    assert told.exit_code == 1
    assert "The numbers of t.csv cannot be computed with" in told.stderr
    assert "'mass' stands out, with values from" in told.stderr
    assert "--drop mass" in told.stderr
    assert not out.exists()


def test_what_follows_a_fit_fails_before_the_model_is_written(tmp_path, monkeypatch):
    path, out = _write(tmp_path / "t.csv", ["age", "mass", "dose"]), tmp_path / "m.halfseen"

    def fail(*given):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr("halfseen.cli.fit.concerns_of", fail)
    assert run("fit", path, "-k", 2, *DIAG, "--out", out).exit_code == 1
    assert not out.exists()


def test_where_a_reason_cannot_be_written_the_exit_code_still_tells(monkeypatch):
    class Full(io.TextIOWrapper):
        def write(self, text):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full(io.BytesIO(), "utf-8"))
    with pytest.raises(typer.Exit) as ended:
        _stop("There is no room.", NO_RESULT)
    assert ended.value.exit_code == NO_RESULT
