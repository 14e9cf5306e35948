"""Concerns about combined tables: whether they agree, and columns that never meet."""

from collections.abc import Iterator

import numpy as np

from halfseen.data.arrays import Mask
from halfseen.data.column_moments import Differences, TableSums
from halfseen.data.formatting import percent, quoted
from halfseen.data.messages import Message, setting
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject
from halfseen.diagnostics.table_comparison import TableShares, never_held_together

CHANCE = 0.01
"""That tables that are alike are said to differ, for each of the checks."""
TELLING = 0.1
"""Smaller differences, in standard deviations or of their logarithms, do not matter."""
TELLING_SHARE = 0.05  # smaller differences of shares do not matter
NEARLY_NONE, SOME = 0.02, 0.1
"""Shares of a component in two tables, by which it may be a table and no component."""
MOST_TABLES = 20
"""More are files of one table rather than studies."""
MOST_NAMED = 4  # columns or components in one sentence
OTHER_UNIT, ALIKE = 2.5, 2.0
"""Means and spreads that many times as large, in ratios that differ by no more than that."""
MOSTLY = 0.7
"""Of a difference that shares of components account for."""


def columns_differ(case: ConcernContext) -> Iterator[Concern]:
    """Warn if means or spreads of shared columns differ between tables."""
    if not _several(case):
        return
    measured = _measured(case)
    sums = case.rows.accumulate(
        TableSums.about(np.nan_to_num(case.seen.sums.mean), case.tables.starts[:-1])
    )
    means, spreads = sums.of_means, sums.of_spreads
    compared = measured & (sums.enough.sum(axis=0) > 1)
    shifted = _clear(means, compared, 2)
    stretched = _clear(spreads, compared & ~shifted, 2)
    shares, words = case.table_shares, _of_words(case)
    if not (shifted | stretched).any() and not words:
        return
    said = [_of_mean(case, means, int(i), shares, sums) for i in _largest(means, shifted)]
    said += [_of_spread(case, spreads, int(i)) for i in _largest(spreads, stretched)]
    said += words
    counted = "a column" if len(said) == 1 else f"{len(said)} columns"
    more = len(said) - MOST_NAMED
    others = f"; and {more} more" if more > 0 else ""
    remedy = (
        "Check units and names; "
        + setting(adjust="location")
        + " takes differences of means and spreads out"
        if not case.tables.adjusted
        else Message("They were adjusted where they differed more")
    )
    yield Concern(
        "tables_differ",
        f"Tables differ in {counted} that they share: "
        f"{'; '.join(said[:MOST_NAMED])}{others}. A difference between tables may be taken for one "
        f"of the {case.components}. " + remedy + ".",
        Subject.TABLES,
        Gravity.DOUBT,
    )


def _several(case: ConcernContext) -> bool:
    return 1 < len(case.tables.names) <= MOST_TABLES


def _measured(case: ConcernContext) -> Mask:
    """Columns whose means say something: all but those of words; (d,)."""
    kept, coding = case.seen.kept & case.fitted.kept, case.fitted.coding
    return kept if coding is None else np.asarray(kept & ~coding.worded)


def _of_words(case: ConcernContext) -> list[str]:
    """Differences of categories between tables, in words."""
    coding, shares = case.fitted.coding, case.table_shares
    if coding is None or shares is None:
        return []
    kept = case.seen.kept & case.fitted.kept
    places = np.flatnonzero(coding.worded & kept)
    found = {int(i): shares.of_categories(int(i), len(coding.labels[i])) for i in places}
    level = CHANCE / max(len(found), 1)
    names, tables = case.fitted.own_names, case.tables.names
    return [
        f"'{names[i]}' is '{coding.labels[i][one.label]}' in "
        f"{percent(one.shares[one.highest, one.label])} of rows of {tables[one.highest]} and "
        f"{percent(one.shares[one.lowest, one.label])} of {tables[one.lowest]}"
        for i, one in found.items()
        if one.chance < level and one.size > TELLING_SHARE
    ]


def _clear(found: Differences, compared: Mask, n_checks: int) -> Mask:
    """Which differences between tables are clear and large; (d,)."""
    level = CHANCE / max(n_checks * int(np.count_nonzero(compared)), 1)
    clear: Mask = compared & (found.chance < level) & (found.size > TELLING)
    return clear


def _largest(found: Differences, clear: Mask) -> list[int]:
    return [int(i) for i in np.argsort(-found.size) if clear[i]]


