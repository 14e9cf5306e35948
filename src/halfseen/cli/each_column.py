"""What was done to each column, as one table: of a file, or as a model keeps it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from halfseen import load
from halfseen.cli.voice import Voice
from halfseen.cli.wording import in_options
from halfseen.data.formatting import percent
from halfseen.io.coding import UNUSED_KINDS
from halfseen.io.columns import DECLARED, Column

MODEL = ".halfseen"


class Done(NamedTuple):
    """A column, and what was done to it."""

    column: str
    kind: str
    used: bool
    known: str  # of the rows, in words; nothing if that is not known
    what: str


def of_table(
    columns: Sequence[Column], kinds: Mapping[str, str], known: Mapping[str, float]
) -> list[Done]:
    """What was done to the columns of a table, in its order."""
    return [
        Done(
            one.name,
            kinds.get(one.name, one.kind),
            one.used,
            percent(known[one.name]) if one.name in known else "",
            _what(one.name, one.sentence or ("" if one.used else DECLARED)),
        )
        for one in columns
    ]


def of_model(path: Path) -> list[Done]:
    """What was done to the columns of the table that a model was learned from."""
    model = load(path)
    read = model.diagnostics_.columns
    if read is None:
        raise ValueError(
            f"{path.name} does not say what was done to columns: those that it was learned from "
            "have no names, or it is of an earlier version. Use 'halfseen describe' with the table."
        )
    done, fitted = getattr(model, "preprocessing_", None), getattr(model, "kinds_", {})
    own = dict(zip(done.columns, done.fitted_names, strict=True)) if done is not None else {}
    known = dict(zip(model.feature_names_in_, model.observed_fraction_, strict=True))
    return [
        Done(
            name,
            fitted.get(own.get(name, name), kind),
            kind not in UNUSED_KINDS,
            percent(known[own.get(name, name)]) if own.get(name, name) in known else "",
            "; ".join(filter(None, (_what(name, sentence), _scaled(name, own)))),
        )
        for name, kind, sentence in zip(read.names, read.kinds, read.sentences, strict=True)
    ]


def _scaled(name: str, own: Mapping[str, str]) -> str:
    return f"learned as {own[name]}" if own.get(name, name) != name else ""


def _what(name: str, sentence: str) -> str:
    """A sentence without the name of its column.

    >>> _what("age", "Column 'age' was ignored: it holds text."), _what("x", "'x': $ was left out.")
    ('it holds text', '$ was left out')
    """
    for start in (f"Column '{name}' was ignored: ", f"'{name}': "):
        sentence = sentence.removeprefix(start)
    return in_options(sentence).rstrip(".")


def show(voice: Voice, columns: Sequence[Done]) -> None:
    """One table, a row a column."""
    rows = [
        (one.column, one.kind if one.used else "not used", one.known, one.what) for one in columns
    ]
    voice.table("What was done to each column", ("column", "kind", "known", ""), rows, right=4)


def for_machines(columns: Sequence[Done]) -> list[dict[str, Any]]:
    """The same as objects."""
    return [one._asdict() for one in columns]
