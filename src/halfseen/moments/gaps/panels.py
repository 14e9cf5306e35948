"""Features that are observed in exactly the same rows."""

from dataclasses import dataclass

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.block import Parts
from halfseen.rows.feature_sums import fraction_of


@dataclass(frozen=True, eq=False)
class Panels:
    """The features with gaps, sorted into those that come and go alone and those that do together.

    Complete features are in neither: they are always there.
    """

    alone: Mask  # (d,)
    together: tuple[Mask, ...]  # (d,) each

    @property
    def parts(self) -> Parts:
        """Each group a part, after a first part of all features that are in none."""
        labels = np.zeros(len(self.alone), dtype=np.intp)
        for number, members in enumerate(self.together, start=1):
            labels[members] = number
        return Parts(labels, len(self.together) + 1)

    @property
    def representatives(self) -> Mask:
        """One feature of each group; (d,)."""
        chosen = self.alone.copy()
        for members in self.together:
            chosen[np.flatnonzero(members)[0]] = True
        return chosen


def panels_of(count: Array, n_rows: float) -> Panels:
    """Groups from joint counts (d, d): equal masks are those with N_ij = N_i = N_j."""
    own = count.diagonal()
    gappy = fraction_of(own, n_rows) < 1
    close = 1e-9 * n_rows  # counts are sums of weights
    same = (np.abs(count - own) <= close) & (np.abs(count - own[:, None]) <= close)
    alone = np.zeros(len(own), dtype=bool)
    together = []
    left = gappy.copy()
    for feature in np.flatnonzero(gappy):
        if not left[feature]:
            continue
        members = same[feature] & gappy
        left &= ~members
        if np.count_nonzero(members) == 1:
            alone |= members
        else:
            together.append(members)
    return Panels(alone, tuple(together))


def rows_behind(own: Array, n_rows: float, groups: Panels) -> float:
    """How many rows there were before those in which nothing was observed were left out.

    With no complete feature, independent gaps leave some rows empty, and ``n_rows`` are the others:
    ``n = N (1 - Π_g (1 - N_g/N))``, solved for N. A table with a complete feature has no such rows,
    and counts of what is not there (blank lines) do not matter.
    """
    if np.count_nonzero(groups.alone) + sum(map(np.count_nonzero, groups.together)) < len(own):
        return n_rows
    total = n_rows
    for _ in range(1000):
        before = total
        total = n_rows / float(1 - np.prod(1 - own[groups.representatives] / total))
        if abs(total - before) <= 1e-12 * total:
            break
    return total
