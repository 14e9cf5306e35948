"""Which model a table is learned by if nobody says: one that takes what its columns hold."""

from collections.abc import Collection, Mapping
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import get_tags

from halfseen.cli.reading.command_table import Opened
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import quoted
from halfseen.io.coding import takes_kinds
from halfseen.models import MODELS

MOST_NAMED = 3
MOST_RATINGS = 10
"""Whole numbers in a row that may be answers."""
MOSTLY_CODES = 0.5
"""Of columns of numbers, so many are worth a word."""


class Choice(NamedTuple):
    """A model of the registry, and why it is that one."""

    model: str
    sentence: str


def chosen(table: Opened, options: Mapping[str, str]) -> Choice:
    """The first model that has all of the ``options``, by parameter, and takes all columns.

    ``table`` is one whose words were read as codes.
    """
    if table.sparse and not options and _counts(table.seen.features):
        takers = [name for name, kind in MODELS.items() if kind.about.counts and _sparse(kind)]
        # Moments alone make topics of single odd texts: rather one that sees when to polish.
        takers.sort(key=lambda name: MODELS[name]().refine != "auto")
        if takers:
            gives = MODELS[takers[0]].about.gives
            return Choice(
                takers[0],
                f"All that is stored counts things, so --model {takers[0]} was taken ({gives}).",
            )
    able = [name for name, kind in MODELS.items() if _has(kind, options)] or list(MODELS)
    words = table.seen.table.worded if table.worded else []
    takers = [name for name in able if takes_kinds(MODELS[name])]
    model = (takers if words and takers else able)[0]
    return Choice(model, _why(model, words, table, [*options.values()], able))


def codes_told(table: Opened) -> str:
    """That numbers may be codes, for a table of numbers most of which have few values."""
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


def _counts(sums: FeatureSums) -> bool:
    return bool(sums.whole.all() and (sums.minimum >= 0).all())


def _sparse(kind: Any) -> bool:
    return bool(get_tags(kind()).input_tags.sparse)


def _has(kind: Any, parameters: Collection[str]) -> bool:
    return set(parameters) <= set(signature(kind).parameters)


def _why(model: str, words: list[str], table: Opened, options: list[str], able: list[str]) -> str:
    learned = f"--model {model} was taken"
    if words and not takes_kinds(MODELS[model]):
        named = quoted(words, range(len(words)), MOST_NAMED)
        return f"{learned}, to which {options[0]} belongs. It takes numbers only, and not {named}."
    if words:
        n_numbers = len(table.seen.table.source.names) - len(words)
        others = [name for name, kind in MODELS.items() if not takes_kinds(kind)]
        alone = f" (--model {others[0]} would take the {n_numbers} columns of numbers alone)"
        hold = "holds" if len(words) == 1 else "hold"
        return (
            f"{quoted(words, range(len(words)), MOST_NAMED)} {hold} categories, so {learned}"
            f"{alone if others and n_numbers > 1 else ''}."
        )
    if len(able) < len(MODELS):
        return f"{learned}, to which {options[0]} belongs."
    return f"All columns that can be used hold numbers, so {learned}."
