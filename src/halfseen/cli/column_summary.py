"""What was done to each column, and its kind: from a file, or from a model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfseen import load
from halfseen.cli.console import Console
from halfseen.cli.messages import in_options
from halfseen.cli.training_table import SurveyedTable
from halfseen.data.formatting import percent
from halfseen.diagnostics.missingness import COMPLETE_ABOVE
from halfseen.distributions.column_kinds import kind_named, kind_of
from halfseen.distributions.column_summary import summarise_columns
from halfseen.io.coding import COLUMN_KINDS, UNUSED_KINDS
from halfseen.io.columns import DECLARED, Column
from halfseen.moments.survey import survey_of


class ColumnKind(NamedTuple):
    """The kind of a column, with its number of values."""

    kind: str
    n_values: int | None  # that it has, if they are few
    worded: bool  # whether those are words
    n_single: int = 0  # of them that a single row holds

    @property
    def continuous(self) -> bool:
        """Whether the column is a measurement."""
        return kind_named(self.kind).normal

    def __str__(self) -> str:
        """The kind, with how many values there are.

        >>> str(ColumnKind("categorical", 5, True)), str(ColumnKind("continuous", None, False))
        ('categorical, 5', 'continuous')
        """
        few = self.n_values is not None and self.n_values > 2
        return f"{self.kind}, {self.n_values}" if few else self.kind


def column_kinds(seen: SurveyedTable) -> dict[str, ColumnKind]:
    """The kind of each column, declared or inferred; up to three passes."""
    coding, rows = seen.table.coding, seen.table.rows()
    if coding is None:
        return {}
    pairs = zip(coding.names, coding.kinds, strict=True)
    declared = {name: kind for name, kind in pairs if kind in COLUMN_KINDS}
    facts = summarise_columns(rows, survey_of(rows.names, seen.features, COMPLETE_ABOVE), declared)
    n_values = np.isfinite(facts.level_values).sum(axis=0)
    found = {}
    for d, name in enumerate(rows.names):
        rows_each = np.rint(facts.histograms[d] * seen.features.count[d])
        found[name] = ColumnKind(
            kind_of(facts.kinds[d]).word,
            int(n_values[d]) or None,
            bool(coding.labels[d]),
            int(np.sum(rows_each == 1)),
        )
    return found


class ColumnSummary(NamedTuple):
    """A column, and what was done to it."""

    column: str
    kind: str
    used: bool
    known: str  # share of the rows, in words; nothing if that is not known
    what: str


def summaries_of_table(
    columns: Sequence[Column], kinds: Mapping[str, str], known: Mapping[str, float]
) -> list[ColumnSummary]:
    """What was done to the columns of a table, in its order."""
    return [
        ColumnSummary(
            one.name,
            kinds.get(one.name, one.kind),
            one.used,
            percent(known[one.name]) if one.name in known else "",
            _without_name(one.name, one.sentence or ("" if one.used else DECLARED)),
        )
        for one in columns
    ]


def summaries_of_model(path: Path) -> list[ColumnSummary]:
    """What was done to the columns of the table that a model was learned from."""
    model = load(path)
    read = model.diagnostics_.columns
    if read is None:
        raise ValueError(
            f"{path.name} does not say what was done to columns: those that it was learned from "
            "have no names, or it is of an earlier version. Use 'halfseen describe' with the table."
        )
    done, kinds = getattr(model, "preprocessing_", None), getattr(model, "kinds_", {})
    fitted = dict(zip(done.columns, done.fitted_names, strict=True)) if done is not None else {}
    known = dict(zip(model.feature_names_in_, model.observed_fraction_, strict=True))
    found = []
    for name, kind, sentence in zip(read.names, read.kinds, read.sentences, strict=True):
        own = fitted.get(name, name)
        scaled = f"learned as {own}" if own != name else ""
        found.append(
            ColumnSummary(
                name,
                kinds.get(own, kind),
                kind not in UNUSED_KINDS,
                percent(known[own]) if own in known else "",
                "; ".join(filter(None, (_without_name(name, sentence), scaled))),
            )
        )
    return found


def _without_name(name: str, sentence: str) -> str:
    """A sentence without the name of its column.

    >>> _without_name("age", "Column 'age' was ignored: it holds text.")
    'it holds text'
    """
    sentence = in_options(sentence)
    for start in (f"Column '{name}' was ignored: ", f"'{name}': "):
        sentence = sentence.removeprefix(start)
    return sentence.rstrip(".")


def print_summaries(console: Console, columns: Sequence[ColumnSummary]) -> None:
    """One table, a row a column."""
    rows = [
        (one.column, one.kind if one.used else "not used", one.known, one.what) for one in columns
    ]
    console.table("What was done to each column", ("column", "kind", "known", ""), rows, right=4)
    objects: list[dict[str, Any]] = [one._asdict() for one in columns]
    console.finish(columns=objects)
