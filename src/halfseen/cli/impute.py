"""``halfseen impute``: fill the gaps of a table."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from halfseen import load
from halfseen.cli.console import Console
from halfseen.cli.filling import FilledTable, ImputerFiller, ModelFiller, summarise_fills
from halfseen.cli.input_files import check_columns, files_of, local_paths
from halfseen.cli.model_input import numerical_errors
from halfseen.cli.new_table import ColumnReader, kept_names, open_new_table
from halfseen.cli.options import (
    KNOWN_FILES,
    Keep,
    Kinds,
    OutputOptions,
    TableOptions,
    Without,
    parse_kinds,
    parse_names,
)
from halfseen.cli.output_files import (
    check_table_format,
    check_writable,
    table_file,
    with_suffix_word,
)
from halfseen.cli.training_table import open_table
from halfseen.data.errors import ModelFileError
from halfseen.data.formatting import counted
from halfseen.imputation.estimator import Imputer
from halfseen.io.coding import declared_kinds
from halfseen.io.files import Files
from halfseen.io.formats import ENDINGS
from halfseen.persistence.container import check_start


@dataclass(frozen=True, kw_only=True)
class FillOptions:
    """Options for fills and output files."""

    expected: Annotated[
        bool,
        typer.Option(
            "--expected",
            help="Fill with averages as they are, such as 0.3 children, rather than with values "
            "that a column can have.",
        ),
    ] = False
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Write so many tables, filled by lot, for multiple imputation: filled.1.csv, "
            "filled.2.csv and so on for --out filled.csv.",
        ),
    ] = None
    std: Annotated[
        bool,
        typer.Option(
            "--std",
            help="Write a second table, filled.std.csv for --out filled.csv: how far off each "
            "filled value may be, as a standard deviation; 0 where a value is known, and nothing "
            "for columns of words.",
        ),
    ] = False
    seed: Annotated[int | None, typer.Option(min=0, help="Makes --draws repeatable.")] = None

    def outputs(self, out: Path) -> list[Path]:
        """All output files."""
        if self.draws is not None and self.draws < 1:
            raise ValueError(
                f"--draws must be a whole number of at least 1. Got {self.draws} instead."
            )
        if self.draws is not None and self.std:
            raise ValueError(
                "--std goes with averages: how far apart draws are tells how sure they are. Leave "
                "out --std or --draws."
            )
        if self.draws is not None:
            return [with_suffix_word(out, str(number + 1)) for number in range(self.draws)]
        return [out, with_suffix_word(out, "std")] if self.std else [out]


@dataclass(frozen=True, kw_only=True)
class ImputerOptions:
    """Options of the imputer."""

    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Without a model: learn from these columns, and fill them, only: 'age,pulse'.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Without a model: neither use nor fill these columns."),
    ] = None
    kind: Kinds = None
    max_seconds: Annotated[
        float | None,
        typer.Option(help="Without a model: learn for no longer than that, nearly."),
    ] = None


def impute(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] DATA...",
            help="A model written by 'halfseen fit', if there is one, and the table: "
            f"{KNOWN_FILES}",
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Where to write: .csv, .tsv (.gz), .parquet, .feather.")
    ],
    *,
    keep: Keep = None,
    filling: FillOptions,
    learning: ImputerOptions,
    table: Annotated[TableOptions, Without("text", "stop_words", "min_rows")],
    output: OutputOptions,
) -> None:
    r"""Fill the gaps of a table by what is expected given the rest of the row.

    Without a model, how to fill them is learned from the table itself, by mixtures and regressions
    that are made for that, and all columns are written: those that are not used (--drop, names,
    dates and the like) as they are. With a model, gaps are filled by what it expects, and its
    columns are written.

    Known values and the order of rows stay as they are. Nothing is filled in beyond the values that
    a column held in the table that was learned from, and columns of whole numbers, or of few
    values, get such (--expected for averages); columns of words get the likeliest. A column on a
    log scale is filled with its geometric mean.

    \b
    For example:
      halfseen impute patients.csv --out filled.csv
      halfseen impute patients.csv --out filled.csv --draws 20 --seed 1
      halfseen impute patients.halfseen patients.csv --out filled.csv --keep id
      halfseen impute patients.halfseen new.parquet --out filled.parquet --keep '*' --std
    """
    model, data = _model_and_data(paths)
    files = files_of(data, table)
    check_table_format(out)
    outs = filling.outputs(out)
    for path in outs:
        check_writable(path, output.force, *([model] if model else []), *local_paths(files))
    console = Console(output.as_json)
    settings = {
        "draws": filling.draws,
        "random_state": filling.seed,
        "possible": not filling.expected,
    }
    filler = (
        _learn(console, files, learning, settings)
        if model is None
        else _load(model, learning, table, not filling.expected)
    )
    new = open_new_table(filler.estimator, files)
    names = new.source.names
    everything = ["*"] if model is None and new.source.named else []
    kept = kept_names(new, parse_names(keep) or everything, names)
    wanted = {*kept, *names}
    order = [name for name in new.source.all_names if name in wanted]
    reader = ColumnReader(new.source, kept)
    seed = np.random.SeedSequence(filling.seed).entropy
    filled = FilledTable(filler, new, filling.draws, filling.std, seed)
    with console.warnings_as_cautions(), new.reading(), ExitStack() as stack:
        how = {"force": output.force, "for_spreadsheets": output.for_spreadsheets}
        writers = [stack.enter_context(table_file(path, **how)) for path in outs]
        for chunk in new.chunks(console, "Filling gaps", dense=True):
            others = reader.read(chunk.n_rows)
            for write, own in zip(writers, filled.fill(chunk), strict=True):
                both = others | own
                write({name: both[name] for name in order})
    gaps, were = counted(filled.n_filled, "gap"), "was" if filled.n_filled == 1 else "were"
    console.note(f"{gaps} in {counted(filled.n_rows, 'row')} {were} filled.")
    summary = summarise_fills(filled)
    summary.show(console)
    if filled.n_left:
        stay = "stays" if filled.n_left == 1 else "stay"
        console.note(
            f"{counted(filled.n_left, 'gap')} {stay}, in columns of which no value was ever seen."
        )
    console.say(
        f"Tables: {outs[0]} to {outs[-1]}"
        if len(outs) > 1 and not filling.std
        else f"Table: {outs[0]}"
    )
    if filling.std:
        console.say(f"Standard deviations: {outs[1]}")
    console.finish(
        table=str(outs[0]),
        tables=[str(path) for path in (outs if filling.draws else outs[:1])],
        standard_deviations=str(outs[1]) if filling.std else None,
        n_rows=filled.n_rows,
        n_filled=filled.n_filled,
        columns=order,
        gaps=summary.as_dicts,
    )


def _model_and_data(paths: Sequence[str]) -> tuple[Path | None, Sequence[str]]:
    """The model, if one is given, and the table."""
    first = Path(paths[0])
    if len(paths) == 1 or first.is_dir():
        return None, paths
    if first.name.lower().endswith(tuple(ENDINGS)) and not _is_model(first):
        return None, paths
    if not first.exists():
        raise ValueError(f"{first} does not exist. Check its name and folder.")
    return first, paths[1:]


def _is_model(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            check_start(file.read(256), path.stat().st_size, path.name)
    except (ModelFileError, OSError):
        return False
    return True


def _learn(
    console: Console, data: Files, options: ImputerOptions, settings: dict[str, Any]
) -> ModelFiller:
    """Learn an imputer from the usable columns of a file."""
    kinds = parse_kinds(options.kind)
    check_columns(data, kind=list(kinds))
    if options.max_seconds is not None and not options.max_seconds > 0:
        raise ValueError(
            f"--max-seconds must be a number above 0. Got {options.max_seconds:g} instead."
        )
    imputer = Imputer(kinds or "auto", max_seconds=options.max_seconds, **settings)
    columns, drop = parse_names(options.columns), parse_names(options.drop)
    table = open_table(data, columns, drop, kinds=partial(declared_kinds, imputer.kinds))
    name = table.files.name
    console.note(*table.notes(short=True))
    console.note(f"No model is given, so gaps are learned to be filled from {name} itself.")
    names = list(table.source.names) if table.source.named else None
    files = replace(table.files, columns=names, drop=())
    with console.warnings_as_cautions(), numerical_errors(table.files, lambda: table.source):
        imputer.fit(files)
    imputer.verbose = 0
    learned = imputer.learned_
    return ImputerFiller(imputer, settings["possible"], learned.accuracy, learned.zero_beside)


def _load(model: Path, options: ImputerOptions, table: TableOptions, possible: bool) -> ModelFiller:
    """Load a model, and refuse options of learning."""
    learning = {
        "--columns": parse_names(options.columns),
        "--drop": parse_names(options.drop),
        "--kind": parse_kinds(options.kind),
        "--max-seconds": options.max_seconds,
        "--absent-as-zero": parse_names(table.absent_as_zero),
        "--dates": table.dates,
    }
    given = [option for option, value in learning.items() if value]
    if given:
        raise ValueError(
            f"{given[0]} is for learning from the table itself, and a model is given. "
            f"Leave out {given[0]}, or the model."
        )
    return ModelFiller(load(model), possible)