def _of_mean(
    case: ConcernContext,
    found: Differences,
    column: int,
    shares: TableShares | None,
    sums: TableSums,
) -> str:
    low, high = int(found.lowest[column]), int(found.highest[column])
    name, tables = case.fitted.own_names[column], case.tables.names
    said = (
        f"'{name}' is higher in {tables[high]} than in {tables[low]} by {found.size[column]:.2g} "
        "standard deviations"
    )
    times = _times(sums, column, low, high)
    if times is not None:
        return f"{said}, and {times:.3g} times as large, as if it were in another unit"
    if shares is None or case.fitted.n_components == 1:
        return said
    apart = float(sums.mean[high, column] - sums.mean[low, column])
    if shares.explained_by_shares(column, low, high) > MOSTLY * apart:
        return f"{said} (for which other shares of {case.components} account)"
    return said


def _times(sums: TableSums, column: int, low: int, high: int) -> float | None:
    """The ratio of values in two tables, if it looks like another unit."""
    mean, spread = sums.mean[:, column], sums.spread[:, column]
    if mean[low] <= 0:
        return None
    by_mean, by_spread = mean[high] / mean[low], spread[high] / spread[low]
    alike = 1 / ALIKE < by_mean / by_spread < ALIKE
    return float(by_mean) if min(by_mean, by_spread) > OTHER_UNIT and alike else None


def _of_spread(case: ConcernContext, found: Differences, column: int) -> str:
    low, high = (case.tables.names[int(one[column])] for one in (found.lowest, found.highest))
    times = float(np.exp(found.size[column]))
    return (
        f"'{case.fitted.own_names[column]}' varies {times:.2g} times as much in {high} as in {low}"
    )


def shares_differ(case: ConcernContext) -> Iterator[Concern]:
    """Warn if shares of components differ between tables."""
    shares = case.table_shares
    if shares is None or case.fitted.n_components == 1:
        return
    found = shares.of_shares
    clear = (found.chance < CHANCE / len(found.chance)) & (found.size > TELLING_SHARE)
    if not clear.any():
        return
    said = [_of_share(case, shares, found, k) for k in _largest(found, clear)]
    more = len(said) - MOST_NAMED
    others = f"; and {more} more" if more > 0 else ""
    yield Concern(
        "shares_differ",
        f"Tables differ in how common the {case.components} are: {'; '.join(said[:MOST_NAMED])}"
        f"{others}. That is as it should be if they are of different people, and allowed for by "
        "likelihood; "
        "if they are not, look at which columns tell these apart.",
        Subject.TABLES,
        Gravity.KNOW,
    )


def _of_share(case: ConcernContext, shares: TableShares, found: Differences, component: int) -> str:
    low, high = int(found.lowest[component]), int(found.highest[component])
    few, many = shares.shares[low, component], shares.shares[high, component]
    names = case.tables.names
    said = (
        f"{case.called(component)} is {percent(many)} of {names[high]} and {percent(few)} of "
        f"{names[low]}"
    )
    if few < NEARLY_NONE and many > SOME:
        said += f", and may be what is particular to {names[high]}"
    return said


def never_meet(case: ConcernContext) -> Iterator[Concern]:
    """Warn of columns of different tables that no row holds together."""
    if not _several(case):
        return
    used = case.seen.kept & case.fitted.kept
    pairs = never_held_together(case.tables.holds & used)
    if not len(pairs):
        return
    one, other = map(int, pairs[0])
    names = case.fitted.own_names
    listed = quoted(names, [one, other])
    n = len(pairs) - 1
    more = f", nor are {n:,} other pairs" if n > 1 else ", nor is another pair" if n else ""
    yield Concern(
        "columns_never_meet",
        f"{listed} are never observed together{more}, as no table has both. What the model says of "
        f"how they go along comes through the {case.components} alone: it takes them to be "
        f"unrelated within each, which no row can tell.{_how_unsure(case, one, other)} Add rows "
        "that hold both if it matters.",
        Subject.TABLES,
        Gravity.CARE,
    )


def _how_unsure(case: ConcernContext, one: int, other: int) -> str:
    shares = case.table_shares
    if shares is None:
        return ""
    pair = shares.never_together(one, other)
    return (
        f" Their correlation comes out as {pair.correlation:.2f}, and anything from "
        f"{pair.least:.2f} to {pair.most:.2f} would fit these tables as well."
    )
