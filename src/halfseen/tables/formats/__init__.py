"""Formats of files that hold a table, by how their names end."""

from halfseen.tables.formats.arrow_file import ArrowFile
from halfseen.tables.formats.delimited import Delimited
from halfseen.tables.formats.format import Format
from halfseen.tables.formats.numpy_file import NumpyFile, one_array, the_table_of_an_archive
from halfseen.tables.formats.parquet import Parquet

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

ENDINGS: dict[str, Format] = FORMATS | {ending: FORMATS[same] for ending, same in ALSO.items()}
"""All that is read."""
