"""Options that name columns which are not learned from: how rows follow each other, outcomes."""

from typing import Any

from halfseen.cli.reading.command_table import all_names
from halfseen.cli.reading.known_names import check_known
from halfseen.io.files import Files
from halfseen.models import MODELS

OPTIONS = {"sequence": "--sequence", "order": "--order", "step": "--step"}


def following(sequence: str | None, order: str | None, step: float | None) -> dict[str, Any]:
    """What a fit is told of how rows follow each other: nothing, if nobody says anything."""
    if step is not None and order is None:
        raise ValueError("--step is that of the order of rows. Give --order too.")
    given = {"sequence": sequence, "order": order, "step": step}
    return {name: value for name, value in given.items() if value is not None}


def of_sequences(model: Any, follow: dict[str, Any]) -> Any:
    """The model that is asked for, or the one whose rows follow each other if somebody says so."""
    if not follow:
        return model
    takers = [name for name, kind in MODELS.items() if kind.about.sequences]
    if model is not None and str(model) not in takers:
        option = OPTIONS[next(iter(follow))]
        raise ValueError(f"{option} belongs to --model {takers[0]}. Leave it out.")
    return takers[0] if model is None else model


def keys_among(follow: dict[str, Any], data: Files) -> list[str]:
    """The columns that only say how rows follow each other, which the table must have."""
    keys = [follow[name] for name in ("sequence", "order") if name in follow]
    if keys:
        known = all_names(data)
        for name in ("sequence", "order"):
            check_known([follow[name]] if name in follow else [], known, data.name, OPTIONS[name])
    return keys


def outcomes_among(outcomes: list[str], data: Files) -> list[str]:
    """The columns that are only shown, which the table must have."""
    if outcomes:
        check_known(outcomes, all_names(data), data.name, "--outcome")
    return outcomes
