"""What a table's gaps and values mean for a fit."""

from collections.abc import Iterator

import numpy as np

from halfseen.cli.value_codes import CodeSums
from halfseen.doubt.missingness import Missingness
from halfseen.explain.words import number
from halfseen.models import MODELS
from halfseen.moments.few_rows import FEW_ROWS
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.naming import quoted
from halfseen.rows.value_sums import ValueSums

SKEWED = 3.0
"""Columns above zero with a skewness above this are better off on a log scale."""
DIFFERENT_SCALES = 3.0
"""Spreads that are further apart than this have no noise in common."""


def what_methods_use(found: Missingness) -> Iterator[str]:
    """What each method would learn from."""
    d = len(found.names)
    n_complete = int(np.count_nonzero(found.complete))
    least = int(np.argmin(found.observed))
    yield (
        f"weighted (the default): all {d} columns, each counting by how well it is known, down to "
        f"{found.observed[least]:.2f} for '{found.names[least]}'."
    )
    yield f"full: all {d} columns, each counting the same."
    if not n_complete:
        yield "partial: cannot be used, as no column is known for at least 95% of rows."
        return
    yield (
        f"partial: the {n_complete} columns known for at least 95% of rows; the other "
        f"{d - n_complete} are worked out afterwards."
    )


def advice(
    found: Missingness, features: FeatureSums, values: ValueSums, codes: CodeSums
) -> Iterator[str]:
    """What to do, with the options that do it."""
    if found.never_together:
        yield (
            "A fit needs every pair of columns together in some rows. Leave one of each such pair "
            "out with --drop, or use --method partial."
        )
    elif found.rarest is not None and found.rarest.n_rows < FEW_ROWS:
        yield (
            f"Only {found.rarest.n_rows} rows hold both '{found.rarest.first}' and "
            f"'{found.rarest.second}', too few to learn from. Consider --drop."
        )
    if np.count_nonzero(found.complete) < 2:
        yield (
            "Hardly any column is known for nearly all rows, from which noise is told. Lower "
            "--complete-above, and look at the report with care."
        )
    if not found.at_random:
        yield (
            "As gaps depend on values, averages of what is known are biased. Keep the polish by "
            "likelihood (--refine, the default for groups), which allows for gaps that depend on "
            "what is known."
        )
    for place, name in enumerate(found.names):
        for code, n_rows in codes.far(place):
            yield (
                f"'{name}' is {code:g} in {n_rows:,} rows, far from its other values. If that "
                f"stands for a gap, use --missing-values {code:g}."
            )
    yield from _kinds(found.names, features, values)


def _kinds(names: tuple[str, ...], features: FeatureSums, values: ValueSums) -> Iterator[str]:
    if bool((features.minimum >= 0).all() and features.whole.all()):
        yield (
            "All values are whole numbers of at least 0. If they count things, use --model "
            f"{' or '.join(name for name, kind in MODELS.items() if kind.about.counts)}."
        )
        return
    long_tails = (values.count >= FEW_ROWS) & (features.minimum > 0) & (values.skewness > SKEWED)
    skewed = np.flatnonzero(long_tails)
    if len(skewed):
        listed = ",".join(names[i] for i in skewed[:6])
        yield (
            f"{quoted(names, skewed)} {'has' if len(skewed) == 1 else 'have'} a long tail. On a "
            f"log scale groups stand out better: --log '{listed}'."
        )
    spread = values.spread
    if spread.max() > DIFFERENT_SCALES * spread.min():
        wide, narrow = int(spread.argmax()), int(spread.argmin())
        yield (
            f"Columns are on different scales ('{names[wide]}' spreads over "
            f"{number(spread[wide])}, '{names[narrow]}' over {number(spread[narrow])}): use "
            "--standardise."
        )
