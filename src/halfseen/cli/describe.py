"""``halfseen describe``: what is missing, before any model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Annotated

import numpy as np
import typer

from halfseen.cli.advice import Seen, advice, what_methods_use
from halfseen.cli.each_column import (
    MODEL,
    Done,
    for_machines,
    of_model,
    of_table,
    show,
)
from halfseen.cli.kinds import KindOf, as_declared, check_columns, said
from halfseen.cli.options import (
    AbsentAsZero,
    Columns,
    Data,
    Dates,
    Decimal,
    Drop,
    Encoding,
    Header,
    Json,
    MissingValues,
    On,
    Rename,
    Skip,
    Table,
    Unit,
    Vocabulary,
    all_or_some,
    as_option,
    listed,
)
from halfseen.cli.reading.asked_files import as_arguments, asked_files
from halfseen.cli.reading.column_kinds import ColumnKind, column_kinds
from halfseen.cli.reading.command_table import Surveyed, open_table, surveyed
from halfseen.cli.value_codes import CodeSums
from halfseen.cli.voice import Voice
from halfseen.cli.wording import in_options
from halfseen.data.arrays import Array, Mask
from halfseen.data.column_moments import ValueSums
from halfseen.data.formatting import percent, quoted
from halfseen.diagnostics.missingness import Missingness, missingness
from halfseen.io.columns import DECLARED
from halfseen.io.files import Files
from halfseen.moments.robust_statistics import far_values
from halfseen.report.columns import what_is_missing

MOST_COLUMNS = 60
MOST_COUNTED = 20
MOST_PATTERNS = 8
MOST_LABELS = 30


def describe(
    data: Data,
    columns: Columns = None,
    drop: Drop = None,
    kind: KindOf = None,
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
    show_text: Annotated[
        bool,
        typer.Option(
            "--show-text",
            help="Quote some cells of columns of text, which may be names of people.",
        ),
    ] = False,
    all_columns: Annotated[
        bool,
        typer.Option(
            "--all-columns",
            help="Only say what was done to each column, in one table; of a model, as it keeps it.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    r"""Say what is missing in a table, in what pattern, and what follows for a fit.

    \b
    For example:
      halfseen describe patients.csv
      halfseen describe survey.tsv.gz --missing-values 'refused,-9' --drop id --json
      halfseen describe patients.xlsx --all-columns
      halfseen describe patients.halfseen --all-columns
    """
    voice = Voice(as_json)
    if data[0].endswith(MODEL):
        _tell_each(voice, of_model(Path(data[0])))
        return
    declared = said(kind)
    files = asked_files(
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
    check_columns(declared, files)
    opened = open_table(
        *(files, listed(columns), listed(drop)),
        show_text=show_text,
        kinds=as_declared(declared),
    )
    all_logged = ValueSums.logging(np.ones(len(opened.source.names), bool))
    seen = surveyed(opened, ValueSums.of, all_logged, CodeSums.of)
    kinds, words = column_kinds(seen), set(seen.table.worded)
    if all_columns:
        found_kinds = {name: one.told for name, one in kinds.items()}
        known = dict(zip(seen.table.source.names, seen.features.count / seen.n_rows, strict=True))
        voice.note(*seen.table.source.notes)
        _tell_each(voice, of_table(seen.table.columns, found_kinds, known))
        return
    numbers = np.array([name not in words for name in seen.table.source.names])
    found = missingness(seen.table.rows(), seen.features, ordered=numbers)
    voice.note(
        f"{opened.file}: {found.n_rows:,} rows, {_columns(len(found.names))} that can be used.",
        *seen.table.notes,
    )
    voice.say("")
    if seen.table.sparse and (found.observed == 1).all():
        _show_counts(voice, found, seen.features.total)
    else:
        _show_columns(voice, found, kinds)
    if show_text:
        _show_categories(voice, seen)
    _show_patterns(voice, found)
    given = list(advice(found, _numbers(seen, numbers), kinds))
    options = [option for one in given for option in one.options]
    sections = {
        "missing": list(what_is_missing(found)),
        "methods": list(what_methods_use(found)),
        "advice": [one.sentence for one in given] or ["Nothing stands in the way of a fit."],
    }
    for title, key in _TITLES.items():
        voice.say(title)
        for sentence in sections[key]:
            voice.say(f"  - {sentence}")
        voice.say("")
    voice.say(f"Next:  {_next(files, columns, drop, kind, missing_values, options)}")
    aside = [column for column in seen.table.columns if not column.used]
    ignored = {column.name: in_options(column.sentence or DECLARED) for column in aside}
    voice.finish(
        **_for_machines(found),
        kinds={name: one.kind for name, one in kinds.items()},
        n_categories={name: one.n_values for name, one in kinds.items() if one.n_values},
        ignored=ignored,
        options=options,
        **sections,
    )


def _tell_each(voice: Voice, columns: Sequence[Done]) -> None:
    show(voice, columns)
    voice.finish(columns=for_machines(columns))


def _columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number:,} columns"


def _numbers(seen: Surveyed, numbers: Mask) -> Seen:
    """What was summed of the columns of numbers, with values that stand apart."""
    features = seen.features.select(numbers)
    values, logarithms, codes = (sums.select(numbers) for sums in seen.sums)
    names = tuple(np.array(seen.table.source.names, dtype=object)[numbers])
    # Counts in sparse tables have long tails; fits tell those that are too far out.
    measured = numbers.any() and not seen.table.sparse
    far = far_values(seen.table.rows().select(numbers), features) if measured else []
    return Seen(names, features, values, logarithms, codes, far, seen.table.sparse)


def _next(
    files: Files,
    columns: list[str] | None,
    drop: list[str] | None,
    kinds: list[str] | None,
    missing_values: str,
    options: list[str],
) -> str:
    """The fit that follows, with what was asked for here and what is safe to do."""
    asked = [
        f"--{name} {as_option(listed(given))}"
        for name, given in (
            ("columns", columns),
            ("drop", drop),
            ("missing-values", missing_values),
        )
        if listed(given)
    ]
    declared = [f"--kind {quote(kind)}" for kind in kinds or ()]
    words = [
        "halfseen fit",
        as_arguments(files, learning=True),
        *asked,
        *declared,
        *options,
        "--out model.halfseen",
    ]
    return " ".join(words)


_TITLES = {
    "What is missing": "missing",
    "What each method would use": "methods",
    "Advice": "advice",
}


def _show_columns(voice: Voice, found: Missingness, kinds: Mapping[str, ColumnKind]) -> None:
    order = np.argsort(-found.observed, kind="stable")
    rows = [
        (
            found.names[i],
            *([kinds[found.names[i]].told] if kinds else []),
            percent(found.observed[i]),
            _bar(found.observed[i]),
        )
        for i in order[:MOST_COLUMNS]
    ]
    head = ("column", "kind", "known", "") if kinds else ("column", "known", "")
    voice.table("Columns", head, rows, right=len(head) - 2)
    if len(order) > MOST_COLUMNS:
        voice.say(f"... and {len(order) - MOST_COLUMNS} columns that are known less often.")
    voice.say("")


def _show_counts(voice: Voice, found: Missingness, total: Array) -> None:
    """Columns of a sparse table without gaps, by what they hold together."""
    order = np.argsort(-total, kind="stable")
    rows = [(found.names[i], f"{total[i]:,.6g}") for i in order[:MOST_COUNTED]]
    voice.table("Columns that hold most", ("column", "sum"), rows)
    if len(order) > MOST_COUNTED:
        voice.say(f"... and {len(order) - MOST_COUNTED:,} columns that hold less.")
    voice.say("")


def _show_categories(voice: Voice, seen: Surveyed) -> None:
    """The words of columns, which may be names of people."""
    coding = seen.table.coding
    if coding is None or not coding.worded.any():
        return
    voice.say("Categories")
    for name, labels in zip(coding.names, coding.labels, strict=True):
        if labels:
            voice.say(f"  - {name}: {quoted(labels, range(len(labels)), MOST_LABELS)}.")
    voice.say("")


def _bar(share: float) -> str:
    return ("█" * round(20 * share)).ljust(20, "·")


def _show_patterns(voice: Voice, found: Missingness) -> None:
    if len(found.patterns) < 2:
        return
    rows = []
    for pattern in found.patterns[:MOST_PATTERNS]:
        share = pattern.n_rows / found.n_rows
        rows.append((_missing(found, pattern.observed), f"{pattern.n_rows:,}", percent(share)))
    voice.table("Which columns are missing together", ("missing", "rows", ""), rows)
    shown = found.patterns[:MOST_PATTERNS]
    n_others = found.n_patterns - len(shown)
    if n_others:
        n_rows = found.n_rows - sum(pattern.n_rows for pattern in shown)
        rows_told = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
        patterns = "1 other pattern" if n_others == 1 else f"{n_others:,} other patterns"
        voice.say(f"... and {patterns}, in {rows_told}.")
    voice.say("")


def _missing(found: Missingness, observed: Mask) -> str:
    gone = [name for name, known in zip(found.names, observed, strict=True) if not known]
    if len(gone) == len(found.names):
        return "everything"
    shown = gone if len(gone) <= 5 else [*gone[:5], f"{len(gone) - 5} more"]
    return ", ".join(shown) or "nothing"


def _for_machines(found: Missingness) -> dict[str, object]:
    return {
        "n_rows": found.n_rows,
        "n_empty_rows": found.n_empty_rows,
        "n_rows_without_gaps": found.n_whole_rows,
        "observed_fraction": dict(zip(found.names, found.observed, strict=True)),
        "n_patterns": found.n_patterns,
        "patterns": [
            {
                "missing": [n for n, o in zip(found.names, p.observed, strict=True) if not o],
                "rows": p.n_rows,
            }
            for p in found.patterns[:50]
        ],
        "never_together": [[pair.first, pair.second] for pair in found.never_together[:1000]],
        "n_never_together": len(found.never_together),
        "dependence_of_gaps": found.dependence,
        "gaps_independent": found.independent,
        "gaps_depend_on_values": None if found.shift is None else found.shift._asdict(),
    }
