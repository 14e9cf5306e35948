"""A table as it was opened, and what is said of how it is to be opened."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Self

from sklearn.utils import get_tags

from halfseen.data.feature_sums import FeatureSums
from halfseen.data.progress import Stages
from halfseen.data.rows import Rows
from halfseen.io.coding import Coding, takes_kinds
from halfseen.io.columns import Column, as_coding, mark_constant
from halfseen.io.studies import KeptTables
from halfseen.io.text import Text


@dataclass(frozen=True)
class Reading:
    """How a table is to be read; ``of`` an estimator, by its parameters."""

    takes_words: bool = False
    kinds: Any = "auto"  # that columns are declared to be, where words are taken
    takes_sparse: bool = False
    coding: Coding | None = None  # of an earlier fit: words become its codes
    n_jobs: int | None = None
    verbose: int = 0
    name: str = "Estimator"  # in errors

    @classmethod
    def of(cls, estimator: Any, coding: Coding | None = None) -> Self:
        """What an estimator takes, and how it asks for it."""
        return cls(
            takes_kinds(estimator),
            getattr(estimator, "kinds", "auto"),
            get_tags(estimator).input_tags.sparse,
            coding,
            estimator.n_jobs,
            estimator.verbose,
            type(estimator).__name__,
        )


@dataclass(frozen=True, eq=False)
class Table:
    """A table that was opened: its rows, and all that was found of its columns."""

    rows: Rows
    stages: Stages  # the clock of a fit to it
    names: tuple[str, ...] | None  # of the columns, if they have any
    coding: Coding | None = None  # how words became numbers, where they are taken
    columns: tuple[Column, ...] | None = None  # what became of each, if anything is told of them
    tables: KeptTables | None = None  # those that it consists of, if there are several
    named_by_words: bool = False  # whether the names were given beside it
    text: Text | None = None  # the column whose words were counted, if one was

    def described(self, sums: FeatureSums) -> Coding | None:
        """What became of each column, once ``sums`` say which vary; None if nothing is told."""
        if self.columns == () or (self.columns is None and self.names is None):
            return None
        names = self.rows.names
        read = self.columns or [Column(name, "continuous", True) for name in names]
        return as_coding(mark_constant(read, names, sums, self._worded()))

    def _worded(self) -> Collection[str]:
        if self.coding is None:
            return ()
        pairs = zip(self.coding.names, self.coding.labels, strict=True)
        return {name for name, labels in pairs if labels}
