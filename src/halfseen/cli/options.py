"""Options that several commands share."""

from collections.abc import Sequence
from csv import reader, writer
from io import StringIO
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from halfseen.cli import choices as scales
from halfseen.persistence.atomic import check_not_input

PACKED = {".gz", ".bz2", ".xz", ".zst", ".zip"}
SEVERAL = (
    " Several tables that share some columns are put together: their columns are united by name."
)
KNOWN_FILES = (
    ".csv, .tsv, .txt (.gz too), .xlsx, .ods, .parquet, .feather, .arrow, .sav, .dta, .sas7bdat, "
    ".rds, .rda, .jsonl, .sqlite, .duckdb, .npy, .npz or .mtx; a folder or a pattern of "
    "files of one kind; a connection string of a database, with --table; or - for standard input."
)
Data = Annotated[
    list[str], typer.Argument(metavar="DATA", help=f"The table: {KNOWN_FILES}{SEVERAL}")
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Of text: utf-8, cp1252 and the like, if found wrongly."),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether text, or a sheet, has a line of names, if found wrongly.",
    ),
]
Skip = Annotated[
    int | None,
    typer.Option(min=0, help="Lines before that of names, if found wrongly: titles, comments."),
]
Table = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Which sheet, data frame or table, of a file or a database with several; of databases "
        "also a query, 'select ...'.",
    ),
]
Rename = Annotated[
    list[str] | None,
    typer.Option(
        metavar="OLD=NEW",
        help="Of several tables: a column that is called otherwise in one of them, hr=pulse, or "
        "b.csv:hr=pulse. May be repeated.",
    ),
]
Unit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TABLE:COLUMN=FACTOR",
        help="Of several tables: what a column of one of them is multiplied by to be in the unit "
        "of the others, b.csv:glucose=18.016, and what is added then, b.csv:degrees=0.5556,-17.78. "
        "May be repeated.",
    ),
]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="COLUMN",
        help="Of several tables: rows with the same value here, such as a patient's number, are "
        "one row.",
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model written by 'halfseen fit'.", exists=True)
]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Use only these columns: 'age,pulse'. May be repeated."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Leave these columns out. May be repeated."),
]
MissingValues = Annotated[
    str,
    typer.Option(
        metavar="VALUES",
        help="What else stands for a gap: 'refused,-999', or in one column 'insulin:0'. Empty "
        "cells, NA, NaN, null and the like do anyway.",
    ),
]
AbsentAsZero = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="A gap in these columns of numbers means nought, as of drugs that were not given: "
        "'aspirin,statin'; '*' for all. May be repeated.",
    ),
]
Dates = Annotated[
    str | None,
    typer.Option(
        metavar="DAY",
        help="Read dates as days since this one, such as 2000-01-01; without it columns of dates "
        "are left out.",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="What stands before decimals: , or ., if found wrongly."),
]
Vocabulary = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What the columns of a sparse matrix (.mtx, .npz) are called: a text file of one word "
        "a line. Without it, one is looked for beside the matrix: ap_terms.txt, ap.vocab, "
        "vocabulary.txt and the like beside ap.mtx, or an array 'vocab' in an .npz.",
        exists=True,
        dir_okay=False,
        readable=True,
    ),
]
TextColumn = Annotated[
    str | None,
    typer.Option(
        "--text",
        metavar="COLUMN",
        help="Count the words of this column of text, for models of topics: words of two letters "
        "or more, in small letters, in at least --min-rows rows and in half of them at most. The "
        "model keeps how.",
    ),
]
StopWords = Annotated[
    scales.StopWords,
    typer.Option(help="Common words that --text leaves out: English ones, or none."),
]
MinRows = Annotated[
    int,
    typer.Option(
        min=0,
        help="Rows that a word of --text is in at least; 0 is 5, and 2 below 500 rows.",
    ),
]
Log = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Put these columns on a log scale; '*' for all."),
]
Scale = Annotated[
    scales.Scale,
    typer.Option(
        help="Columns in different units: measure the noise of each in its own robust spread "
        "(robust), divide columns by their standard deviations (standard), or take all to be in "
        "one unit (none)."
    ),
]
Standardise = Annotated[
    bool,
    typer.Option(
        "--standardise", "--standardize", hidden=True, help="The same as --scale standard."
    ),
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

ForSpreadsheets = Annotated[
    bool,
    typer.Option(
        "--for-spreadsheets",
        help="In .csv and .tsv, put an apostrophe before names and cells of text that a "
        "spreadsheet would run as a formula, such as =cmd|...",
    ),
]

Sequence_ = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Rows with the same value here follow each other, such as the visits of a patient.",
    ),
]
Order = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="By which they follow each other: a number or a date."),
]
Step = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="From one row to the next in --order, in days for dates: rows between count as "
        "missing. Without it all steps must be alike.",
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


def listed(given: str | list[str] | None) -> list[str]:
    """The names in options such as ``--columns 'age, pulse' --columns lactate``.

    >>> listed(["age, pulse", '"lactate, venous"'])
    ['age', 'pulse', 'lactate, venous']
    """
    texts = [given] if isinstance(given, str) else given or []
    lines = (line for text in texts for line in reader([text], skipinitialspace=True))
    return [name.strip() for line in lines for name in line if name.strip()]


def all_or_some(given: list[str] | None) -> bool | tuple[str, ...]:
    """The names in an option, or whether it is of all columns.

    >>> all_or_some(["age, pulse"]), all_or_some(["*"])
    (('age', 'pulse'), True)
    """
    names = tuple(listed(given))
    return True if names == ("*",) else names


def as_option(names: Sequence[str]) -> str:
    r"""Names as an option takes them from a shell.

    >>> as_option(["age", "lactate, venous"])
    '\'age,"lactate, venous"\''
    """
    line = StringIO()
    writer(line, lineterminator="").writerow(names)
    return quote(line.getvalue())


def named_after(given: str, ending: str) -> Path:
    """Where a result is written that was given no name: in the folder one is in.

    >>> named_after("data/ap.mtx.gz", ".halfseen").name
    'ap.halfseen'
    """
    named = Path(given)
    while named.suffix in PACKED:
        named = named.with_suffix("")
    if given == "-" or "://" in given or set(given) & set("*?[") or not named.stem:
        raise ValueError(
            f"There is no file to name the result after. Give --out, such as m{ending}."
        )
    return Path(f"{named.stem}{ending}")


def check_writable(out: Path, force: bool, *inputs: Path) -> None:
    """Refuse before any work is done what could not, or must not, be written after it."""
    if out.is_dir():
        raise ValueError(f"{out} is a folder. Give the name of a file in it.")
    check_not_input(out, *inputs)
    if out.exists() and not force:
        raise ValueError(
            f"{out} is there already. Use --force to replace it, or another name for --out."
        )
    if not out.absolute().parent.is_dir():
        raise ValueError(f"The folder {out.absolute().parent} does not exist. Create it first.")
