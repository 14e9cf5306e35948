"""Cluster tendency: whether rows form groups or one cloud, and how many groups.

Groups are claimed if they predict held-out rows better than the best model of one flexible cloud:
:func:`number_of_groups` is the rule, one line a stage.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.diagnostics.choice import ClusterTendency, TriedNumber
from halfseen.diagnostics.cluster_tendency.evidence import (
    Cell,
    Comparison,
    HeldOut,
    best_of_each,
    standard_error,
    table_of_numbers,
)
from halfseen.diagnostics.cluster_tendency.mixture import KINDS
from halfseen.diagnostics.cluster_tendency.modality import grouped, largest_p_value, merges
from halfseen.diagnostics.cluster_tendency.preprocessing import prepared, sampled

MOST_COMPONENTS = 20  # tried, if nobody says how many
LEAST_ROWS = 20
"""Fewer rows cannot tell groups from a cloud."""
ROWS_OF_A_COMPONENT = 10
"""Rows in the mean of the components of the largest mixture that is tried."""
CLIP = 20.0
"""Nats that one row may speak for or against groups at most: an outlier must not decide."""
DEEPEST = 0.65
"""Of the lower peak, the density between two groups at most. Two equal normals 3 standard
deviations apart have 0.65; components of one skewed or curved cloud rarely have a dip at all."""
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
class Evidence:
    """The measured evidence, with log-likelihoods in nats a row; defaults are for few rows."""

    n_rows: int
    categorical: bool  # whether any column holds categories
    cloud: str = ""  # the model of one cloud that predicts rows best
    best_k: int = 1  # by BIC, 1 included
    k: int = 1  # components of the mixture that predicts rows best
    covariance_type: str = ""
    next_k: int = 1  # of categories: the fewest classes that predict better than one trait fewer
    z: float = -np.inf  # standard errors by which held-out rows prefer the mixture to the cloud
    gain: float = 0.0  # nats a row of that
    gain_error: float = 0.0  # its standard error
    bic_gain: float = 0.0  # nats by which BIC prefers mixtures to clouds, all rows
    n_modes: int = 1  # groups of components with a dip of the density between them
    dip: float = 1.0  # the shallowest of these dips, as a share of the lower peak; 1 without any
    p_value: float = 1.0  # of an emptier band between each two of these groups, the largest
    entropy: float = 0.0  # of the responsibilities, in nats a row
    stability: float | None = None
    tried: tuple[TriedNumber, ...] = ()
    cost: float = 0.0  # fits to as many rows as are compared
    group: tuple[int, ...] = (0,)  # (k,)  of each component, after merging
    labels: tuple[tuple[int, ...], ...] = field(repr=False, default=())  # of each number tried


@dataclass(frozen=True)
class Decision:
    """The number of groups and the evidence for it."""

    case: ClusterTendency
    n_components: int  # the answer
    runner_up: int  # what would be taken if the answer is not
    evidence: Evidence


def number_of_groups(
    values: Array,
    categorical: Mask | None = None,
    most: int = MOST_COMPONENTS,
    *,
    weights: Array | None = None,
    clusters: Labels | None = None,
) -> Decision:
    """The number of groups of rows (n, d) with NaN in the gaps, and the evidence.

    Parameters
    ----------
    values : array of shape (n, d)
        Numbers, and codes of categories.
    categorical : array of shape (d,), optional
        Which columns hold categories; those of few values if not given.
    most : int
        Components that mixtures have, at most.
    weights : array of shape (n,), optional
        How often each row counts.
    clusters : array of shape (n,), optional
        Rows with the same label depend on each other.
    """
    some = sampled(values, weights)
    ready = prepared(values[some], categorical, None if clusters is None else clusters[some])
    none = Evidence(ready.n_rows, categorical=bool(ready.codes.shape[1]))
    if ready.n_rows < LEAST_ROWS:
        return decided(none)
    rows = Comparison(ready)
    most = min(most, max(1, ready.n_rows // ROWS_OF_A_COMPONENT))
    mixtures = rows.mixtures(most, ("diag",) if none.categorical else KINDS)
    clouds = rows.held_out_clouds()
    best = _best_mixture(rows, mixtures)
    return decided(none if best is None else _evidence(none, rows, mixtures, clouds, *best))


def _best_mixture(rows: Comparison, mixtures: list[Cell]) -> tuple[Cell, HeldOut] | None:
    """The best mixture by held-out likelihood, among the best by BIC of each view."""
    best: dict[str, Cell] = {}
    for cell in mixtures:
        rival = best.get(cell.view.name)
        if cell.k > 1 and (rival is None or cell.bic < rival.bic):
            best[cell.view.name] = cell
    bics = [one.bic for one in best.values()]
    left = [one for one in best.values() if not rows.beaten(one.bic, bics)]
    candidates = [(cell, held) for cell in left if (held := rows.held_out(cell))]
    return max(candidates, key=lambda one: float(one[1].log_densities.sum()), default=None)


def _evidence(
    none: Evidence,
    rows: Comparison,
    mixtures: list[Cell],
    clouds: dict[str, Array],
    cell: Cell,
    held: HeldOut,
) -> Evidence:
    """The mixture against the best cloud, its modes, and the table of all numbers."""
    name = max(clouds, key=lambda one: float(clouds[one].sum()))
    difference = np.clip(held.log_densities - clouds[name], -CLIP, CLIP)
    gain, error = float(difference.mean()), standard_error(difference, rows.prepared.cluster)
    several = min(one.bic for one in mixtures if one.k > 1)
    joined = () if none.categorical else merges(cell.mixture)
    group = grouped(joined, DEEPEST, cell.k)
    tried = table_of_numbers(rows, mixtures, cell)
    back = np.argsort(rows.prepared.order, kind="stable")
    return replace(
        none,
        cloud=name,
        best_k=min(mixtures, key=lambda one: one.bic).k,
        k=cell.k,
        covariance_type=cell.mixture.kind,
        next_k=_next_k(rows, mixtures, cell, clouds, name) if none.categorical else cell.k,
        z=gain / max(error, 1e-12),
        gain=gain,
        gain_error=error,
        bic_gain=(rows.best_cloud_bic() - several) / 2,
        n_modes=int(group.max()) + 1,
        dip=max((one.dip for one in joined if one.dip <= DEEPEST), default=1.0),
        p_value=largest_p_value(held.folds, group),
        entropy=cell.entropy,
        stability=next(one.stability for one in tried if one.n_components == cell.k),
        tried=tried,
        cost=float(sum(rows.n_fits)),
        group=tuple(map(int, group)),
        labels=tuple(
            tuple(map(int, one.mixture.labels(one.view.table)[back]))
            for one in best_of_each(mixtures, cell.view.name)
        ),
    )


def _next_k(
    rows: Comparison, mixtures: list[Cell], chosen: Cell, clouds: dict[str, Array], best: str
) -> int:
    """The number to cut a continuum into, if groups are wanted anyway.

    That of the mixture itself if there are none, or if no trait is needed at all.
    """
    names = list(clouds)
    if best == names[0]:
        return chosen.k
    simpler = float(clouds[names[names.index(best) - 1]].sum())
    for cell in best_of_each(mixtures, chosen.view.name)[1:]:
        held = rows.held_out(cell) if cell.k < chosen.k else None
        if held and float(held.log_densities.sum()) > simpler:
            return cell.k
    return chosen.k


def decided(evidence: Evidence) -> Decision:
    """Decide by the evidence between groups, one cloud and undecided."""
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
    return ClusterTendency.UNDECIDED, e.n_modes if far_better else 1


def _of_better_groups(e: Evidence) -> tuple[ClusterTendency, int]:
    """The decision if held-out rows prefer groups."""
    if e.categorical:
        clear, k = e.entropy <= CLEAR_ENTROPY, e.k
    elif e.n_modes > 1 and e.gain >= FLOOR:
        clear, k = e.p_value <= LEVEL, e.n_modes
    elif e.gain >= FLOOR_WITHOUT_MODES:
        clear, k = False, e.k
    else:
        return ClusterTendency.ONE_CLOUD, 1
    return (ClusterTendency.CLEAR if clear else ClusterTendency.OVERLAPPING), k


def _second(e: Evidence, k: int) -> int:
    """The runner-up: components before merging, else the neighbouring number with better BIC."""
    if e.k != k:
        return e.k
    beside = [one for one in e.tried if abs(one.n_components - k) == 1]
    return min(beside, key=lambda one: one.bic).n_components if beside else 1
