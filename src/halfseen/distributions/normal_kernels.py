"""Compiled loops for normal columns whose cells may be outliers.

    p(x | k) = (1-ε) N(x; c_kd, v_kd) + ε g_d(x),   g_d = Cauchy(m_d, 2 s_d)

A wild cell is then background for every component: it neither moves a centre nor condemns its
row. A feature may have a *spike*, a value a_d that many cells hold exactly,

    p(x | k) = q_kd if x = a_d, and otherwise (1-q_kd) times the above,

or two values only, a_d with probability q_kd and b_d; then only other values are background.
All densities are had as ratios to the background, so that a cell and component cost one
exponential and rows only a few logarithms.
"""

from typing import Any, NamedTuple

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.block import Block
from halfseen.data.compiled import njit

WIDTH = 2.0
"""The background's half width, in spreads of the feature."""
CHUNK = 1 << 14
"""Cells times components that are worked on at a time: they stay in the cache."""
FARTHEST = 1e60
"""Spreads from the middle that are told apart."""
PLAIN, HURDLE, TWO_VALUED = 0, 1, 2


class Cells(NamedTuple):
    """The distribution of cells in each component."""

    log_weights: Array  # (k,)
    centres: Array  # (k, d)
    variances: Array  # (k, d)
    spike_shares: Array  # (k, d)   q; of features with a spike
    outlier_share: float  # ε
    middle: Array  # (d,)
    spread: Array  # (d,)
    spike: Array  # (d,)            a, NaN if there is none
    other: Array  # (d,)            b, NaN if there are more values

    @property
    def kinds(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Which of the three distributions each feature has; (d,)."""
        two = np.where(np.isnan(self.other), HURDLE, TWO_VALUED)
        return np.where(np.isnan(self.spike), PLAIN, two).astype(np.int64)

    @property
    def ready(self) -> tuple[Any, float, Array]:
        """Arrays for compiled loops: kinds, ε and density parameters; (d,), (k, d, 8)."""
        half = 1 / (WIDTH * self.spread)
        height = (1 - self.outlier_share) * np.pi / half / np.sqrt(2 * np.pi * self.variances)
        numbers = np.empty((*self.centres.shape, 8))
        numbers[..., 0], numbers[..., 1] = self.centres, 0.5 / self.variances
        numbers[..., 2] = height  # in units of the background's
        numbers[..., 3] = np.where(self.kinds == PLAIN, 0.5, self.spike_shares)
        for place, one in enumerate((self.middle, half, self.spike, self.other)):
            numbers[..., 4 + place] = one
        return self.kinds, float(self.outlier_share), numbers


class Expectation(NamedTuple):
    """The sums of an E-step."""

    log_likelihood: float  # without the background's own density, which no parameter changes
    share: Array  # (k,)      Σ r
    there: Array  # (k, d)    Σ r of observed cells beside the spike
    normal: Array  # (k, d)   Σ w, of those that are not background
    first: Array  # (k, d)    Σ w (x - c)
    second: Array  # (k, d)   Σ w (x - c)²
    spike: Array  # (k, d)    Σ r of cells that hold the spike


def expectation(
    block: Block, cells: Cells, known: Array | None = None, shares: Array | None = None
) -> Expectation:
    """The E-step on a block of rows.

    Instead of the components' shares, what they and other columns say of each row may be ``known``
    (k, n); ``shares`` (k, n) are then where each row's own are put, times its weight.
    """
    values, observed = _by_feature(block, cells)
    weights = np.ones(len(block)) if block.weights is None else np.ascontiguousarray(block.weights)
    k, d = cells.centres.shape
    sums = np.zeros((5, k, d))
    share = np.zeros(k)
    run: Any = _expect
    height: float = run(
        values,
        observed,
        weights,
        cells.log_weights[:, None] if known is None else known,
        *cells.ready,
        share,
        sums,
        np.empty((k, 0)) if shares is None else shares,
    )
    return Expectation(height, share, *sums)


def log_densities(block: Block, cells: Cells) -> Array:
    """``log p(x | k)`` of observed cells of each row, outliers included; (n, k)."""
    return (relative(block, cells) + background(block, cells)).T


def relative(block: Block, cells: Cells) -> Array:
    """The same minus the background's log-density; (k, n)."""
    values, observed = _by_feature(block, cells)
    out = np.empty((len(cells.centres), values.shape[1]))
    run: Any = _joint
    run(values, observed, *cells.ready, out)
    return out


def background(block: Block, cells: Cells) -> Array:
    """``Σ_d log g_d(x)`` of cells that may be outliers; (n,)."""
    half = WIDTH * cells.spread
    density = -np.log(np.pi * half * (1 + ((_near(block, cells) - cells.middle) / half) ** 2))
    total: Array = np.where(_beside(block, cells), density, 0.0).sum(axis=1)
    return total


def _beside(block: Block, cells: Cells) -> Mask:
    """Observed cells that are neither a spike nor of a two-valued feature; (n, d)."""
    own = (block.values == cells.spike) | (block.values == cells.other)
    beside: Mask = block.observed & ~own
    return beside


def outlier_probability(block: Block, cells: Cells) -> Array:
    """The probability that each observed cell is background, by component; (k, n, d)."""
    half = WIDTH * cells.spread
    values = _near(block, cells)
    far = 1 + ((values - cells.middle) / half) ** 2
    beside, two = _beside(block, cells), ~np.isnan(cells.other)
    found = np.empty((len(cells.centres), *block.values.shape))
    for k, (centre, variance) in enumerate(zip(cells.centres, cells.variances, strict=True)):
        exponent = -0.5 * (values - centre) ** 2 / variance
        height = (1 - cells.outlier_share) * np.pi * half / np.sqrt(2 * np.pi * variance)
        normal = np.where(two, 0.0, height * np.exp(exponent) * far)
        found[k] = np.where(beside, cells.outlier_share / (cells.outlier_share + normal), 0.0)
    return found


def _near(block: Block, cells: Cells) -> Array:
    """Values (n, d) clipped to where squares do not overflow."""
    far = FARTHEST * cells.spread
    return np.clip(block.values, cells.middle - far, cells.middle + far)


def _by_feature(block: Block, cells: Cells) -> tuple[Array, Mask]:
    near = _near(block, cells)
    return np.ascontiguousarray(near.T), np.ascontiguousarray(block.observed.T)


LOG2E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
ROUNDING = 6755399441055744.0  # 1.5 · 2^52: adding it leaves a whole number in the last bits
LOWEST = -700.0


@njit(cache=True, nogil=True, error_model="numpy")
def _normal_parts(
    share: float, own: Array, x: Array, seen: Mask, room: Array, ratio: Array, normal: Array
) -> None:  # pragma: no cover - compiled
    """Ratios of some cells' densities to the background's, and how much of them is normal.

    The exponential is 2 to a whole number times a polynomial (Cody and Waite 1980), in loops that
    the compiler does several cells at a time in.
    """
    centre, half_precision, height, middle, half = own[0], own[1], own[2], own[4], own[5]
    rounded, bits, powers = room, room.view(np.int64), room
    for j in range(len(x)):
        deviation = x[j] - centre
        y = -half_precision * deviation * deviation
        y = y if y > LOWEST else LOWEST
        rounded[j] = y * LOG2E + ROUNDING
        whole = rounded[j] - ROUNDING
        f = (y - whole * LN2_HIGH) - whole * LN2_LOW
        e = 2.505210838544172e-08
        e = e * f + 2.755731922398589e-07
        e = e * f + 2.7557319223985893e-06
        e = e * f + 2.48015873015873e-05
        e = e * f + 1.984126984126984e-04
        e = e * f + 1.388888888888889e-03
        e = e * f + 8.333333333333333e-03
        e = e * f + 4.1666666666666664e-02
        e = e * f + 0.16666666666666666
        e = e * f + 0.5
        e = e * f + 1.0
        normal[j] = e * f + 1.0
    for j in range(len(x)):
        bits[j] = (bits[j] + 1023) << 52
    for j in range(len(x)):
        z = (x[j] - middle) * half
        part = height * normal[j] * powers[j] * (1.0 + z * z)
        both = part + share
        ratio[j] = both if seen[j] else 1.0
        normal[j] = part / both if seen[j] else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _ratios(
    kind: int,
    share: float,
    own: Array,
    x: Array,
    seen: Mask,
    room: Array,
    ratio: Array,
    normal: Array,
) -> None:  # pragma: no cover - compiled
    """Ratios and normal parts of one feature's cells under one component."""
    spike_share, spike, other = own[3], own[6], own[7]
    if kind == TWO_VALUED:
        for j in range(len(x)):
            usual = (1 - share) * (spike_share if x[j] == spike else 1 - spike_share)
            known = x[j] == spike or x[j] == other
            ratio[j] = (usual if known else share) if seen[j] else 1.0
            normal[j] = 1.0 if seen[j] and known else 0.0
        return
    _normal_parts(share, own, x, seen, room, ratio, normal)
    if kind == HURDLE:
        for j in range(len(x)):
            if seen[j]:
                at = x[j] == spike
                ratio[j] = spike_share if at else (1 - spike_share) * ratio[j]
                normal[j] = 0.0 if at else normal[j]


@njit(cache=True, nogil=True, error_model="numpy")
def _add_log_ratios(
    kinds: np.ndarray,
    share: float,
    numbers: Array,
    x: Array,
    seen: Mask,
    start: int,
    stop: int,
    room: Array,
    normal: Array,
    out: Array,
) -> None:  # pragma: no cover - compiled
    """Add logarithms of some rows' ratios under a component to ``out``; also their normal parts."""
    m, d = stop - start, len(x)
    ratio, product = room[1], room[2]
    for j in range(m):
        product[j] = 1.0
    for i in range(d):
        here, known = x[i, start:stop], seen[i, start:stop]
        _ratios(kinds[i], share, numbers[i], here, known, room[0], ratio, normal[i])
        for j in range(m):
            product[j] *= ratio[j]
        if i % 16 == 15 or i == d - 1:  # so many ratios do not overflow
            for j in range(m):
                out[j] += np.log(product[j])
                product[j] = 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def _joint(
    x: Array, seen: Mask, kinds: np.ndarray, share: float, numbers: Array, out: Array
) -> None:  # pragma: no cover - compiled
    """Logarithms of ratios of rows' densities to the background's; out (k, n)."""
    k, d, _ = numbers.shape
    n, size = x.shape[1], max(32, min(512, CHUNK // max(d, 1)))
    room, normal = np.empty((3, size)), np.empty((d, size))
    for start in range(0, n, size):
        stop = min(start + size, n)
        for c in range(k):
            own = out[c, start:stop]
            own[:] = 0.0
            _add_log_ratios(kinds, share, numbers[c], x, seen, start, stop, room, normal, own)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def _add_up(
    x: Array,
    seen: Mask,
    r: Array,
    normal: Array,
    centre: float,
    spiked: bool,
    spike: float,
    sums: Array,
) -> None:  # pragma: no cover - compiled
    there, total, first, second, at_spike = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(len(x)):
        w = r[j] * normal[j]
        deviation = x[j] - centre
        total += w
        first += w * deviation
        second += w * deviation * deviation
        there += r[j] if seen[j] else 0.0
    if spiked:
        for j in range(len(x)):
            at_spike += r[j] if seen[j] and x[j] == spike else 0.0
    sums[0] += there
    sums[1] += total
    sums[2] += first
    sums[3] += second
    sums[4] += at_spike


@njit(cache=True, nogil=True, error_model="numpy")
def _expect(
    x: Array,
    seen: Mask,
    weights: Array,
    known: Array,
    kinds: np.ndarray,
    share: float,
    numbers: Array,
    total: Array,
    sums: Array,
    shares: Array,
) -> float:  # pragma: no cover - compiled
    """One E-step: the log-likelihood; sums are added to ``total`` (k,) and ``sums`` (5, k, d).

    ``known`` is (k, 1) or (k, n), ``shares`` (k, 0) or (k, n).
    """
    k, d, _ = numbers.shape
    n, size = x.shape[1], max(32, min(512, CHUNK // (k * d)))
    room, normal = np.empty((3, size)), np.empty((k, d, size))
    joint, here = np.empty((k, size)), np.zeros((k, d, 5))
    likelihood = 0.0
    stride, told = (1 if known.shape[1] == n else 0), shares.shape[1] == n
    for start in range(0, n, size):
        stop = min(start + size, n)
        m = stop - start
        for c in range(k):
            for j in range(m):
                joint[c, j] = known[c, (start + j) * stride]
            own, parts = numbers[c], normal[c]
            _add_log_ratios(kinds, share, own, x, seen, start, stop, room, parts, joint[c])
        for j in range(m):
            highest = joint[0, j]
            for c in range(1, k):
                highest = joint[c, j] if joint[c, j] > highest else highest
            whole = 0.0
            for c in range(k):
                joint[c, j] = np.exp(joint[c, j] - highest)
                whole += joint[c, j]
            likelihood += weights[start + j] * (highest + np.log(whole))
            for c in range(k):
                joint[c, j] *= weights[start + j] / whole
                if told:
                    shares[c, start + j] = joint[c, j]
        for c in range(k):
            for j in range(m):
                total[c] += joint[c, j]
            for i in range(d):
                _add_up(
                    x[i, start:stop],
                    seen[i, start:stop],
                    joint[c, :m],
                    normal[c, i, :m],
                    numbers[c, i, 0],
                    kinds[i] > 0,
                    numbers[c, i, 6],
                    here[c, i],
                )
    for c in range(k):
        for i in range(d):
            here[c, i, 0] -= here[c, i, 4] if kinds[i] == HURDLE else 0.0
            for s in range(5):
                sums[s, c, i] += here[c, i, s]
    return likelihood
