"""The bundled table is what our own code makes, and its groups can be found."""

import numpy as np

from halfseen import GaussianMixture, recovery
from halfseen.datasets.clinic import (
    GROUP_SHARES,
    GROUPS,
    PATH,
    as_csv,
    load_clinic,
    simulate_clinic,
)


def test_the_table_is_made_by_our_own_code():
    clinic, _ = simulate_clinic()
    assert PATH.read_text(encoding="utf-8") == as_csv(clinic)


def test_loading_gives_the_numbers_that_were_written():
    np.testing.assert_array_equal(load_clinic().values, simulate_clinic()[0].values)


def test_the_table_is_small():
    assert PATH.stat().st_size < 200_000


def test_the_groups_are_found():
    model = GaussianMixture(4).fit(load_clinic().scores)
    order = recovery.match(model.means_, GROUPS)
    np.testing.assert_allclose(model.weights_[order], GROUP_SHARES, atol=0.04)
    np.testing.assert_allclose(model.means_[order][:, :6], np.array(GROUPS)[:, :6], atol=0.6)
