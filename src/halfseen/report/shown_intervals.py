"""How sure a model is of what is shown: confidence intervals, if there can be any."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.diagnostics.bootstrap import learned_from, sums_fit
from halfseen.diagnostics.concerns import ConcernContext
from halfseen.diagnostics.intervals import N_REPLICATES, Interval, Replicates, replicates
from halfseen.inference.parameters import ANY
from halfseen.report.portrait import Portrait

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Certainty:
    """Ends of 95 % intervals of what is shown, or why there are none."""

    low: Array | None = None  # (k, d)
    high: Array | None = None
    share_low: Array | None = None  # (k,)  of how common components are
    share_high: Array | None = None
    none_because: str = ""
    replicates: Replicates[Any] | None = None

    def of(self, follows: Callable[[Any], Array]) -> Interval | None:
        """The interval of what follows from the model's parameters, if there are any."""
        return None if self.replicates is None else self.replicates.of(follows, ANY, LEVEL)


def certainty(case: ConcernContext, portrait: Portrait) -> Certainty:
    """From all rows of the case, and only if the model was learned from them."""
    why_not = _why_not(case)
    if why_not:
        return Certainty(none_because=why_not)
    again = replicates(case.fitted, case.rows, case.seen, case.bins, N_REPLICATES)
    found = again.of_attributes(LEVEL)
    centres, shares = portrait.learned_as
    low, high = _ends(found, centres, portrait.order)
    if low is None or high is None:
        return Certainty(none_because="Averages are not learned as such.")
    low, high = portrait.in_own_units(low), portrait.in_own_units(high)
    return Certainty(low, high, *_ends(found, shares, portrait.order), replicates=again)


def _ends(
    found: dict[str, Interval], name: str | None, order: Any
) -> tuple[Array | None, Array | None]:
    # What no feature has, as averages of categories, has no intervals either.
    return (found[name].low[order], found[name].high[order]) if name in found else (None, None)


def _why_not(case: ConcernContext) -> str:
    fitted, seen = case.fitted, case.seen
    if fitted.model.abilities.no_intervals:
        return fitted.model.abilities.no_intervals
    if fitted.streamed or not learned_from(fitted, seen):
        return "They need the table that the model was learned from."
    by_moments = fitted.settings.refine is None
    if by_moments and not sums_fit(int(np.count_nonzero(seen.kept)), case.bins.n):
        return "Of so many columns they need a fit that is polished by likelihood."
    return ""
