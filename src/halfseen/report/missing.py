"""What is missing, in sentences."""

from collections.abc import Collection, Iterator

from halfseen.data.formatting import percent
from halfseen.diagnostics.concerns import ConcernContext
from halfseen.diagnostics.missingness import Missingness, missingness


def missing_in(case: ConcernContext) -> Missingness:
    """What is missing in the table of a case, but for columns that are not used at all.

    Rows that only stand for steps between those of the table are no part of it.
    """
    used = case.fitted.taken
    names = tuple(name for name, use in zip(case.fitted.own_names, used, strict=True) if use)
    coding = case.fitted.coding
    ordered = None if coding is None else ~coding.worded[used]
    found = missingness(case.rows.select(used), case.seen.sums.select(used), names, ordered)
    return found.without_added(case.n_added)


def what_is_missing(
    found: Missingness, told: Collection[str] = (), *, sequenced: bool = False
) -> Iterator[str]:
    """The gaps in sentences; empty rows count where rows are ``sequenced``.

    What stands beside them as a concern, of the kinds that are ``told``, is not said again.
    """
    gaps = 1 - float(found.observed.mean())
    if gaps == 0:
        yield "Nothing is missing."
        return
    yield (
        f"{percent(gaps)} of the cells are empty. {found.n_whole_rows:,} of {found.n_rows:,} rows "
        f"({percent(found.n_whole_rows / max(found.n_rows, 1))}) have no gaps."
    )
    if found.n_empty_rows:
        rest = "of which their neighbours tell" if sequenced else "and would be ignored"
        yield f"{found.n_empty_rows:,} rows hold nothing at all, {rest}."
    if found.n_compared < len(found.names):
        yield (
            f"Pairs of columns were looked at among the {found.n_compared:,} with the most gaps."
        )
    if found.never_together:
        pairs = found.never_together
        others = f", nor are {len(pairs) - 1} other pairs" if len(pairs) > 1 else ""
        yield f"'{pairs[0].first}' and '{pairs[0].second}' are never known in the same row{others}."
    yield from _dependence(found, told)


def _dependence(found: Missingness, told: Collection[str]) -> Iterator[str]:
    if found.most_dependent is not None and "missing_together" not in told:
        yield _together(found, *found.most_dependent)
    if found.shift is not None and "missing_not_at_random" not in told:
        more = "higher" if found.shift.difference > 0 else "lower"
        yield (
            f"Gaps depend on values: where '{found.shift.where_missing}' is missing, "
            f"'{found.shift.feature}' is {more} by {abs(found.shift.difference):.1f} of its "
            "standard deviations."
        )


def _together(found: Missingness, first: str, second: str) -> str:
    if found.independent:
        return (
            "Columns look to be missing independently of each other (the largest deviation is "
            f"{found.dependence:.1f} standard ones; chance gives up to 5)."
        )
    how = "together" if found.together else "one instead of the other"
    return (
        f"Columns are not missing independently of each other: '{first}' and '{second}' are known "
        f"{how} more often than chance would have it ({found.dependence:,.0f} standard deviations)."
    )
