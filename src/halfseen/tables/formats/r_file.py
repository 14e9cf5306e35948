"""Files of R: one data frame (``.rds``), or several objects by name (``.rda``, ``.RData``)."""

from pathlib import Path

from halfseen.tables.formats.one_of_several import the_one
from halfseen.tables.formats.text_frame import Given
from halfseen.tables.formats.whole_table import Table


def read_r(file: Path, given: Given) -> Table:
    """The data frame that is asked for, or the only one."""
    import pyarrow as pa
    import pyreadr

    frames = {str(name): frame for name, frame in pyreadr.read_r(str(file)).items()}
    name = the_one(file, list(frames), given.table, "data frames")
    return Table(pa.Table.from_pandas(frames[name], preserve_index=False))
