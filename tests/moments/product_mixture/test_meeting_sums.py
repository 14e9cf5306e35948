import numpy as np
import pytest

from halfseen.data.block import Block
from halfseen.moments.product_mixture.encoding import Encoding, ItemSums
from halfseen.moments.product_mixture.item_moments import MeetingSums
from tests.moments.product_mixture.mixed import drawn, rows_of


@pytest.mark.parametrize("weighed", [False, True])
def test_sums_are_those_of_a_loop_over_rows(weighed):
    table = drawn(n=70)
    weights = np.random.default_rng(0).random(70) + 0.5 if weighed else None
    rows = rows_of(table.table, weights)
    encoding = Encoding.of(table.items, rows.accumulate(ItemSums.of(table.items)))
    sums = rows.accumulate(MeetingSums.of(encoding, table.statistics))
    block = Block.from_table(table.table)
    features, seen, found = encoding.features(block), block.observed, table.statistics(block)
    totals = [np.zeros_like(part) for part in vars(sums).values()]
    each = np.ones(70) if weights is None else weights
    for z, m, f, w in zip(features, seen, found, each, strict=True):
        products = (np.outer(z, z), np.outer(m, z), np.outer(m, m), np.outer(f, z), f)
        for total, product in zip(totals, products, strict=True):
            total += w * product
    for ours, theirs in zip(vars(sums).values(), totals, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
