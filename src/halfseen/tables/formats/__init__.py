"""Formats of files that hold a table, by how their names end."""

from halfseen.tables.formats.arrow_file import ArrowFile
from halfseen.tables.formats.database import read_duckdb, read_sqlite
from halfseen.tables.formats.delimited import Delimited
from halfseen.tables.formats.format import Format
from halfseen.tables.formats.json_file import read_json
from halfseen.tables.formats.numpy_file import NumpyFile, one_array, the_table_of_an_archive
from halfseen.tables.formats.parquet import Parquet
from halfseen.tables.formats.r_file import read_r
from halfseen.tables.formats.spreadsheet import read_spreadsheet
from halfseen.tables.formats.statistics_file import READERS, read_statistics
from halfseen.tables.formats.whole_table import WholeTable

FORMATS: dict[str, Format] = {
    ".parquet": Parquet(),
    ".arrow": ArrowFile(),
    ".feather": ArrowFile(),
    ".csv": Delimited(","),
    ".csv.gz": Delimited(",", "gzip"),
    ".tsv": Delimited("\t"),
    ".tsv.gz": Delimited("\t", "gzip"),
    ".npy": NumpyFile(one_array),
    ".npz": NumpyFile(the_table_of_an_archive),
}
"""Those that are read some rows at a time."""

ALSO = {".txt": ".tsv", ".txt.gz": ".tsv.gz", ".tab": ".tsv", ".dat": ".csv", ".data": ".csv"}
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
    **{ending: FORMATS[same] for ending, same in ALSO.items()},
    **WHOLE,
}
"""All that is read."""
