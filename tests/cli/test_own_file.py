"""A model takes the file that it was learned from, whatever was left out of that."""

import numpy as np
import pytest
from scipy import io, sparse
from typer.testing import CliRunner

from halfseen.cli.app import app
from halfseen.models import MODELS
from tests.cli.options import DIAG


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _counts():
    rng = np.random.default_rng(0)
    return rng.poisson(np.array([[1.0, 9, 4], [8, 2, 9]])[np.arange(200) % 2]).astype(float)


def _answers(tmp_path, data):
    for command, out in (("impute", "f.csv"), ("predict", "s.csv"), ("report", "p.html")):
        result = run(command, tmp_path / "m.halfseen", data, "--out", tmp_path / out)
        assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("place", [0, 2, 3])
def test_an_array_with_a_constant_column_among_others(place, tmp_path):
    data = tmp_path / "t.npy"
    np.save(data, np.insert(_counts(), place, 3.0, axis=1))
    result = run("fit", data, "-k", 2, *DIAG, "--out", tmp_path / "m.halfseen")
    assert f"Column '{place}' was ignored" in result.stdout
    _answers(tmp_path, data)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("ending", [".mtx", ".npz"])
def test_a_sparse_file_by_models_that_take_sparse_tables_and_by_others(name, ending, tmp_path):
    data = tmp_path / f"t{ending}"
    write = io.mmwrite if ending == ".mtx" else sparse.save_npz
    write(data, sparse.coo_array(_counts()))
    result = run("fit", data, "--model", name, "-k", 2, "--out", tmp_path / "m.halfseen")
    assert result.exit_code == 0, result.output
    _answers(tmp_path, data)
