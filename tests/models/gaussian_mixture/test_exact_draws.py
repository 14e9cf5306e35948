"""What mixtures draw against exact laws: components and cells given what is observed in a row."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from halfseen import GaussianMixture
from halfseen.data.rows import Block
from halfseen.distributions.normal_em import MixtureParameters

WEIGHTS = np.array([0.3, 0.5, 0.2])
MEANS = np.array([[0.0, 0.0], [2.0, -1.0], [-1.0, 3.0]])
VARIANCES = np.array([[1.0, 0.5], [0.3, 2.0], [1.5, 1.0]])
MIXTURE = MixtureParameters(WEIGHTS, MEANS, VARIANCES)
MODEL = GaussianMixture(3, covariance_type="diag", outliers=None)._model()
N = 20_000


def exact_cdf(observed):
    """Of the second column given the first: a sum over components, enumerated."""
    odds = WEIGHTS * stats.norm.pdf(observed, MEANS[:, 0], np.sqrt(VARIANCES[:, 0]))
    odds /= odds.sum()

    def cdf(y):
        each = stats.norm.cdf(np.asarray(y)[..., None], MEANS[:, 1], np.sqrt(VARIANCES[:, 1]))
        return each @ odds

    return cdf


def chance_of(observed, parameters):
    """How likely the draws of the second column are, given its exact conditional."""
    rows = np.tile([observed, np.nan], (N, 1))

    def each(function):
        return function(Block.from_table(rows))

    (draws,) = MODEL.fill(each, parameters, 1, np.random.RandomState(0))
    return float(stats.kstest(draws[:, 1], exact_cdf(observed)).pvalue)


@pytest.mark.parametrize("observed", [-3.0, 0.3, 1.4, 2.5])
def test_a_cell_that_is_filled_in_has_its_exact_conditional(observed):
    assert chance_of(observed, MIXTURE) > 1e-4


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": np.array([0.4, 0.4, 0.2])},
        {"centres": MEANS + np.array([0.0, 0.1])},
        {"variances": VARIANCES * 1.2},
    ],
    ids=["weights", "centres", "variances"],
)
def test_a_conditional_that_is_wrong_on_purpose_is_noticed(wrong):
    parameters = dataclasses.replace(MIXTURE, **wrong)
    if "centres" in wrong:
        parameters = dataclasses.replace(parameters, means=wrong["centres"])
    assert chance_of(0.3, parameters) < 1e-4


def test_rows_that_are_drawn_have_the_exact_law_of_each_column_and_component():
    X, labels = MODEL.draw(MIXTURE, N, np.random.RandomState(0))
    assert stats.chisquare(np.bincount(labels), WEIGHTS * N).pvalue > 1e-4
    for column in range(2):

        def cdf(y, d=column):
            each = stats.norm.cdf(np.asarray(y)[..., None], MEANS[:, d], np.sqrt(VARIANCES[:, d]))
            return each @ WEIGHTS

        assert stats.kstest(X[:, column], cdf).pvalue > 1e-4
