"""Files whose bytes are damaged are named, with the place in them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from halfseen.data.engines.batched import all_columns
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.io.files import Files
from halfseen.io.formats import FORMATS
from halfseen.io.open_files import open_files
from halfseen.io.open_source import open_source

JUNK = bytes(range(7, 107))


def rows_of(path, **options):
    return all_columns(open_files(Files(path, **options)))


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("content", [b"", b"PAR1 ARROW1 and then nonsense \xff\xfe"])
def test_a_file_of_something_else_is_named_when_it_is_opened(ending, content, tmp_path):
    (tmp_path / f"t{ending}").write_bytes(content)
    with pytest.raises(
        DataError, match=rf"t{ending} (cannot be read at its \w+|has no column 'a')"
    ):
        open_files(Files(tmp_path, columns=["a"]))


@pytest.fixture
def wide(frame):
    """Row groups of some kilobytes, so that there is a middle to damage."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.standard_normal((4000, 3)), columns=frame.columns)


@pytest.mark.parametrize("group", [0, 3, 7])
@pytest.mark.parametrize("column", [0, 2])
@pytest.mark.parametrize("memory", [0.01, 0.2, 256])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
def test_a_damaged_parquet_file_is_named_with_the_row_group(
    wide, replace_bytes, group, column, memory, compression, tmp_path
):
    path = tmp_path / "t.parquet"
    wide.to_parquet(path, row_group_size=500, compression=compression)
    rows = rows_of(tmp_path, memory=memory)
    chunk = pa.parquet.ParquetFile(path).metadata.row_group(group).column(column)
    place = chunk.data_page_offset
    if compression == "gzip":  # which has a checksum of its own: anywhere in the page will do
        place = chunk.dictionary_page_offset + chunk.total_compressed_size // 2
    replace_bytes(path, place, JUNK)
    message = rf"t\.parquet cannot be read at row group {group}: .+ Write it again, or leave it out"
    with pytest.raises(DataError, match=message):
        rows.accumulate(FeatureSums.of)


def test_row_groups_are_named_where_batches_span_several(wide, replace_bytes, tmp_path):
    path = tmp_path / "t.parquet"
    wide.to_parquet(path, row_group_size=100)
    chunk = pa.parquet.ParquetFile(path).metadata.row_group(23).column(1)
    replace_bytes(path, chunk.data_page_offset, JUNK)
    with pytest.raises(DataError, match=r"t\.parquet cannot be read at row group 23:"):
        rows_of(tmp_path).accumulate(FeatureSums.of)


def test_columns_that_are_not_chosen_may_be_damaged(wide, replace_bytes, tmp_path):
    path = tmp_path / "t.parquet"
    wide.to_parquet(path, row_group_size=500)
    chunk = pa.parquet.ParquetFile(path).metadata.row_group(2).column(0)
    replace_bytes(path, chunk.data_page_offset, JUNK)
    assert rows_of(tmp_path, columns=["pulse"]).accumulate(FeatureSums.of).n_rows == 4000
    with pytest.raises(DataError, match="row group 2"):
        rows_of(tmp_path, columns=["age"]).accumulate(FeatureSums.of)


