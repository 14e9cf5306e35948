"""Options of commands, and the groups in which commands share them."""

from collections.abc import Callable, Sequence
from csv import reader, writer
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from io import StringIO
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from halfseen.io.coding import check_kinds
from halfseen.models import MODELS

Adjust = StrEnum("Adjust", ["location"])
Covariance = StrEnum(
    "Covariance",
    ["tied_spherical", "spherical", "tied_diag", "diag", "tied", "full", "factor", "auto"],
)
Gaps = StrEnum("Gaps", ["ignorable", "informative"])
Method = StrEnum("Method", ["weighted", "full", "partial"])
Model = StrEnum("Model", {name.replace("-", "_"): name for name in MODELS})  # type: ignore[misc]
Moments = StrEnum("Moments", ["available", "adjusted"])
PageFormat = StrEnum("PageFormat", ["html", "json", "md"])
Scale = StrEnum("Scale", ["robust", "standard", "none"])
StopWords = StrEnum("StopWords", ["english", "none"])
Weights = StrEnum("Weights", ["auto", "observed", "sqrt", "signal", "none"])

MODEL_SUMMARIES = " ".join(f"{name}: {kind.about.gives}." for name, kind in MODELS.items())
KIND_EXAMPLE = "Write the column, = and a kind, such as --kind stage=ordinal."
KNOWN_FILES = (
    ".csv, .tsv, .txt (.gz too), .xlsx, .ods, .parquet, .feather, .arrow, .sav, .dta, .sas7bdat, "
    ".rds, .rda, .jsonl, .sqlite, .duckdb, .npy, .npz or .mtx; a folder or a pattern of "
    "files of one kind; a connection string of a database, with --table; or - for standard input."
)
Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help=f"The table: {KNOWN_FILES} Several tables that share some columns are put together: "
        "their columns are united by name.",
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model written by 'halfseen fit'.", exists=True)
]
Number = Annotated[
    str,
    typer.Option(
        "--k",
        "-k",
        metavar="NUMBER",
        help="How many groups, or topics; without it, or with auto, as many as the data support.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, for machines, and nothing else.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="Also write these columns, which are not in the model, such as identifiers; '*' for "
        "all.",
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Rows with the same value here depend on each other, such as those of one patient.",
    ),
]
Outcomes = Annotated[
    list[str] | None,
    typer.Option(
        "--outcome",
        metavar="COLUMN",
        help="What became of rows, such as death: shown by component, not learned from.",
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=KIND",
        help="What a column is: continuous, count, categorical, ordinal, binary or ignored, such "
        "as 'stage=ordinal'. May be repeated; the others are found from the data.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How the files of a table are read and combined."""

    missing_values: Annotated[
        str,
        typer.Option(
            metavar="VALUES",
            help="What else stands for a gap: 'refused,-999', or in one column 'insulin:0'. Empty "
            "cells, NA, NaN, null and the like do anyway.",
        ),
    ] = ""
    absent_as_zero: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="A gap in these columns of numbers means nought, as of drugs that were not given: "
            "'aspirin,statin'; '*' for all. May be repeated.",
        ),
    ] = None
    dates: Annotated[
        str | None,
        typer.Option(
            metavar="DAY",
            help="Read dates as days since this one, such as 2000-01-01; without it columns of "
            "dates are left out.",
        ),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(metavar="SIGN", help="What stands before decimals: , or ., if found wrongly."),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of text: utf-8, cp1252 and the like, if found wrongly."),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether text, or a sheet, has a line of names, if found wrongly.",
        ),
    ] = None
    skip: Annotated[
        int | None,
        typer.Option(min=0, help="Lines before that of names, if found wrongly: titles, comments."),
    ] = None
    table: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Which sheet, data frame or table, of a file or a database with several; of "
            "databases also a query, 'select ...'.",
        ),
    ] = None
    rename: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OLD=NEW",
            help="Of several tables: a column that is called otherwise in one of them, hr=pulse, "
            "or b.csv:hr=pulse. May be repeated.",
        ),
    ] = None
    unit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE:COLUMN=FACTOR",
            help="Of several tables: what a column of one of them is multiplied by to be in the "
            "unit of the others, b.csv:glucose=18.016, and what is added then, "
            "b.csv:degrees=0.5556,-17.78. May be repeated.",
        ),
    ] = None
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="COLUMN",
            help="Of several tables: rows with the same value here, such as a patient's number, "
            "are one row.",
        ),
    ] = None
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What the columns of a sparse matrix (.mtx, .npz) are called: a text file of one "
            "word a line. Without it, one is looked for beside the matrix: ap_terms.txt, ap.vocab, "
            "vocabulary.txt and the like beside ap.mtx, or an array 'vocab' in an .npz.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ] = None
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="COLUMN",
            help="Count the words of this column of text, for models of topics: words of two "
            "letters or more, in small letters, in at least --min-rows rows and in half of them at "
            "most. The model keeps how.",
        ),
    ] = None
    stop_words: Annotated[
        StopWords,
        typer.Option(help="Common words that --text leaves out: English ones, or none."),
    ] = StopWords.english
    min_rows: Annotated[
        int,
        typer.Option(
            min=0,
            help="Rows that a word of --text is in at least; 0 is 5, and 2 below 500 rows.",
        ),
    ] = 0


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """Which columns are used, with which kinds and scales."""

    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Use only these columns: 'age,pulse'. May be repeated."),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Leave these columns out. May be repeated."),
    ] = None
    kind: Kinds = None
    log: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Put these columns on a log scale; '*' for all."),
    ] = None
    scale: Annotated[
        Scale,
        typer.Option(
            help="Columns in different units: measure the noise of each in its own robust spread "
            "(robust), divide columns by their standard deviations (standard), or take all to be "
            "in one unit (none)."
        ),
    ] = Scale.robust
    standardise: Annotated[
        bool,
        typer.Option(
            "--standardise", "--standardize", hidden=True, help="The same as --scale standard."
        ),
    ] = False

    @property
    def used(self) -> list[str]:
        """The columns to use; empty means all."""
        return parse_names(self.columns)

    @property
    def dropped(self) -> list[str]:
        """The columns to leave out."""
        return parse_names(self.drop)

    @property
    def logged(self) -> list[str]:
        """The columns on a log scale; ``*`` means all."""
        return parse_names(self.log)

    @property
    def kinds(self) -> dict[str, str]:
        """The declared kinds of columns."""
        return parse_kinds(self.kind)

    @property
    def standardised(self) -> bool:
        """Whether columns are divided by their standard deviations."""
        return self.standardise or self.scale is Scale.standard


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Groups of dependent rows, sequences, and outcomes."""

    adjust: Annotated[
        Adjust | None,
        typer.Option(
            help="Of several tables: move and stretch shared columns of numbers, so that each has "
            "the same mean and spread in all tables (location). The model keeps by how much."
        ),
    ] = None
    groups: Groups = None
    sequence: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Rows with the same value here follow each other, such as the visits of a "
            "patient.",
        ),
    ] = None
    order: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="By which they follow each other: a number or a date."),
    ] = None
    step: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="From one row to the next in --order, in days for dates: rows between count as "
            "missing. Without it all steps must be alike.",
        ),
    ] = None
    outcome: Outcomes = None

    @property
    def in_order(self) -> dict[str, Any]:
        """Parameters of ``fit`` for sequences; empty without such options."""
        if self.step is not None and self.order is None:
            raise ValueError("--step is that of the order of rows. Give --order too.")
        given = {"sequence": self.sequence, "order": self.order, "step": self.step}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """How results are written and printed."""

    for_spreadsheets: Annotated[
        bool,
        typer.Option(
            "--for-spreadsheets",
            help="In .csv and .tsv, put an apostrophe before names and cells of text that a "
            "spreadsheet would run as a formula, such as =cmd|...",
        ),
    ] = False
    force: Force = False
    as_json: Json = False


class Without(frozenset[str]):
    """Options of a group that a command does not have."""

    def __new__(cls, *names: str) -> "Without":
        return super().__new__(cls, names)


WITH_MODEL = Without("absent_as_zero", "dates", "text", "stop_words", "min_rows")
"""What a model keeps of how tables are read, and so is not said again."""


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Expand groups of options into a command's parameters, for typer.

    >>> from inspect import signature
    >>> def show(output: Annotated[OutputOptions, Without("for_spreadsheets")]) -> None:
    ...     print(output.force, output.for_spreadsheets)
    >>> list(signature(expand_groups(show)).parameters)
    ['force', 'as_json']
    >>> expand_groups(show)(force=True, as_json=False)
    True False
    """
    parameters: list[Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for parameter in signature(command).parameters.values():
        group, *about = (
            get_args(parameter.annotation)
            if get_origin(parameter.annotation) is Annotated
            else (parameter.annotation,)
        )
        if not is_dataclass(group):
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
            continue
        assert isinstance(group, type)
        absent = frozenset().union(*(one for one in about if isinstance(one, Without)))
        options = [field for field in fields(group) if field.name not in absent]
        groups[parameter.name] = group, [field.name for field in options]
        hints = get_type_hints(group, include_extras=True)
        parameters += [
            Parameter(
                field.name,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if field.default is MISSING else field.default,
                annotation=hints[field.name],
            )
            for field in options
        ]

    @wraps(command)
    def expanded(**given: Any) -> None:
        grouped = {
            name: group(**{option: given.pop(option) for option in options})
            for name, (group, options) in groups.items()
        }
        command(**given, **grouped)

    expanded.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return expanded


def parse_names(given: str | list[str] | None) -> list[str]:
    """The names in options such as ``--columns 'age, pulse' --columns lactate``.

    >>> parse_names(["age, pulse", '"lactate, venous"'])
    ['age', 'pulse', 'lactate, venous']
    """
    texts = [given] if isinstance(given, str) else given or []
    lines = (line for text in texts for line in reader([text], skipinitialspace=True))
    return [name.strip() for line in lines for name in line if name.strip()]


def format_names(names: Sequence[str]) -> str:
    r"""Names formatted as an option, quoted for a shell.

    >>> format_names(["age", "lactate, venous"])
    '\'age,"lactate, venous"\''
    """
    line = StringIO()
    writer(line, lineterminator="").writerow(names)
    return quote(line.getvalue())


def parse_kinds(given: Sequence[str] | None) -> dict[str, str]:
    """Kinds by column, from options; names may contain =.

    >>> parse_kinds(["tumour stage=ordinal", "a=b, c=count"])
    {'tumour stage': 'ordinal', 'a=b, c': 'count'}
    """
    found: dict[str, str] = {}
    for text in given or ():
        column, mark, kind = (part.strip() for part in text.rpartition("="))
        if not (mark and column):
            raise ValueError(f"--kind {text!r} does not say what is what. {KIND_EXAMPLE}")
        if found.setdefault(column, kind) != kind:
            raise ValueError(f"--kind says that '{column}' is {found[column]!r} and {kind!r}.")
    check_kinds(found)
    return found


def parse_number(k: str) -> int | str:
    """The value of ``-k``."""
    if k == "auto":
        return k
    if not k.isdecimal() or int(k) < 1:
        raise ValueError(f"-k must be a whole number of at least 1, or auto. Got {k!r} instead.")
    return int(k)


def parse_every_or_names(given: list[str] | None) -> bool | tuple[str, ...]:
    """The names in an option, or True if it is of all columns.

    >>> parse_every_or_names(["age, pulse"]), parse_every_or_names(["*"])
    (('age', 'pulse'), True)
    """
    names = tuple(parse_names(given))
    return True if names == ("*",) else names
