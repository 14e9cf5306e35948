"""Formats of files that hold a table, by how their names end."""

from halfseen.io.formats.arrow_files import ArrowFile, Parquet
from halfseen.io.formats.delimited import Delimited
from halfseen.io.formats.format import Format
from halfseen.io.formats.numpy_file import NumpyFile, open_npy, open_npz
from halfseen.io.formats.whole_table import (
    READERS,
    WholeTable,
    read_duckdb,
    read_json,
    read_r,
    read_spreadsheet,
    read_sqlite,
    read_statistics,
)

FORMATS: dict[str, Format] = {
    ".parquet": Parquet(),
    ".arrow": ArrowFile(),
    ".feather": ArrowFile(),
    ".csv": Delimited(","),
    ".csv.gz": Delimited(",", "gzip"),
    ".tsv": Delimited("\t"),
    ".tsv.gz": Delimited("\t", "gzip"),
    ".npy": NumpyFile(open_npy),
    ".npz": NumpyFile(open_npz),
}
"""Those that are read some rows at a time."""

ENDING_ALIASES = {
    ".txt": ".tsv",
    ".txt.gz": ".tsv.gz",
    ".tab": ".tsv",
    ".dat": ".csv",
    ".data": ".csv",
}
"""Other endings of the same formats."""

SHEETS = WholeTable(read_spreadsheet, "python-calamine", "excel", ("header", "skip", "table"))
STATISTICS = WholeTable(read_statistics, "pyreadstat", "stats", ("encoding",))
OF_R = WholeTable(read_r, "pyreadr", "r")
SQLITE = WholeTable(read_sqlite)
WHOLE: dict[str, Format] = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"), SHEETS),
    **dict.fromkeys(READERS, STATISTICS),
    **dict.fromkeys((".rds", ".rda", ".rdata"), OF_R),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), WholeTable(read_json, takes=("encoding",))),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), SQLITE),
    **dict.fromkeys((".duckdb", ".ddb"), WholeTable(read_duckdb, "duckdb", "duckdb")),
}
"""Those that are read as a whole, into memory."""

ENDINGS: dict[str, Format] = {
    **FORMATS,
    **{ending: FORMATS[same] for ending, same in ENDING_ALIASES.items()},
    **WHOLE,
}
"""All that is read."""

MARKETS = (".mtx", ".mtx.gz")
"""Sparse matrices, which are read as such (as are those in ``.npz``)."""
