"""What is kept of latent Dirichlet allocation beside known truths: held to its floors."""

import pytest

from benchmarks import results_file


@pytest.mark.parametrize(
    ("way", "most"),
    [
        ("known, moments", 0.07),
        ("known, polished", 0.055),
        ("unknown, polished", 0.06),
        ("complete, polished", 0.05),
    ],
)
def test_simulated_topics_with_gaps_are_as_near_as_asked(way, most):
    assert results_file.figures("lda_gaps")["means"][way] <= most


def test_a_concentration_that_is_found_costs_little_and_zeros_cost_much():
    means = results_file.figures("lda_gaps")["means"]
    assert means["known, moments"] <= 1.2 * means["known, moments, true concentration"]
    assert means["zeros, moments"] >= 3 * means["known, moments"]
