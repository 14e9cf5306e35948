import numpy as np

from halfseen.data.block import Block
from halfseen.moments.product_mixture.encoding import Encoding, ItemSums
from halfseen.moments.product_mixture.item_moments import MeetingSums
from halfseen.moments.product_mixture.mixture_start import read_statistics
from tests.moments.product_mixture.mixed import drawn, rows_of


def test_reading_is_a_least_squares_fit_over_the_other_items():
    table, rng = drawn(n=300), np.random.default_rng(0)
    weights = rng.random(300) + 0.5
    rows = rows_of(table.table, weights)
    encoding = Encoding.of(table.items, rows.accumulate(ItemSums.of(table.items)))
    sums = rows.accumulate(MeetingSums.of(encoding, table.statistics))
    item, owner = encoding.item, table.statistics.owner
    back, emphasis = rng.normal(size=(len(item), 3)), rng.random(len(table.items)) + 0.2
    reading = read_statistics(sums, owner, back, item, emphasis)
    block = Block.from_table(table.table)
    z, found, seen = encoding.features(block), table.statistics(block), block.observed
    for s, d in enumerate(owner):
        mean = np.average(found[seen[:, d], s], weights=weights[seen[:, d]])
        left, right = [], []
        for q in np.flatnonzero(item != d):
            both = weights * (seen[:, d] & seen[:, item[q]])
            root = np.sqrt(both.sum() * emphasis[item[q]])
            left.append(root * back[q])
            right.append(root * (both * (found[:, s] - mean) * z[:, q]).sum() / both.sum())
        slope = np.linalg.lstsq(np.array(left), np.array(right), rcond=None)[0]
        np.testing.assert_allclose(reading.mean[s], mean, rtol=1e-10)
        np.testing.assert_allclose(reading.slope[s], slope, rtol=1e-9, atol=1e-10)
    places = rng.normal(size=(4, 3))
    expected = reading.mean + np.array([[p @ phi for phi in reading.slope] for p in places])
    np.testing.assert_allclose(reading.at(places), expected, atol=1e-10)
