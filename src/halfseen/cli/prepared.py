"""A table made ready for a model: columns chosen, put on their scales, named."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from halfseen.cli.choices import Kind
from halfseen.cli.fitted import with_names
from halfseen.cli.group_labels import labels
from halfseen.cli.table import Table, check_known, chosen, read_table
from halfseen.cli.voice import Voice
from halfseen.tables.preprocessing import Preprocessing


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table, and what the estimator is given of it."""

    table: Table
    preprocessing: Preprocessing | None
    given: Any
    groups: Any = None  # (n,)  labels of rows that depend on each other

    @property
    def changed(self) -> bool:
        """Whether the model has to know what was done."""
        done = self.preprocessing
        return done is not None and (done.changes or bool(done.missing_values))


def prepared(
    voice: Voice,
    data: Path,
    model: Kind,
    names: Sequence[str],
    drop: Sequence[str],
    log: Sequence[str],
    standardise: bool,
    missing: Sequence[str],
    groups: str | None = None,
) -> Prepared:
    """The table in a file for a kind of model, without the column of ``groups``; told."""
    whole = read_table(data, missing, wanted=names)
    by_row = labels(whole, groups)
    table = chosen(whole, list(names), [*drop, *([groups] if groups else [])])
    voice.note(_about(table), *table.notes)
    if model is Kind.gaussian:
        table = replace(table, values=table.dense())
    preprocessing = _learned_preprocessing(table, log, standardise, missing, model)
    return Prepared(table, preprocessing, _given(table, preprocessing), by_row)


def _about(table: Table) -> str:
    n_rows, n_columns = table.values.shape
    if table.sparse:
        return (
            f"{table.file}: {n_rows:,} rows and {n_columns:,} columns, {table.values.nnz:,} counts."
        )
    gaps = float(np.isnan(table.values).mean())
    return (
        f"{table.file}: {n_rows:,} rows, and {n_columns} columns of numbers in which "
        f"{gaps:.0%} of the cells are empty."
    )


def _learned_preprocessing(
    table: Table, log: Sequence[str], standardise: bool, missing: Sequence[str], model: Kind
) -> Preprocessing | None:
    if (log or standardise) and model is Kind.gamma_poisson:
        raise ValueError(
            "--log and --standardise make fractions of counts. Leave them out with --model "
            "gamma-poisson."
        )
    if table.sparse:
        return None
    logged = list(table.names) if list(log) == ["*"] else log
    check_known(logged, table.names, table.file, "--log")
    return Preprocessing.learn(
        table.names, table.values, log=logged, standardise=standardise, missing_values=missing
    )


def _given(table: Table, preprocessing: Preprocessing | None) -> Any:
    if preprocessing is None:
        return table.values
    if not table.named and not preprocessing.changes and not preprocessing.missing_values:
        return table.values
    return with_names(preprocessing.fitted_names, preprocessing.apply(table.values))
