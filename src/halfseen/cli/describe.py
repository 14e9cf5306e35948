"""``halfseen describe``: what a table holds and what is missing, before any model."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Annotated

import numpy as np
import typer

from halfseen.cli.advice import NumberSums, advise, what_methods_use
from halfseen.cli.column_summary import (
    ColumnKind,
    column_kinds,
    print_summaries,
    summaries_of_model,
    summaries_of_table,
)
from halfseen.cli.console import Console
from halfseen.cli.input_files import as_arguments, check_columns, files_of
from halfseen.cli.messages import in_options
from halfseen.cli.model_choice import declared_as
from halfseen.cli.options import (
    ColumnOptions,
    Data,
    Json,
    TableOptions,
    Without,
    format_names,
    parse_names,
)
from halfseen.cli.training_table import SurveyedTable, open_table, survey
from halfseen.data.arrays import Array, Mask
from halfseen.data.column_moments import ValueSums
from halfseen.data.formatting import counted, percent, quoted
from halfseen.diagnostics.missingness import CodeSums, Missingness, missingness
from halfseen.io.columns import DECLARED
from halfseen.moments.robust_statistics import far_values
from halfseen.report.columns import what_is_missing

MODEL_ENDING = ".halfseen"
MOST_COLUMNS = 60  # that are listed
MOST_COUNTED = 20  # columns of a sparse table that are listed
MOST_PATTERNS = 8  # of missing columns that are listed
MOST_LABELS = 30  # of a column that --show-text shows


def describe(
    data: Data,
    *,
    columns: Annotated[ColumnOptions, Without("log", "scale", "standardise")],
    table: Annotated[TableOptions, Without("text", "stop_words", "min_rows")],
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
    console = Console(as_json)
    if data[0].endswith(MODEL_ENDING):
        print_summaries(console, summaries_of_model(Path(data[0])))
        return
    files, declared = files_of(data, table), columns.kinds
    check_columns(files, kind=list(declared))
    opened = open_table(
        *(files, columns.used, columns.dropped),
        show_text=show_text,
        kinds=declared_as(declared),
    )
    all_logged = ValueSums.logging(np.ones(len(opened.source.names), bool))
    seen = survey(opened, ValueSums.of, all_logged, CodeSums.of)
    kinds, words, names = column_kinds(seen), set(seen.table.worded), seen.table.source.names
    if all_columns:
        known = dict(zip(names, seen.features.count / seen.n_rows, strict=True))
        in_words = {name: str(one) for name, one in kinds.items()}
        console.note(*seen.table.source.notes)
        print_summaries(console, summaries_of_table(seen.table.columns, in_words, known))
        return
    numbers = np.array([name not in words for name in names])
    found = missingness(seen.table.rows(), seen.features, ordered=numbers)
    usable = counted(len(found.names), "column")
    console.note(
        f"{files.name}: {found.n_rows:,} rows, {usable} that can be used.", *seen.table.notes()
    )
    console.say("")
    if seen.table.sparse and (found.observed == 1).all():
        _print_counts(console, found, seen.features.total)
    else:
        _print_columns(console, found, kinds)
    if show_text:
        _print_categories(console, seen)
    _print_patterns(console, found)
    advice = list(advise(found, _number_sums(seen, numbers), kinds))
    options = [option for one in advice for option in one.options]
    sections = {
        "missing": list(what_is_missing(found)),
        "methods": list(what_methods_use(found)),
        "advice": [one.sentence for one in advice] or ["Nothing stands in the way of a fit."],
    }
    for title, key in SECTIONS.items():
        console.items(title, sections[key])
        console.say("")
    arguments = [
        as_arguments(files, learning=True),
        *_repeated(columns, table.missing_values),
        *options,
    ]
    console.say(f"Next:  halfseen fit {' '.join(arguments)} --out model.halfseen")
    aside = [column for column in seen.table.columns if not column.used]
    console.finish(
        **_as_dict(found),
        kinds={name: one.kind for name, one in kinds.items()},
        n_categories={name: one.n_values for name, one in kinds.items() if one.n_values},
        ignored={column.name: in_options(column.sentence or DECLARED) for column in aside},
        options=options,
        **sections,
    )


def _number_sums(seen: SurveyedTable, numbers: Mask) -> NumberSums:
    """Sums of numeric columns, and extreme values."""
    features = seen.features.select(numbers)
    values, logarithms, codes = (sums.select(numbers) for sums in seen.sums)
    names = tuple(np.array(seen.table.source.names, dtype=object)[numbers])
    # Counts in sparse tables have long tails; fits tell those that are too far out.
    measured = numbers.any() and not seen.table.sparse
    far = far_values(seen.table.rows().select(numbers), features) if measured else []
    return NumberSums(names, features, values, logarithms, codes, far, seen.table.sparse)


def _repeated(columns: ColumnOptions, missing_values: str) -> list[str]:
    """Options of this call that the following fit needs too."""
    given = {
        "columns": columns.used,
        "drop": columns.dropped,
        "missing-values": parse_names(missing_values),
    }
    named = [f"--{name} {format_names(names)}" for name, names in given.items() if names]
    return [*named, *(f"--kind {quote(kind)}" for kind in columns.kind or ())]


SECTIONS = {
    "What is missing": "missing",
    "What each method would use": "methods",
    "Advice": "advice",
}
"""Title and JSON key of each list of sentences."""


def _print_columns(console: Console, found: Missingness, kinds: Mapping[str, ColumnKind]) -> None:
    order = np.argsort(-found.observed, kind="stable")
    rows = [
        (
            found.names[i],
            *([str(kinds[found.names[i]])] if kinds else []),
            percent(found.observed[i]),
            _bar(found.observed[i]),
        )
        for i in order[:MOST_COLUMNS]
    ]
    head = ("column", "kind", "known", "") if kinds else ("column", "known", "")
    console.table("Columns", head, rows, right=len(head) - 2)
    if len(order) > MOST_COLUMNS:
        console.say(f"... and {len(order) - MOST_COLUMNS} columns that are known less often.")
    console.say("")


def _print_counts(console: Console, found: Missingness, total: Array) -> None:
    """Describe columns of a sparse table without gaps."""
    order = np.argsort(-total, kind="stable")
    rows = [(found.names[i], f"{total[i]:,.6g}") for i in order[:MOST_COUNTED]]
    console.table("Columns that hold most", ("column", "sum"), rows)
    if len(order) > MOST_COUNTED:
        console.say(f"... and {len(order) - MOST_COUNTED:,} columns that hold less.")
    console.say("")


def _print_categories(console: Console, seen: SurveyedTable) -> None:
    coding = seen.table.coding
    if coding is None or not coding.worded.any():
        return
    console.say("Categories")
    for name, labels in zip(coding.names, coding.labels, strict=True):
        if labels:
            console.say(f"  - {name}: {quoted(labels, most=MOST_LABELS)}.")
    console.say("")


def _bar(share: float) -> str:
    return ("█" * round(20 * share)).ljust(20, "·")


def _print_patterns(console: Console, found: Missingness) -> None:
    if len(found.patterns) < 2:
        return
    rows = []
    for pattern in found.patterns[:MOST_PATTERNS]:
        share = pattern.n_rows / found.n_rows
        rows.append(
            (_missing_names(found, pattern.observed), f"{pattern.n_rows:,}", percent(share))
        )
    console.table("Which columns are missing together", ("missing", "rows", ""), rows)
    shown = found.patterns[:MOST_PATTERNS]
    n_others = found.n_patterns - len(shown)
    if n_others:
        n_rows = found.n_rows - sum(pattern.n_rows for pattern in shown)
        patterns = counted(n_others, "other pattern")
        console.say(f"... and {patterns}, in {counted(n_rows, 'row')}.")
    console.say("")


def _missing_names(found: Missingness, observed: Mask) -> str:
    gone = [name for name, known in zip(found.names, observed, strict=True) if not known]
    if len(gone) == len(found.names):
        return "everything"
    shown = gone if len(gone) <= 5 else [*gone[:5], f"{len(gone) - 5} more"]
    return ", ".join(shown) or "nothing"


def _as_dict(found: Missingness) -> dict[str, object]:
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
