"""How many groups there are: none, or so many, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.diagnostics.choice import ClusterTendency
from halfseen.diagnostics.cluster_tendency.evidence import Evidence, gathered
from halfseen.diagnostics.cluster_tendency.mixture import KINDS
from halfseen.diagnostics.cluster_tendency.preprocessing import canonical_order, prepared

MOST_ROWS = 2_000
"""Rows that the comparison is made with, drawn if there are more."""
MOST_CELLS_WITH_GAPS, LEAST_ROWS_WITH_GAPS = 10_000, 300
"""Cells of these rows if some are missing, and rows that are taken all the same: each row may then
have a covariance of its own to invert."""

CLOUD_BETTER, GROUPS_BETTER = -1.0, 2.0
"""Standard errors of the gain of held-out rows up to which a cloud, and from which on groups, are
better; undecided between."""
FLOOR, FLOOR_WITHOUT_MODES = 0.05, 0.2
"""Nats a row that groups must gain over one cloud, if a dip lies between them and if none does: no
cloud in the list is quite like the table, so that a test alone finds groups in any large one."""
BIC_FLOOR = 0.1
"""Nats a row by which BIC must prefer groups for them to be the answer when it is undecided."""
LEVEL = 0.005
"""Largest p-value of bands between clear groups."""
CLEAR_ENTROPY = 0.2
"""Nats a row that classes of categories may leave open, at most, to be clear."""


@dataclass(frozen=True)
class Decision:
    """The number of groups and what speaks for it."""

    case: ClusterTendency
    n_components: int  # the answer
    runner_up: int  # what would be taken if the answer is not
    evidence: Evidence


def decided(evidence: Evidence) -> Decision:
    """Groups if they predict rows better than any one cloud, and are modes or far better."""
    case, k = _judged(evidence)
    if k == 1:
        several = evidence.n_modes if evidence.n_modes > 1 else evidence.next_k
        return Decision(case, 1, max(2, several), evidence)
    return Decision(case, k, _second(evidence, k), evidence)


def _judged(e: Evidence) -> tuple[ClusterTendency, int]:
    if e.best_k == 1 or e.z <= CLOUD_BETTER:
        return ClusterTendency.ONE_CLOUD, 1
    if e.z > GROUPS_BETTER:
        return _of_better_groups(e)
    if e.categorical:
        return ClusterTendency.UNDECIDED, e.k if e.z > 0 else 1
    far_better = e.bic_gain >= BIC_FLOOR * e.n_rows or e.gain >= FLOOR_WITHOUT_MODES
    strong = e.n_modes > 1 and far_better
    return ClusterTendency.UNDECIDED, e.n_modes if strong else 1


def _of_better_groups(e: Evidence) -> tuple[ClusterTendency, int]:
    """If held-out rows prefer groups."""
    if e.categorical:
        certain = e.entropy <= CLEAR_ENTROPY
        return (ClusterTendency.CLEAR if certain else ClusterTendency.OVERLAPPING), e.k
    if e.n_modes > 1 and e.gain >= FLOOR:
        return (
            ClusterTendency.CLEAR if e.p_value <= LEVEL else ClusterTendency.OVERLAPPING
        ), e.n_modes
    if e.gain >= FLOOR_WITHOUT_MODES:
        return ClusterTendency.OVERLAPPING, e.k
    return ClusterTendency.ONE_CLOUD, 1


def _second(e: Evidence, k: int) -> int:
    """Components if they were merged, else the number beside the answer with the better BIC."""
    if e.k != k:
        return e.k
    beside = [one for one in e.tried if abs(one.n_components - k) == 1]
    return min(beside, key=lambda one: one.bic).n_components if beside else 1


MOST_COMPONENTS = 20


def number_of_groups(
    values: Array,
    categorical: Mask | None = None,
    kinds: Sequence[str] = KINDS,
    most: int = MOST_COMPONENTS,
    seed: int = 0,
    *,
    weights: Array | None = None,
    clusters: Labels | None = None,
) -> Decision:
    """How many groups rows (n, d) with NaN in the gaps form, and what speaks for it.

    Parameters
    ----------
    values : array of shape (n, d)
        Numbers, and codes of categories.
    categorical : array of shape (d,), optional
        Which columns hold categories; those of few values if not given.
    kinds : sequence of str
        Covariance types of the mixtures.
    most : int
        Components that mixtures have, at most.
    seed : int
        Of folds, halves and starts.
    weights : array of shape (n,), optional
        How often each row counts.
    clusters : array of shape (n,), optional
        Rows with the same label depend on each other.
    """
    some = sampled(values, weights)
    ready = prepared(values[some], categorical, None if clusters is None else clusters[some])
    return decided(gathered(ready, kinds, most, seed))


def sampled(values: Array, weights: Array | None = None) -> Labels:
    """Which of the rows (n, d) the comparison is made with, drawn by their values alone; (m,).

    Rows that count for more are drawn more often.
    """
    most, n = MOST_ROWS, len(values)
    if np.isnan(values).any():
        by_cells = MOST_CELLS_WITH_GAPS // max(values.shape[1], 1)
        most = min(most, max(by_cells, LEAST_ROWS_WITH_GAPS))
    if weights is not None and np.ptp(weights) > 0:
        return _by_weight(values, weights, most)
    if n <= most:
        return np.arange(n)
    drawn = np.random.default_rng(0).choice(n, most, replace=False)
    return canonical_order(values)[np.sort(drawn)]


def _by_weight(values: Array, weights: Array, most: int) -> Labels:
    """As many rows as weights like these are worth (Kish), systematically along their order."""
    there = np.flatnonzero(weights > 0)
    there = there[canonical_order(values[there])]
    share = np.cumsum(weights[there]) / weights[there].sum()
    worth = weights.sum() ** 2 / (weights**2).sum()
    number = max(1, min(most, round(float(worth))))
    return there[np.searchsorted(share, (np.arange(number) + 0.5) / number)]
