"""Concerns about where the gaps are."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse.csgraph import connected_components

from halfseen.data.arrays import Array
from halfseen.data.formatting import features, quoted
from halfseen.data.messages import leave_out
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject
from halfseen.moments.missing_patterns import (
    FEW_ROWS,
    INDEPENDENT_BELOW,
    GapValueSums,
    joint_excess,
)

ENOUGH = 0.95
"""Of the rows: a feature that is observed in so many has no gaps to speak of."""
TOGETHER = 0.8
"""Correlation of gaps above which features are missing as a block."""


def depend_on_values(case: ConcernContext) -> Iterator[Concern]:
    """Values of one feature differ where another is missing."""
    mean = case.seen.sums.mean[case.features]
    coding = case.fitted.coding
    ordered = None if coding is None else ~coding.worded[case.features]
    shift = case.part.accumulate(GapValueSums.about(mean)).clearest_shift(ordered)
    if shift is None:
        return
    more = "higher" if shift.difference > 0 else "lower"
    yield Concern(
        "missing_not_at_random",
        f"Gaps are informative: where {quoted(case.names, [shift.where_missing])} is missing, "
        f"{quoted(case.names, [shift.feature])} is {more} by {abs(shift.difference):.2g} standard "
        f"deviations ({abs(shift.deviation):.0f} standard errors). Plain averages of columns "
        f"with gaps may be off. {_polish(case)}",
        Subject.GAPS,
        Gravity.CARE,
    )


def _polish(case: ConcernContext) -> str:
    if case.fitted.settings.refine is None:
        return (
            "Trust what rests on complete columns, and polish by likelihood, which allows for gaps "
            "that depend on what is observed."
        )
    return "The polish by likelihood allows for gaps that depend on what is observed."


def in_blocks(case: ConcernContext) -> Iterator[Concern]:
    """Features are missing together rather than one by one."""
    gaps = case.gaps
    matter = gaps.own < ENOUGH * gaps.n_rows  # the others have hardly a gap
    excess = joint_excess(gaps.count, gaps.n_rows) * np.outer(matter, matter)
    if np.abs(excess).max(initial=0.0) < INDEPENDENT_BELOW:
        return
    blocks = _blocks(excess / np.sqrt(gaps.n_rows))
    if not blocks:
        i, j = map(int, np.unravel_index(np.abs(excess).argmax(), excess.shape))
        how = "together" if excess[i, j] > 0 else "one instead of the other"
        yield Concern(
            "missing_together",
            f"Columns are not missing independently of each other: {quoted(case.names, [i, j])} "
            f"rather {how}. That is allowed for.",
            Subject.GAPS,
            Gravity.KNOW,
        )
        return
    listed = "; ".join(quoted(case.names, block) for block in blocks[:5])
    more = f"; and {len(blocks) - 5} more" if len(blocks) > 5 else ""
    yield Concern(
        "missing_together",
        f"Gaps come in groups: these columns are missing together: {listed}{more}. That is "
        "allowed for, but a row that lacks one of them mostly lacks the others, from which it "
        "could be worked out.",
        Subject.GAPS,
        Gravity.KNOW,
    )


def _blocks(correlation: Array) -> list[list[int]]:
    """Features whose gaps go together, by the correlation of their gaps (d, d)."""
    n, labels = connected_components(correlation > TOGETHER, directed=False)
    members = [list(map(int, np.flatnonzero(labels == block))) for block in range(n)]
    return sorted((block for block in members if len(block) > 1), key=len, reverse=True)


def few_together(case: ConcernContext) -> Iterator[Concern]:
    """A feature is hardly ever observed, or two are hardly ever in one row."""
    own = case.gaps.own
    i, j, together = case.gaps.rarest()
    if together >= FEW_ROWS:
        return
    if not together and case.tables.names:
        return  # of which is said what it means that no table has both
    rare = int(own.argmin())
    few = [case.names[i] for i in np.flatnonzero(own < FEW_ROWS)]
    if own[rare] < FEW_ROWS:
        sentence: str = (
            f"{features(case.names, [rare])} is observed in only {own[rare]:g} rows, too few to "
            "say how it goes along with others. "
            + leave_out(few, capital=True)
            + ", or add rows that hold more."
        )
    elif not together:
        sentence = (
            f"{features(case.names, [i, j])} are never observed together: what the model says of "
            "how they go along rests on the other columns. Add rows that hold both if it matters."
        )
    else:
        sentence = (
            f"{features(case.names, [i, j])} are observed together in only {together:g} rows, too "
            "few to say how they go along: what the model says of that rests on the other columns. "
            "Add rows that hold both if it matters."
        )
    yield Concern(
        "few_joint_observations",
        sentence,
        Subject.GAPS,
        Gravity.CARE,
    )
