"""``halfseen predict``: what the model says of each row."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import typer

from halfseen import load
from halfseen.cli.options import (
    Data,
    Force,
    Json,
    Keep,
    MissingValues,
    ModelFile,
    check_writable,
    listed,
)
from halfseen.cli.progress import over_rows
from halfseen.cli.reading.beside import Beside, kept_names
from halfseen.cli.reading.fitting import fitting
from halfseen.cli.results import check_kind, table_file
from halfseen.cli.voice import Voice
from halfseen.explain.shown import Shown, shown
from halfseen.explain.words import percent

SURE = 0.9


def predict(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path, typer.Option(help="Where to write: .csv, .tsv (.gz), .parquet, .feather.")
    ],
    keep: Keep = None,
    missing_values: MissingValues = "",
    force: Force = False,
    as_json: Json = False,
) -> None:
    r"""Say to which group each row belongs and how probably, or how much of each topic it holds.

    Groups and topics have the numbers of 'fit' and 'report': 1 is the most common. Rows stay in
    their order.

    \b
    For example:
      halfseen predict patients.halfseen patients.csv --out groups.csv --keep id
      halfseen predict words.halfseen words.mtx --out topics.parquet
    """
    check_writable(out, force)
    check_kind(out)
    voice = Voice(as_json)
    learned = load(model)
    given = fitting(learned, data, listed(missing_values))
    view = shown(learned)
    say = _SAY[view.kind](learned, view)
    kept = kept_names(given, listed(keep), ())
    clash = sorted(set(say.columns) & set(kept))
    if clash:
        raise ValueError(f"--keep names '{clash[0]}', which is a column of the result. Rename it.")
    beside = Beside(given.source, kept)
    with voice.listening(), table_file(out, force=force) as write:
        for chunk in over_rows(voice, say.doing, given):
            write(beside.take(chunk.n_rows) | say.of(chunk.given))
    voice.note(say.sentence)
    voice.say(f"Table: {out}")
    voice.finish(table=str(out), n_rows=say.n_rows, columns=[*kept, *say.columns])


@dataclass
class Groups:
    """To which group each row belongs."""

    model: Any
    view: Shown
    n_rows: int = 0
    n_unsure: int = 0
    doing: ClassVar[str] = "Finding groups"

    def __post_init__(self) -> None:
        self.counts = np.zeros(self.view.k, dtype=int)
        self.columns = ["group", *(f"probability_{i + 1}" for i in range(self.view.k))]

    def of(self, rows: Any) -> dict[str, Any]:
        """The columns of the result for some rows."""
        shares = np.asarray(self.model.predict_proba(rows))[:, self.view.order]
        group = shares.argmax(axis=1) + 1
        self.n_rows += len(group)
        self.n_unsure += int((shares.max(axis=1) < SURE).sum())
        self.counts += np.bincount(group, minlength=self.view.k + 1)[1:]
        return dict(zip(self.columns, [group, *shares.T], strict=True))

    @property
    def sentence(self) -> str:
        """What was found in all rows."""
        told = ", ".join(f"{count:,} in group {i}" for i, count in enumerate(self.counts, start=1))
        unsure = percent(self.n_unsure / max(self.n_rows, 1))
        return f"Of {self.n_rows:,} rows {told}; {unsure} of them are less than 90% sure."


@dataclass
class Topics:
    """How much of each topic a row holds."""

    model: Any
    view: Shown
    n_rows: int = 0
    doing: ClassVar[str] = "Finding topics"

    @property
    def columns(self) -> list[str]:
        """Of the result."""
        return [f"topic_{i + 1}" for i in range(self.view.k)]

    def of(self, rows: Any) -> dict[str, Any]:
        """The columns of the result for some rows."""
        loadings = np.asarray(self.model.transform(rows))[:, self.view.order]
        self.n_rows += len(loadings)
        return dict(zip(self.columns, loadings.T, strict=True))

    @property
    def sentence(self) -> str:
        """What was found in all rows."""
        return (
            f"Of {self.n_rows:,} rows, the expected count of each of {self.view.k} topics in all "
            "columns."
        )


_SAY: dict[str, type[Groups] | type[Topics]] = {"group": Groups, "topic": Topics}
