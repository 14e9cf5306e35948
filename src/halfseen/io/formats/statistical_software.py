"""Files of SPSS, Stata and SAS, read by ReadStat: codes that have labels are categories."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from halfseen.io.formats.csv_dialect import ReadOptions
from halfseen.io.formats.in_memory import LoadedTable, arrow_column, choose_table

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
ORDINAL = "ordinal"


def read_statistics(file: Path, given: ReadOptions) -> LoadedTable:
    """All columns; values that the file declares to be missing are gaps."""
    import pyreadstat

    read: Callable[..., Any] = getattr(pyreadstat, READERS[file.suffix.lower()])
    options = {} if given.encoding is None else {"encoding": given.encoding}
    columns, about = read(str(file), output_format="dict", **options)
    labels, measures = about.variable_value_labels, about.variable_measure
    made = {
        name: _column(cells, labels.get(name, {}), measures.get(name) == ORDINAL)
        for name, cells in columns.items()
    }
    return LoadedTable(pa.table(made))


def _column(cells: Any, labels: Mapping[Any, str], ordered: bool) -> Any:
    """Categories where every value has a label, which only some have where values are amounts."""
    plain = arrow_column(np.asarray(cells, dtype=object).tolist())
    different = set(plain.unique().drop_null().to_pylist())
    if not labels or not different or not different <= set(labels):
        return plain
    codes = sorted(labels)
    words = [str(labels[code]) for code in codes]
    if len(set(words)) < len(words):
        words = [f"{code:g} {word}" for code, word in zip(codes, words, strict=True)]
    place = {code: number for number, code in enumerate(codes)}
    indices = [None if cell is None else place[cell] for cell in plain.to_pylist()]
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, pa.int32()), pa.array(words, pa.string()), ordered=ordered
    )


def read_r(file: Path, given: ReadOptions) -> LoadedTable:
    """The data frame that is asked for, or the only one."""
    import pyreadr

    frames = {str(name): frame for name, frame in pyreadr.read_r(str(file)).items()}
    name = choose_table(file, list(frames), given.table, "data frames")
    return LoadedTable(pa.Table.from_pandas(frames[name], preserve_index=False))
