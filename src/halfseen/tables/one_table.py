"""A table in files, and what is said of it alone."""

from typing import NamedTuple

from halfseen.tables.file_source import OneFile, stamp_of
from halfseen.tables.files import Files
from halfseen.tables.located import located


class OneTable(NamedTuple):
    """The files of one table, all of one format."""

    files: tuple[OneFile, ...]
    gap_codes: tuple[str, ...] = ()  # what stands for a gap in this table, beside others
    only: bool = True  # or one of several, which may lack columns

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the first file, which others have too."""
        return self.files[0].header.names

    @property
    def named(self) -> bool:
        """Whether columns have names, or only numbers."""
        return self.files[0].header.named


def table_of(given: Files) -> OneTable:
    """The table that files are, where they are one."""
    paths, format = located(given)
    return OneTable(
        tuple(OneFile(path, stamp_of(path), format.header(path), format) for path in paths)
    )


def names_of(tables: tuple[OneTable, ...]) -> tuple[str, ...]:
    """All columns, in the order in which tables first have them."""
    return tuple(dict.fromkeys(name for table in tables for name in table.names))
