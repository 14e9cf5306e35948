"""``halfseen impute``: a table without gaps."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from halfseen import load
from halfseen.cli.gaps_told import Gaps, counted
from halfseen.cli.kinds import KindOf, said
from halfseen.cli.options import (
    KNOWN_FILES,
    AbsentAsZero,
    Dates,
    Decimal,
    Encoding,
    Force,
    ForSpreadsheets,
    Header,
    Json,
    Keep,
    MissingValues,
    On,
    Rename,
    Skip,
    Table,
    Unit,
    Vocabulary,
    all_or_some,
    check_writable,
    listed,
)
from halfseen.cli.progress import over_rows
from halfseen.cli.reading.asked_files import asked_files, written
from halfseen.cli.reading.beside import Beside
from halfseen.cli.reading.filled_chunks import Filled
from halfseen.cli.reading.fills import ByImputer, ByModel, Fills
from halfseen.cli.reading.fitting import fitting
from halfseen.cli.reading.imputed_table import Asked, learned_from
from halfseen.cli.reading.kept_columns import kept_names
from halfseen.cli.results import beside, check_kind, table_file
from halfseen.cli.voice import Voice
from halfseen.data.errors import ModelFileError
from halfseen.io.formats import ENDINGS
from halfseen.persistence.container import check_start


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
            "filled value may be, as a standard deviation; 0 where a value is known, and nothing "
            "for columns of words.",
        ),
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes --draws repeatable.")] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Without a model: learn from these columns, and fill them, only: 'age,pulse'.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Without a model: neither use nor fill these columns."),
    ] = None,
    kind: KindOf = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(help="Without a model: learn for no longer than that, nearly."),
    ] = None,
    missing_values: MissingValues = "",
    absent_as_zero: AbsentAsZero = None,
    dates: Dates = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    header: Header = None,
    skip: Skip = None,
    table: Table = None,
    rename: Rename = None,
    unit: Unit = None,
    on: On = None,
    vocabulary: Vocabulary = None,
    for_spreadsheets: ForSpreadsheets = False,
    force: Force = False,
    as_json: Json = False,
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
    inputs = asked_files(
        *(data, listed(missing_values)),
        rename=rename,
        unit=unit,
        on=on,
        absent_as_zero=all_or_some(absent_as_zero),
        dates=dates,
        decimal=decimal,
        encoding=encoding,
        header=header,
        skip=skip,
        table=table,
        vocabulary=vocabulary,
    )
    check_kind(out)
    outs = _outs(out, draws, std)
    for path in outs:
        check_writable(path, force, *([model] if model else []), *written(inputs))
    voice = Voice(as_json)
    asked = Asked(
        *(listed(columns), listed(drop), said(kind), max_seconds),
        *(inputs.absent_as_zero, inputs.dates),
    )
    if model is None:
        settings = {"draws": draws, "random_state": seed, "possible": not expected}
        fills: Fills = ByImputer(learned_from(voice, inputs, asked, **settings))
    else:
        _check_alone(asked)
        fills = ByModel(load(model), not expected)
    given = fitting(fills.estimator, inputs)
    names = given.source.names
    everything = ["*"] if model is None and given.source.named else []
    kept = kept_names(given, listed(keep) or everything, names)
    wanted = {*kept, *names}
    order = [name for name in given.source.all_names if name in wanted]
    others, filled = Beside(given.source, kept), Filled(fills, given, draws, std, not expected)
    filled.seed = np.random.SeedSequence(seed).entropy
    with voice.listening(), given.reckoning(), given.unseen_told(), ExitStack() as files:
        writers = [
            files.enter_context(table_file(path, force=force, for_spreadsheets=for_spreadsheets))
            for path in outs
        ]
        for chunk in over_rows(voice, "Filling gaps", given, dense=True):
            taken = others.take(chunk.n_rows)
            for write, own in zip(writers, filled.of(chunk), strict=True):
                both = taken | own
                write({name: both[name] for name in order})
    voice.note(counted(filled.n_filled, filled.n_rows))
    gaps = Gaps.of(names, filled, fills.accuracy, fills.zero_beside)
    gaps.tell(voice)
    if filled.n_left:
        stay = "1 gap stays" if filled.n_left == 1 else f"{filled.n_left:,} gaps stay"
        voice.note(f"{stay}, in columns of which no value was ever seen.")
    _tell(voice, outs, std)
    voice.finish(
        table=str(outs[0]),
        tables=[str(path) for path in (outs if draws else outs[:1])],
        standard_deviations=str(outs[1]) if std else None,
        n_rows=filled.n_rows,
        n_filled=filled.n_filled,
        columns=order,
        gaps=gaps.as_dicts,
    )


def _model_and_data(paths: Sequence[str]) -> tuple[Path | None, Sequence[str]]:
    """The model, if there is one, and the table: a file that ends as tables do is no model."""
    first = Path(paths[0])
    if len(paths) == 1 or first.is_dir():
        return None, paths
    if first.name.lower().endswith(tuple(ENDINGS)) and not _is_model(first):
        return None, paths
    if not first.exists():
        raise ValueError(f"{first} does not exist. Check its name and folder.")
    return first, paths[1:]


def _is_model(path: Path) -> bool:
    """Whether a file begins as models do, whatever its name."""
    try:
        with path.open("rb") as file:
            check_start(file.read(256), path.stat().st_size, path.name)
    except (ModelFileError, OSError):
        return False
    return True


def _check_alone(asked: Asked) -> None:
    """Refuse options of learning where a model was learned already."""
    if asked.options:
        raise ValueError(
            f"{asked.options[0]} is for learning from the table itself, and a model is given. "
            f"Leave out {asked.options[0]}, or the model."
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
