"""An imputer learned from the very table whose gaps it is to fill."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from halfseen.cli.kinds import check_columns
from halfseen.cli.reading.command_table import Opened, open_table
from halfseen.cli.reading.numerical import Ends, reckoning
from halfseen.cli.voice import Voice
from halfseen.data.feature_sums import FeatureSums
from halfseen.imputation.estimator import Imputer
from halfseen.io.coding import declared_kinds
from halfseen.io.files import Files


@dataclass(frozen=True)
class Asked:
    """What people say of the table, and of how it is learned from."""

    columns: Sequence[str] = ()
    drop: Sequence[str] = ()
    kinds: dict[str, str] | None = None
    max_seconds: float | None = None
    absent_as_zero: bool | Sequence[str] = ()
    dates: str | None = None

    @property
    def options(self) -> list[str]:
        """The options that say so."""
        pairs = {
            "--columns": self.columns,
            "--drop": self.drop,
            "--kind": self.kinds,
            "--max-seconds": self.max_seconds,
            "--absent-as-zero": self.absent_as_zero,
            "--dates": self.dates,
        }
        return [option for option, value in pairs.items() if value]


def learned_from(voice: Voice, data: Files, asked: Asked, **settings: Any) -> Imputer:
    """An imputer of the columns of a file that can be used; told."""
    kinds = asked.kinds or {}
    check_columns(kinds, data)
    imputer = Imputer(kinds or "auto", max_seconds=asked.max_seconds, **settings)
    declared = partial(declared_kinds, imputer.kinds)
    table = open_table(data, asked.columns, asked.drop, kinds=declared)
    voice.note(*table.short_notes)
    voice.note(f"No model is given, so gaps are learned to be filled from {table.file} itself.")
    names = list(table.source.names) if table.source.named else None
    files = replace(table.files, columns=names, drop=())
    with voice.listening(), reckoning(table.file, partial(_ends, table)):
        imputer.fit(files)
    imputer.verbose = 0
    return imputer


def _ends(table: Opened) -> Ends:
    sums = table.rows().accumulate(FeatureSums.of)
    return Ends(table.source.names, sums.minimum, sums.maximum)
