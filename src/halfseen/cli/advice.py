"""Advice of ``describe``: what gaps and values of a table mean for a fit."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from halfseen.cli.column_summary import ColumnKind
from halfseen.cli.messages import in_options
from halfseen.cli.model_choice import MOSTLY_CODES
from halfseen.cli.options import format_names
from halfseen.data.arrays import Mask
from halfseen.data.column_moments import ValueSums
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import number, quoted
from halfseen.data.messages import message_of
from halfseen.diagnostics.missingness import COMPLETE_ABOVE, CodeSums, Missingness
from halfseen.io.coding import takes_kinds
from halfseen.models import MODELS
from halfseen.moments.missing_patterns import FEW_ROWS
from halfseen.moments.robust_statistics import FarValues
from halfseen.moments.survey import check_magnitudes, survey_of
from halfseen.report.portrait import YEARS

SKEWED, SYMMETRIC = 2.0, 1.0
"""Skewness from which a tail is long, and up to which logarithms are even enough."""
GAIN = 0.1
"""Log-likelihood a value that logarithms must gain, all values being of one normal distribution."""
ENOUGH_COMPLETE = 3
"""Columns that should be known for nearly all rows."""
WITH_ZEROS = 0.8
"""Of columns that count things, so many are 0 in some row."""


class Advice(NamedTuple):
    """A piece of advice, and the options that follow it if that is safe."""

    sentence: str
    options: tuple[str, ...] = ()


class NumberSums(NamedTuple):
    """Sums over the numeric columns of a table."""

    names: tuple[str, ...]
    features: FeatureSums
    values: ValueSums
    logarithms: ValueSums
    codes: CodeSums
    far: Sequence[FarValues] = ()
    sparse: bool = False  # whether only what is not zero is stored, as counts of words are


def what_methods_use(found: Missingness) -> Iterator[str]:
    """Which rows and columns each method would use."""
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
    rest = f"; the other {d - n_complete} worked out afterwards" if n_complete < d else ""
    yield f"partial: the {n_complete} columns known for at least 95% of rows{rest}."


def advise(
    found: Missingness, seen: NumberSums, kinds: Mapping[str, ColumnKind]
) -> Iterator[Advice]:
    """What to do, with the options that do it."""
    names = seen.names
    yield from _numerical_problems(names, seen.features)
    yield from _hardly_known(found)
    yield from _hardly_complete(found)
    if not found.at_random:
        yield Advice(
            "Gaps depend on values, so that plain averages may be biased. Refinement by likelihood "
            "allows for gaps that depend on what is known: do not use --no-refine."
        )
    yield from _codes(names, seen.codes)
    yield from _mistyped(names, seen)
    words = any(kind.worded for kind in kinds.values())
    yield from _single(kinds)
    if not words and _counts(seen.features, seen.sparse):
        models = " or ".join(name for name, kind in MODELS.items() if kind.about.counts)
        yield Advice(
            "All values are whole numbers of at least 0, as counts are. If they count things, use "
            f"--model {models}."
        )
        return
    if not words:
        yield from _few_values(kinds)
    yield from _long_tails(names, seen, {n for n, k in kinds.items() if words and not k.continuous})


def _numerical_problems(names: tuple[str, ...], features: FeatureSums) -> Iterator[Advice]:
    try:
        check_magnitudes(survey_of(names, features, COMPLETE_ABOVE))
    except DataError as error:
        yield Advice(in_options(message_of(error)))


def _hardly_known(found: Missingness) -> Iterator[Advice]:
    names, n_rows = found.names, found.n_rows - found.n_empty_rows
    rare = np.flatnonzero(np.round(found.observed * found.n_rows) < FEW_ROWS)
    if len(rare) and len(rare) < len(names) and n_rows >= FEW_ROWS:
        is_ = "is" if len(rare) == 1 else "are"
        option = f"--drop {format_names([names[i] for i in rare])}"
        yield Advice(
            f"{quoted(names, rare)} {is_} known in fewer than {FEW_ROWS} rows, which says next to "
            f"nothing: {option}.",
            (option,),
        )


def _hardly_complete(found: Missingness) -> Iterator[Advice]:
    if np.count_nonzero(found.complete) >= 2 or len(found.names) < ENOUGH_COMPLETE:
        return
    best = np.sort(found.observed)[-ENOUGH_COMPLETE]
    option = f"--complete-above {np.floor(best * 100) / 100:.2f}"
    yield Advice(
        "Hardly any column is known for nearly all rows, from which noise is told. Take the best "
        f"known ones for it: {option}.",
        (option,) if best >= 0.01 else (),
    )


def _codes(names: tuple[str, ...], codes: CodeSums) -> Iterator[Advice]:
    far = codes.far()
    safe = ",".join(f"{coded.code:g}" for coded in far if not coded.elsewhere)
    for code, n_rows, elsewhere in far:
        where = " and ".join(f"'{names[i]}' in {n:,} rows" for i, n in list(n_rows.items())[:3])
        more = f" and in {len(n_rows) - 3} other columns" if len(n_rows) > 3 else ""
        said = f"{code:g} is the value of {where}{more}, far from all others."
        if elsewhere:
            own = format_names([f"{names[i]}:{code:g}" for i in n_rows])
            yield Advice(
                f"{said} If it stands for a gap there, use --missing-values {own}. The number "
                f"alone would empty cells of {quoted(names, elsewhere)} too."
            )
        else:
            yield Advice(f"{said} If it stands for a gap, use --missing-values={safe}.")


def _mistyped(names: tuple[str, ...], seen: NumberSums) -> Iterator[Advice]:
    coded = {feature for code in seen.codes.far() for feature in code.n_rows}
    whole = seen.features.whole
    # Where all others are 0, rare events are counted.
    far = [f for f in seen.far if f.feature not in coded and (f.others or not whole[f.feature])]
    if not far:
        return
    listed = ", ".join(f"'{names[one.feature]}' {_apart(one)}" for one in far)
    total = sum(one.n_cells for one in far)
    cells = "1 cell looks" if total == 1 else f"{total:,} cells look"
    yield Advice(
        f"{cells} mistyped: {listed}. {'It' if total == 1 else 'They'} will count for nothing in a "
        f"fit; correct {'it' if total == 1 else 'them'} in the file if you can."
    )


def _apart(far: FarValues) -> str:
    year = YEARS[0] <= far.others <= YEARS[1] and far.others == round(far.others)
    often = "" if far.n_cells == 1 else f"{far.n_cells:,} times, such as "
    up_to = "up to" if far.furthest > far.others else "down to"
    return f"{often}{number(far.furthest, year)} (others {up_to} {number(far.others, year)})"


def _counts(features: FeatureSums, sparse: bool) -> bool:
    """Whether all columns look like counts."""
    counts = features.whole & (features.minimum >= 0)
    if not counts.all() or (features.two_valued.any() and not sparse):
        return False
    years = (features.minimum >= YEARS[0]) & (features.maximum <= YEARS[1])
    return bool(np.mean(features.minimum == 0) >= WITH_ZEROS and not years.any())


def better_as_logarithms(features: FeatureSums, values: ValueSums, logs: ValueSums) -> Mask:
    """Positive columns with a long tail that logarithms remove; (d,).

    The tail of a column with a few mistyped values stays long, and such a column is left alone.
    """
    possible = (features.minimum > 0) & (values.count >= FEW_ROWS) & ~features.two_valued
    even = (values.skewness > SKEWED) & (np.abs(logs.skewness) < SYMMETRIC)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.log(values.spread) - np.log(logs.spread) - logs.mean
    better: Mask = possible & even & (gain > GAIN)
    return better


def _single(kinds: Mapping[str, ColumnKind]) -> Iterator[Advice]:
    found = [name for name, kind in kinds.items() if kind.worded and kind.n_single]
    if found:
        one = len(found) == 1 and kinds[found[0]].n_single == 1
        have = "has" if len(found) == 1 else "have"
        what, whose, them = ("a category", "its", "it") if one else ("categories", "their", "them")
        yield Advice(
            f"{quoted(found)} {have} {what} that a single row holds. Check "
            f"{whose} spelling (--show-text shows {them})."
        )


def _few_values(kinds: Mapping[str, ColumnKind]) -> Iterator[Advice]:
    few = [name for name, kind in kinds.items() if kind.n_values]
    takers = [name for name, kind in MODELS.items() if takes_kinds(kind)]
    if takers and few and len(few) >= MOSTLY_CODES * len(kinds):
        yield Advice(
            f"{quoted(few)} {'has' if len(few) == 1 else 'have'} few different "
            f"values. If they are answers or codes, use --model {takers[0]}, which learns how "
            "likely each value is."
        )


def _long_tails(
    names: tuple[str, ...], seen: NumberSums, without: Collection[str]
) -> Iterator[Advice]:
    """Columns for a log scale, ``without`` those to be left as they are."""
    better = better_as_logarithms(seen.features, seen.values, seen.logarithms)
    skewed = [int(i) for i in np.flatnonzero(better) if names[i] not in without]
    if len(skewed):
        option = f"--log {format_names([names[i] for i in skewed])}"
        yield Advice(
            f"{quoted(names, skewed)} {'has' if len(skewed) == 1 else 'have'} a long tail, which "
            f"logarithms make even: {option}.",
            (option,),
        )
