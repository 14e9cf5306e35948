"""How counts split among topics, given a row's loadings: one draw of a sampler."""

from halfseen.rows.arrays import Array
from halfseen.rows.compiled import njit
from halfseen.structures.loadings import row_random


@njit(cache=True, nogil=True)
def shared_out(topic: Array, loadings: Array, share: Array) -> None:  # pragma: no cover - compiled
    """The chances (k,) that an item of a feature, of such shares in topics (k,), is of each."""
    total = 1e-300
    for c in range(len(share)):
        share[c] = topic[c] * loadings[c]
        total += share[c]
    for c in range(len(share)):
        share[c] /= total


@njit(cache=True, nogil=True)
def draw_split(
    count: int, share: Array, totals: Array, state: row_random.State
) -> None:  # pragma: no cover - compiled
    """Add a multinomial draw of ``count`` items to ``totals`` (k,)."""
    k = len(share)
    if count <= 8 * k:  # one by one is faster than binomials
        for _ in range(count):
            left, c = row_random.uniform(state), 0
            while c < k - 1 and left >= share[c]:
                left -= share[c]
                c += 1
            totals[c] += 1
        return
    chance = 1.0
    for c in range(k - 1):
        drawn = row_random.binomial(count, min(max(share[c] / chance, 0.0), 1.0), state)
        totals[c] += drawn
        count -= drawn
        chance = max(chance - share[c], 1e-300)
    totals[k - 1] += count
