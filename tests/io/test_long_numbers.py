"""Whole numbers of more digits than floats hold are identifiers, and never lose a digit."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from halfseen import DataError, DroppedFeatureWarning, Files, GaussianMixture
from halfseen.cli.app import app
from halfseen.io.open_source import open_source
from tests.cli.options import DIAG

RNG = np.random.default_rng(0)
N = 120
VALUES = RNG.normal(size=(N, 3)) + (np.arange(N) % 2 * 6)[:, None]
SNOWFLAKES = [int(number) for number in RNG.integers(2**60, 2**62, N)]
NUMBERS = {
    "snowflakes": SNOWFLAKES,
    "of 64 bits without a sign": [2**63 + number for number in SNOWFLAKES],
    "of several rows each": [SNOWFLAKES[i // 4] for i in range(N)],
}


def _written(folder, numbers, ending):
    kind = pa.uint64() if max(numbers) >= 2**63 else pa.int64()
    columns = dict(zip("abc", VALUES.T, strict=True))
    table = pa.table({"hash": pa.array(numbers, kind)} | columns)
    path = folder / f"table{ending}"
    write = csv.write_csv if ending == ".csv" else parquet.write_table
    write(table, path)
    return path


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("which", NUMBERS)
def test_long_whole_numbers_are_an_identifier(which, ending, tmp_path):
    path = _written(tmp_path, NUMBERS[which], ending)
    with pytest.warns(DroppedFeatureWarning, match="'hash' was ignored: its whole numbers have mo"):
        model = GaussianMixture(2).fit(path)
    assert list(model.feature_names_in_) == ["a", "b", "c"]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_large_amounts_are_no_identifiers(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    write = csv.write_csv if ending == ".csv" else parquet.write_table
    write(pa.table({"moles": np.exp(VALUES[:, 0]) * 6e23, "mass": VALUES[:, 1]}), path)
    assert open_source(Files(path)).names == ("moles", "mass")


def test_one_long_number_among_others_makes_no_identifier(tmp_path):
    path = _written(tmp_path, [*(i % 7 for i in range(N - 1)), 10**18], ".csv")
    assert open_source(Files(path)).names == ("hash", "a", "b", "c")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("which", NUMBERS)
def test_kept_beside_a_result_they_have_all_their_digits(which, ending, tmp_path):
    path = _written(tmp_path, NUMBERS[which], ending)
    model, out = tmp_path / "m.halfseen", tmp_path / "groups.csv"
    run = CliRunner().invoke
    assert run(app, ["fit", str(path), "-k", "2", *DIAG, "--out", str(model)]).exit_code == 0
    told = run(app, ["predict", str(model), str(path), "--keep", "hash", "--out", str(out)])
    assert told.exit_code == 0, told.output
    lines = out.read_text().splitlines()[1:]
    assert [int(line.split(",")[0].strip('"')) for line in lines] == NUMBERS[which]


def test_a_dropped_column_is_never_converted(tmp_path):
    path = tmp_path / "table.csv"
    rows = "\n".join(f"{'9' * 400},{a},{b},{c}" for a, b, c in VALUES)
    path.write_text(f"hash,a,b,c\n{rows}\n")
    source = open_source(Files(path, drop=["hash"]))
    assert source.names == ("a", "b", "c")
    assert [column.name for column in source.columns] == ["a", "b", "c"]
    told = CliRunner().invoke(app, ["describe", str(path), "--drop", "hash", "--json"])
    assert told.exit_code == 0
    assert "'hash'" not in told.output


def test_what_is_dropped_must_be_there(tmp_path):
    path = _written(tmp_path, SNOWFLAKES, ".csv")
    with pytest.raises(DataError, match=r"table.csv has no column 'hush' to drop. It has 'hash'"):
        open_source(Files(path, drop=["hush"]))
    with pytest.raises(ValueError, match=r"The 'drop' of Files must be a list of names. Got 'ha"):
        open_source(Files(path, drop="hash"))
