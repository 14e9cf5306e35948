"""Tables in files give the sums of the same tables in memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from halfseen.core.errors import DataError
from halfseen.core.feature_sums import FeatureSums
from halfseen.core.pair_sums import PairSums
from halfseen.core.third_sums import ThirdSums
from halfseen.engines import files
from halfseen.engines.files import open_files
from halfseen.engines.memory import MemoryRows

NAMES = ("age", "pulse", "lactate")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((500, 3)) < 0.3, np.nan, rng.standard_normal((500, 3)).round(3))
    return pd.DataFrame(X, columns=NAMES)


def write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=70)
    else:
        pa.feather.write_feather(frame, path, compression="uncompressed")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("n_files", [1, 3])
@pytest.mark.parametrize("batch", [1, 200, 1 << 20])
@pytest.mark.parametrize("threads", [1, 2])
def test_sums_are_those_of_the_table_in_memory(
    frame, suffix, n_files, batch, threads, tmp_path, monkeypatch
):
    monkeypatch.setattr(files, "BATCH_ENTRIES", batch)
    for part, rows in enumerate(np.array_split(np.arange(500), n_files)):
        write(frame.iloc[rows], tmp_path / f"part-{part}{suffix}")
    told = []
    on_disk = open_files(tmp_path, threads, told.append)
    in_memory = MemoryRows(frame.to_numpy(), NAMES)
    assert on_disk.names == NAMES
    for summarise in (FeatureSums.of, PairSums.about(np.ones(3)), ThirdSums.about(np.ones(3))):
        expected = in_memory.accumulate(summarise)
        found = on_disk.accumulate(summarise)
        for name in ("count", "total"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9)
    assert sum(told) == 3 * 500


def test_columns_are_selected_and_measured_from_an_origin(frame, tmp_path):
    write(frame, tmp_path / "t.parquet")
    rows = open_files(tmp_path / "t.parquet")
    one = rows.recentred(np.array([1.0, 2.0, 3.0])).select(np.array([False, True, True]))
    assert one.names == ("pulse", "lactate")
    sums = one.accumulate(FeatureSums.of)
    expected = frame[["pulse", "lactate"]].mean().to_numpy() - [2, 3]
    np.testing.assert_allclose(sums.mean, expected)


def test_integers_booleans_and_empty_columns_are_numbers(tmp_path):
    table = pa.table({"a": pa.array([1, None, 3]), "b": [True, False, None], "c": [None] * 3})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    sums = open_files(tmp_path / "t.parquet").accumulate(FeatureSums.of)
    np.testing.assert_array_equal(sums.count, [2, 2, 0])
    np.testing.assert_array_equal(sums.total, [4, 1, 0])


def test_a_table_of_no_rows_is_neutral(frame, tmp_path):
    write(frame[:0], tmp_path / "t.parquet")
    assert open_files(tmp_path).accumulate(FeatureSums.of).n_rows == 0


def test_what_cannot_be_read_is_named(frame, tmp_path):
    with pytest.raises(DataError, match="nothing does not exist"):
        open_files(tmp_path / "nothing")
    with pytest.raises(DataError, match=r"holds no file that ends in \.parquet"):
        open_files(tmp_path)
    write(frame.assign(sex="f"), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="'sex' cannot be read as numbers"):
        open_files(tmp_path)
    write(frame, tmp_path / "a.parquet")
    write(frame[["age"]], tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet has other columns than a\.parquet"):
        open_files(tmp_path)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and then nonsense")
    with pytest.raises(DataError, match="cannot be read"):
        open_files(tmp_path)


def test_a_file_that_is_damaged_inside_is_named_with_the_batch(frame, tmp_path):
    path = tmp_path / "t.parquet"
    write(frame, path)
    rows = open_files(path)
    content = bytearray(path.read_bytes())
    content[200:1200] = bytes(1000)
    status = path.stat()
    path.write_bytes(bytes(content))
    import os

    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(DataError, match=r"t\.parquet cannot be read at batch \d"):
        rows.accumulate(FeatureSums.of)


def test_a_file_that_changes_is_noticed(frame, tmp_path):
    write(frame, tmp_path / "t.csv")
    rows = open_files(tmp_path)
    rows.accumulate(FeatureSums.of)
    write(frame[:100], tmp_path / "t.csv")
    with pytest.raises(DataError, match=r"t\.csv changed while it was being read"):
        rows.accumulate(FeatureSums.of)
