"""``halfseen impute``: a table without gaps."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from halfseen import load
from halfseen.cli.options import (
    Data,
    Force,
    ForSpreadsheets,
    Json,
    Keep,
    MissingValues,
    ModelFile,
    check_writable,
    listed,
)
from halfseen.cli.progress import over_rows
from halfseen.cli.reading.fitting import Chunk, Fitting, fitting
from halfseen.cli.reading.kept_columns import Beside, kept_names
from halfseen.cli.results import beside, check_kind, table_file
from halfseen.cli.voice import Voice
from halfseen.rows.arrays import Array


def impute(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path, typer.Option(help="Where to write: .csv, .tsv (.gz), .parquet, .feather.")
    ],
    keep: Keep = None,
    expected: Annotated[
        bool,
        typer.Option(
            "--expected",
            help="Fill with averages as they are, such as 0.3 children, rather than with values "
            "that a column can have.",
        ),
    ] = False,
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Write so many tables, filled by lot, for multiple imputation: filled.1.csv, "
            "filled.2.csv and so on for --out filled.csv.",
        ),
    ] = None,
    std: Annotated[
        bool,
        typer.Option(
            "--std",
            help="Write a second table, filled.std.csv for --out filled.csv: how far off each "
            "filled value may be, as a standard deviation; 0 where a value is known.",
        ),
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes --draws repeatable.")] = None,
    missing_values: MissingValues = "",
    for_spreadsheets: ForSpreadsheets = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    r"""Fill the gaps of a table by what the model expects given the rest of the row.

    Known values and the order of rows stay as they are. Nothing is filled in beyond the values that
    a column held when the model was fitted, and columns of whole numbers, or of two values, get
    such (--expected for averages). A column on a log scale is filled with its geometric mean.

    \b
    For example:
      halfseen impute patients.halfseen patients.csv --out filled.csv --keep id
      halfseen impute patients.halfseen new.parquet --out filled.parquet --keep '*' --std
      halfseen impute patients.halfseen patients.csv --out filled.csv --draws 20 --seed 1
    """
    check_kind(out)
    outs = _outs(out, draws, std)
    for path in outs:
        check_writable(path, force, model, data)
    voice = Voice(as_json)
    learned = load(model)
    given = fitting(learned, data, listed(missing_values))
    names = given.source.names
    kept = kept_names(given, listed(keep), names)
    order = [name for name in given.source.all_names if name in {*kept, *names}]
    others, filled = Beside(given.source, kept), Filled(learned, given, draws, std, not expected)
    filled.seed = np.random.SeedSequence(seed).entropy
    with voice.listening(), given.reckoning(), ExitStack() as files:
        writers = [
            files.enter_context(table_file(path, force=force, for_spreadsheets=for_spreadsheets))
            for path in outs
        ]
        for chunk in over_rows(voice, "Filling gaps", given, dense=True):
            taken = others.take(chunk.n_rows)
            for write, values in zip(writers, filled.of(chunk), strict=True):
                columns = taken | dict(zip(names, values.T, strict=True))
                write({name: columns[name] for name in order})
    voice.note(f"{filled.n_gaps - filled.n_left:,} gaps in {filled.n_rows:,} rows were filled.")
    if filled.n_left:
        voice.note(f"{filled.n_left:,} gaps stay, in columns that the model never saw a value of.")
    _tell(voice, outs, std)
    voice.finish(
        table=str(outs[0]),
        tables=[str(path) for path in (outs if draws else outs[:1])],
        standard_deviations=str(outs[1]) if std else None,
        n_rows=filled.n_rows,
        n_filled=filled.n_gaps - filled.n_left,
        columns=order,
    )


def _outs(out: Path, draws: int | None, std: bool) -> list[Path]:
    """All files that are written."""
    if draws is not None and draws < 1:
        raise ValueError(f"--draws must be a whole number of at least 1. Got {draws} instead.")
    if draws is not None and std:
        raise ValueError(
            "--std goes with averages: how far apart draws are tells how sure they are. Leave out "
            "--std or --draws."
        )
    if draws is not None:
        return [beside(out, str(number + 1)) for number in range(draws)]
    return [out, beside(out, "std")] if std else [out]


def _tell(voice: Voice, outs: Sequence[Path], std: bool) -> None:
    if std:
        voice.say(f"Table: {outs[0]}")
        voice.say(f"Standard deviations: {outs[1]}")
    elif len(outs) > 1:
        voice.say(f"Tables: {outs[0]} to {outs[-1]}")
    else:
        voice.say(f"Table: {outs[0]}")


@dataclass
class Filled:
    """Fills gaps, and counts them."""

    model: Any
    given: Fitting
    draws: int | None = None
    std: bool = False
    possible: bool = True
    seed: Any = 0
    n_chunks: int = 0
    n_rows: int = 0
    n_gaps: int = 0
    n_left: int = 0

    def of(self, chunk: Chunk) -> list[Array]:
        """Some rows without gaps, in their own units, for each table that is written; (n, d)."""
        gaps = np.isnan(chunk.values)
        tables = list(self._tables(chunk, gaps))
        self.n_chunks += 1
        self.n_rows += chunk.n_rows
        self.n_gaps += int(gaps.sum())
        self.n_left += int(np.isnan(tables[0]).sum())
        return tables

    def _tables(self, chunk: Chunk, gaps: Any) -> Iterator[Array]:
        if self.draws is not None:
            # A generator of its own for each chunk, or all chunks would have the same draws.
            random = np.random.default_rng([self.seed, self.n_chunks])
            self.model.random_state = int(random.integers(2**31))
            drawn = self.model.impute(chunk.given, draws=self.draws, possible=self.possible)
            for table in drawn:
                yield self._known_kept(chunk, gaps, np.asarray(table))
            return
        if not self.std:
            filled = self.model.impute(chunk.given, possible=self.possible)
            yield self._known_kept(chunk, gaps, np.asarray(filled))
            return
        filled, spread = self.model.impute(chunk.given, return_std=True, possible=self.possible)
        filled, spread = np.asarray(filled), np.asarray(spread)
        yield self._known_kept(chunk, gaps, filled)
        # Values of a range vary no more than by half of it, however long a logarithm's tail is.
        low, high = self.given.in_units(self.model.value_ranges_, possible=False)
        own = np.minimum(self.given.spread_in_units(filled, spread), (high - low) / 2)
        yield np.where(gaps, own, 0.0)

    def _known_kept(self, chunk: Chunk, gaps: Any, filled: Array) -> Array:
        own = self.given.in_units(filled, possible=self.possible)
        return np.where(gaps, own, chunk.values)
