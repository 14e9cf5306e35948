"""Choose the model of a command: as asked for, or by the kinds of the columns."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import get_tags

from halfseen.cli.options import Scale
from halfseen.cli.training_table import TrainingTable
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import quoted
from halfseen.io.coding import declared_kinds, takes_kinds
from halfseen.io.open_files import Kinds
from halfseen.models import MODELS

OPTIONS = {
    "covariance_type": "--covariance",
    "n_factors": "--factors",
    "kinds": "--kind",
    "gaps": "--gaps",
}
"""Options of parameters that not all models have."""
MOST_NAMED = 3  # columns in a sentence that says why a model was taken
MOST_RATINGS = 10  # different whole numbers that may be answers on a scale
MOSTLY_CODES = 0.5  # share of columns with few values from which it is worth a sentence


class ModelChoice(NamedTuple):
    """A model of the registry, and the reason for it."""

    model: str
    sentence: str


def choose_model(table: TrainingTable, own: Mapping[str, Any]) -> ModelChoice:
    """The first model that has all parameters in ``own`` and takes all columns.

    ``table`` is one whose words were read as codes.
    """
    options = {name: OPTIONS[name] for name, value in own.items() if value}
    if table.sparse and not options and _counts(table.seen.features):
        takers = [name for name, kind in MODELS.items() if kind.about.counts and _sparse(kind)]
        # Moments alone make topics of single odd texts: rather one that sees when to refine.
        takers.sort(key=lambda name: MODELS[name]().refine != "auto")
        if takers:
            gives = MODELS[takers[0]].about.gives
            return ModelChoice(
                takers[0],
                f"All that is stored counts things, so --model {takers[0]} was taken ({gives}).",
            )
    able = [name for name, kind in MODELS.items() if _has(kind, options)] or list(MODELS)
    words = table.seen.table.worded if table.worded else []
    takers = [name for name in able if takes_kinds(MODELS[name])]
    model = (takers if words and takers else able)[0]
    return ModelChoice(model, _why(model, words, table, [*options.values()], able))


def few_values_hint(table: TrainingTable) -> str:
    """A hint that numbers with few values may be codes."""
    takers = [name for name, kind in MODELS.items() if takes_kinds(kind)]
    if table.sparse or not takers:
        return ""
    sums = table.seen.features
    rated = sums.whole & (sums.minimum != 0) & (sums.maximum - sums.minimum < MOST_RATINGS)
    few = int(np.count_nonzero(sums.two_valued | rated))
    if few < MOSTLY_CODES * len(sums.count):
        return ""
    return (
        f" {few} of {len(sums.count)} have few different values: if those are answers or codes, "
        f"use --model {takers[0]}."
    )


def model_of_sequences(model: Any, order: Mapping[str, Any]) -> Any:
    """The requested model, or the model of sequences if options ask for one."""
    if not order:
        return model
    takers = [name for name, kind in MODELS.items() if kind.about.sequences]
    if model is not None and str(model) not in takers:
        raise ValueError(f"--{next(iter(order))} belongs to --model {takers[0]}. Leave it out.")
    return takers[0] if model is None else model


def make_estimator(
    model: str,
    common: Mapping[str, Any],
    refine: bool | None,
    scale: Scale = Scale.none,
    **own: Any,
) -> Any:
    """An estimator with shared parameters, and those of its ``own`` that are given."""
    kind = MODELS[model]
    known = signature(kind).parameters
    given: dict[str, Any] = {
        name: str(value) if isinstance(value, str) else value
        for name, value in own.items()
        if value
    }
    for name in given:
        if name not in known:
            others = [n for n, other in MODELS.items() if _has(other, [name])]
            raise ValueError(f"{OPTIONS[name]} belongs to --model {others[0]}. Leave it out.")
    if refine is not None:
        given["refine"] = kind.refinements[0] if refine else None
    if "scale" in known and scale is Scale.robust and refine is not False:
        # Columns of a table are in units of their own, and so is their noise.
        given = {"covariance_type": "auto"} | given
        if "spherical" in given["covariance_type"]:
            given["scale"] = "robust"
    return kind(**common, **given)


def declared_as(kinds: dict[str, str]) -> Kinds | None:
    """How files are opened for a model of mixed columns; None for others."""
    able = next((kind for kind in MODELS.values() if takes_kinds(kind)), None)
    return None if able is None else partial(declared_kinds, kinds or "auto")


def check_scales(model: str, logged: Sequence[str], standardised: bool) -> None:
    """Refuse scales that do not fit the model."""
    if (logged or standardised) and MODELS[model].about.counts:
        raise ValueError(
            "--log and --scale standard make fractions of counts. Leave them out with --model "
            f"{model}."
        )


def _counts(sums: FeatureSums) -> bool:
    return bool(sums.whole.all() and (sums.minimum >= 0).all())


def _sparse(kind: Any) -> bool:
    return bool(get_tags(kind()).input_tags.sparse)


def _has(kind: Any, parameters: Collection[str]) -> bool:
    return set(parameters) <= set(signature(kind).parameters)


def _why(
    model: str, words: list[str], table: TrainingTable, options: list[str], able: list[str]
) -> str:
    learned = f"--model {model} was taken"
    if words and not takes_kinds(MODELS[model]):
        named = quoted(words, most=MOST_NAMED)
        return f"{learned}, to which {options[0]} belongs. It takes numbers only, and not {named}."
    if words:
        n_numbers = len(table.seen.table.source.names) - len(words)
        others = [name for name, kind in MODELS.items() if not takes_kinds(kind)]
        alone = f" (--model {others[0]} would take the {n_numbers} columns of numbers alone)"
        hold = "holds" if len(words) == 1 else "hold"
        return (
            f"{quoted(words, most=MOST_NAMED)} {hold} categories, so {learned}"
            f"{alone if others and n_numbers > 1 else ''}."
        )
    if len(able) < len(MODELS):
        return f"{learned}, to which {options[0]} belongs."
    return f"All columns that can be used hold numbers, so {learned}."
