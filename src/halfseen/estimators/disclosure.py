"""What sums give away: refused where they are of so few rows that one of them could be told.

Sums over the rows that hold two columns, taken from those that hold one, are the sums of the rows
that hold it without the other. So it is not enough that sums are of many rows: whatever rows the
presence of two or three columns tells from the others has to be none of them, or many.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from halfseen.estimators.plan import Plan
from halfseen.moments.moment_sums import MomentSums
from halfseen.moments.thirds import packed
from halfseen.moments.thirds.packed import Indices
from halfseen.rows.arrays import Array
from halfseen.rows.errors import DataError

ROUNDING = 1e-6


class DisclosureError(DataError):
    """Sums of too few rows were asked for, and do not leave the place."""


def check_disclosure(sums: MomentSums, plan: Plan) -> None:
    """Refuse sums of fewer rows than agreed on: of all, of some columns, or of one category."""
    least = plan.least_rows
    if sums.n_rows < least - ROUNDING:
        raise DisclosureError(
            f"There are {sums.n_rows:g} rows, and sums of fewer than {least} (least_rows of the "
            "plan) do not leave a place. Add rows, or agree on a smaller least_rows."
        )
    for counts, who in _told_apart(sums, plan.names):
        few = (counts > ROUNDING) & (counts < least - ROUNDING)
        if few.any():
            i = int(np.flatnonzero(few)[np.argmin(counts[few])])
            raise DisclosureError(_refusal(counts[i], who(i), least))
    _check_categories(sums, plan)


def _refusal(count: float, who: str, least: int) -> str:
    rows = "1 row holds" if round(count) == 1 else f"{count:g} rows hold"
    return (
        f"Only {rows} {who}, and the difference of two sums would be the sum of just those: fewer "
        f"than {least} (least_rows of the plan) could be told. Leave one of these columns out of "
        "the plan, or out of those rows, or agree on a smaller least_rows."
    )


def _told_apart(sums: MomentSums, names: Sequence[str]) -> Iterator[tuple[Array, "Who"]]:
    """How many rows can be told from the others by which columns they hold, and which those are."""
    count = sums.count
    own = count.diagonal()
    yield own, Who(names, np.arange(len(names))[:, None], "1")
    i, j = np.nonzero(~np.eye(len(names), dtype=bool))
    both = np.stack([i, j], axis=1)
    yield count[i, j], Who(names, both, "11")
    yield own[i] - count[i, j], Who(names, both, "10")
    if not sums.triples:
        return
    i, j, k = packed.triples(len(names))
    apart = (i < j) & (j < k)
    i, j, k = i[apart], j[apart], k[apart]
    d = len(names)
    triple = sums.third[packed.place(2 * d, i, j, k)]
    yield triple, Who(names, np.stack([i, j, k], axis=1), "111")
    for a, b, c in ((i, j, k), (i, k, j), (j, k, i)):
        members = np.stack([a, b, c], axis=1)
        yield count[a, b] - triple, Who(names, members, "110")
        alone = own[c] - count[a, c] - count[b, c] + triple
        yield alone, Who(names, members, "001")


class Who:
    """Columns that rows hold, and others that they do not, in words."""

    def __init__(self, names: Sequence[str], members: Indices, pattern: str):
        self.names, self.members, self.pattern = names, members, pattern

    def __call__(self, which: int) -> str:
        """Of one of the sets of columns."""
        each = list(zip(self.members[which], self.pattern, strict=True))
        held = [f"'{self.names[int(i)]}'" for i, here in each if here == "1"]
        not_held = [f"'{self.names[int(i)]}'" for i, here in each if here == "0"]
        without = f" without {' and '.join(not_held)}" if not_held else ""
        return f"{' and '.join(held)}{without}"


def _check_categories(sums: MomentSums, plan: Plan) -> None:
    at, least = 0, plan.least_rows
    for column in plan.columns:
        values = column.labels or tuple(f"{value:g}" for value in column.levels)
        counts = sums.levels[at : at + len(values)]
        at += len(values)
        few = (counts > ROUNDING) & (counts < least - ROUNDING)
        if few.any():
            i = int(np.flatnonzero(few)[0])
            raise DisclosureError(
                f"'{column.name}' is '{values[i]}' in {counts[i]:g} rows, and fewer than {least} "
                "(least_rows of the plan) could be told. Leave that value out of the plan, or join "
                "it with another, or agree on a smaller least_rows."
            )


def check_components(shares: Array, plan: Plan, noun: str) -> None:
    """Refuse sums by component, if one of them has fewer rows here than agreed on."""
    few = np.flatnonzero(shares < plan.least_rows - ROUNDING)
    if len(few):
        raise DisclosureError(
            f"Only {shares[few[0]]:.1f} rows of this place are of {noun} {few[0] + 1}, and sums of "
            f"fewer than {plan.least_rows} (least_rows of the plan) do not leave a place. Add "
            f"rows, plan fewer components, or agree on a smaller least_rows."
        )