def test_a_single_flipped_bit_is_noticed_where_pages_have_checksums(wide, replace_bytes, tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.Table.from_pandas(wide)
    pa.parquet.write_table(
        table,
        path,
        compression="none",
        use_dictionary=False,
        write_page_checksum=True,
        row_group_size=1000,
    )
    chunk = pa.parquet.ParquetFile(path).metadata.row_group(1).column(1)
    place = chunk.data_page_offset + chunk.total_compressed_size // 2
    byte = path.read_bytes()[place]
    replace_bytes(path, place, bytes([byte ^ 1]))
    with pytest.raises(DataError, match=r"cannot be read at row group 1: .*(?i:crc|checksum)"):
        rows_of(tmp_path).accumulate(FeatureSums.of)


def test_a_damaged_arrow_file_is_named_with_the_record_batch(wide, write, replace_bytes, tmp_path):
    path = tmp_path / "t.feather"
    write(wide, path)
    rows = rows_of(tmp_path)
    with pa.OSFile(str(path)) as stream:
        n_batches = pa.ipc.open_file(stream).num_record_batches
    replace_bytes(path, path.stat().st_size // 2, bytes(3000))
    with pytest.raises(DataError, match=r"t\.feather cannot be read at record batch \d+:") as error:
        rows.accumulate(FeatureSums.of)
    number = int(str(error.value).split("record batch ")[1].split(":")[0])
    assert 0.3 < number / n_batches < 0.7


@pytest.mark.parametrize("memory", [0.01, 256])
def test_a_damaged_line_is_named(wide, memory, replace_bytes, tmp_path, monkeypatch):
    monkeypatch.setattr("halfseen.io.formats.delimited.MIN_BLOCK_BYTES", 2000)
    path = tmp_path / "t.csv"
    wide.to_csv(path, index=False, lineterminator="\n")
    rows = rows_of(tmp_path, memory=memory)
    lines = path.read_bytes().split(b"\n")
    replace_bytes(path, len(b"\n".join(lines[:3000])) + 1, b"what")
    message = r"t\.csv cannot be read at line \d+ or later: .*Row #3001: .*invalid value"
    with pytest.raises(DataError, match=message):
        rows.accumulate(FeatureSums.of)


def test_a_line_with_too_few_values_is_named(wide, tmp_path):
    lines = wide.to_csv(index=False, lineterminator="\n").split("\n")
    lines[1500] = "1.0,2.0"
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"t\.csv cannot be read at .*Row #1501: Expected 3"):
        rows_of(tmp_path).accumulate(FeatureSums.of)


@pytest.mark.parametrize("ending", [".csv.gz", ".npz"])
def test_damaged_archives_are_noticed(wide, write, ending, replace_bytes, tmp_path):
    path = tmp_path / f"t{ending}"
    write(wide, path)
    rows = rows_of(tmp_path, memory=0.1)
    replace_bytes(path, path.stat().st_size * 2 // 3, JUNK)
    with pytest.raises(DataError, match=rf"t{ending} cannot be read at (row|line) \d+"):
        rows.accumulate(FeatureSums.of)


def test_a_stored_archive_is_checked_by_its_checksum(wide, replace_bytes, tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, np.ascontiguousarray(wide))
    rows = rows_of(tmp_path, memory=0.1)
    replace_bytes(path, path.stat().st_size // 2, JUNK)
    with pytest.raises(DataError, match=r"t\.npz cannot be read at row \d+: Bad CRC-32"):
        rows.accumulate(FeatureSums.of)


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_file_that_is_too_short_is_named_with_the_row(wide, order, tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, np.asarray(wide, order=order))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"t\.npy cannot be read at row \d+: it ends too early"):
        rows_of(tmp_path, memory=0.1).accumulate(FeatureSums.of)


def test_offsets_of_text_beyond_its_bytes_are_refused_and_not_followed(tmp_path):
    words = pa.array(["one", "two", "six", "ten"] * 25)
    table = pa.table({"age": np.arange(100) ** 1.5, "word": words})
    path = tmp_path / "t.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    content = path.read_bytes()
    offsets = np.arange(0, 303, 3, dtype=np.int32)
    wild = offsets.copy()
    wild[50] = 2**30
    assert offsets.tobytes() in content
    path.write_bytes(content.replace(offsets.tobytes(), wild.tobytes()))
    with pytest.raises(DataError, match=r"t\.arrow cannot be read at record batch 0"):
        list(open_files(Files(path)).batches(["word"], 10))
    assert open_files(Files(path, columns=["age"])).names == ("age",)  # others may be broken


def test_an_archive_with_a_damaged_directory_is_named(wide, tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, table=np.asarray(wide))
    path.write_bytes(path.read_bytes().replace(b"PK\x01\x02", b"PK\x01\xff"))
    with pytest.raises(DataError, match=r"t\.npz cannot be read at its \w+"):
        open_source(Files(path))


def test_bytes_that_ask_for_more_memory_than_there_is_are_named(monkeypatch, tmp_path):
    path = tmp_path / "t.arrow"
    pa.feather.write_feather(pa.table({"a": [1.0, 2.0]}), path, compression="uncompressed")

    def greedy(stream):
        raise pa.ArrowMemoryError("malloc of size 288239189427749952 failed")

    monkeypatch.setattr(pa.ipc, "open_file", greedy)
    words = (
        "t.arrow cannot be read at its footer: malloc of size 288239189427749952 failed, or its "
        "bytes are damaged, and it is to be written again"
    )
    with pytest.raises(MemoryError, match=f"^{words}$"):
        open_source(Files(path))
