"""The level of noise in the spectrum, on paper and on the page: that of the bootstrap."""

import re

import matplotlib as mpl
import numpy as np
import pytest

from halfseen import GammaPoisson, GaussianMixture, plots, simulate
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block
from halfseen.diagnostics.concerns import concern as contexts
from halfseen.diagnostics.concerns.fit import noise_of_spectrum
from halfseen.diagnostics.number_of_components import N_REPLICATES, rank_test
from halfseen.moments.resampling import BinSums
from halfseen.report import export
from halfseen.report.charts.histograms import spectrum_chart

mpl.use("Agg")
import matplotlib.pyplot as plt

OBSERVED = [1, 1, 1, 1, 0.7, 0.4]
rng = np.random.default_rng(0)
X = simulate.gaussian_mixture(700, [0.4, 0.6], rng.normal(0, 2, (2, 6)), 1.0, rng)[0]
X = simulate.independent_gaps(X, OBSERVED, rng)
COUNTS = simulate.gamma_poisson(700, rng.dirichlet(np.ones(6), 2), [1, 1], 0.03, rng)[0]
COUNTS = simulate.independent_gaps(COUNTS, OBSERVED, rng)
GROUPS = np.arange(700) // 10
MODELS = {
    "mixture": (GaussianMixture(2), X),
    "unweighted": (GaussianMixture(2, method="full"), X),
    "topics": (GammaPoisson(2), COUNTS),
}
every_model = pytest.mark.parametrize(("model", "table"), MODELS.values(), ids=MODELS)


@pytest.fixture(autouse=True)
def _no_figure_left_open():
    yield
    plt.close("all")


def of_the_rank(model, table, bins):
    """The test of the fitted number, with the weights of the fit."""
    complete = model.complete_features_
    sums = BinSums.pairs(np.nanmean(table, axis=0), bins)(Block.from_table(table))
    multipliers = np.random.default_rng(0).standard_normal((N_REPLICATES, bins.n))
    k, cumulants = model.n_components_, model.fitted.model.cumulants
    return rank_test(sums, cumulants, complete, k, multipliers, model.feature_weights_)


def report_page(model, table, groups=None):
    return export.report_as(model.case(table, groups))


def band(ax):
    (drawn,) = ax.patches
    return drawn.get_y(), drawn.get_y() + drawn.get_height()


@every_model
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_the_band_is_the_noise_of_the_rank_test(model, table, groups):
    model = model.fit(table)
    bins = Bins.of_rows(len(table)) if groups is None else Bins.of_groups(groups)
    test = of_the_rank(model, table, bins)
    ax = plots.spectrum(model, table, groups=groups)
    assert band(ax) == pytest.approx((-test.noise, test.noise))
    assert ax.get_legend().get_texts()[0].get_text() == f"noise level ±{test.noise:.3g}"
    # The scale of the band is that of the eigenvalues beside it, but for a part in the number of
    # rows by which sums about another origin are corrected.
    left = model.diagnostics_.spectrum[model.diagnostics_.n_kept_eigenvalues]
    assert test.eigenvalue == pytest.approx(left, rel=0.02)


@every_model
def test_without_the_table_the_level_is_another(model, table):
    model = model.fit(table)
    assert band(plots.spectrum(model)) != pytest.approx(band(plots.spectrum(model, table)))


WITHOUT = {
    "diag": (GaussianMixture(2, covariance_type="diag"), X),
    "partial": (GaussianMixture(2, method="partial"), X),
    "as many as features": (GammaPoisson(2), COUNTS[:, :2]),
    "one feature": (GaussianMixture(1), X[:, :1]),
}


@pytest.mark.parametrize(("model", "table"), WITHOUT.values(), ids=WITHOUT)
def test_where_there_is_no_test_there_is_no_noise_and_still_a_plot(model, table):
    model = model.fit(table)
    assert noise_of_spectrum(model.case(table)) is None
    with_table, without = (plots.spectrum(model, *more) for more in ((table,), ()))
    assert [p.get_height() for p in with_table.patches] == [p.get_height() for p in without.patches]


def test_of_too_many_features_the_noise_is_not_told(monkeypatch):
    model = GaussianMixture(2).fit(X)
    assert noise_of_spectrum(model.case(X)) is not None
    monkeypatch.setattr(contexts, "MOST_FEATURES", 5)
    assert noise_of_spectrum(model.case(X)) is None


ABOVE = "should lie above the grey band, which pure noise would leave in one of 100 such tables"
PLAIN = "Filled dots were kept, open ones left out."


def test_the_page_tells_eigenvalues_as_multiples_of_the_noise():
    model = GaussianMixture(2).fit(X)
    page = report_page(model, X)
    assert ABOVE in page
    assert PLAIN not in page
    noise = of_the_rank(model, X, Bins.of_rows(len(X))).noise
    first = model.diagnostics_.spectrum[0]
    (told,) = re.findall(r"Eigenvalue 1: [^<\"]*?, ([\d.]+) times the noise; kept", page)
    assert told == f"{first / noise:.1f}"
    grouped = report_page(model, X, groups=GROUPS)
    noise = of_the_rank(model, X, Bins.of_groups(GROUPS)).noise
    assert f"{first / noise:.1f} times the noise; kept" in grouped


def test_the_page_of_a_model_without_a_test_shows_the_spectrum_alone():
    page = report_page(GaussianMixture(2, covariance_type="diag").fit(X), X)
    assert PLAIN in page
    assert "Eigenvalue 1: " in page
    assert ABOVE not in page
    assert "times the noise" not in page


@pytest.mark.parametrize("noise", [None, 0.0, 0.5])
def test_a_chart_has_a_band_only_if_the_noise_is_known(noise):
    figure = spectrum_chart(np.array([5.0, 0.2, -0.1]), 1, noise)
    assert (ABOVE in figure.caption) is (noise is not None)
    assert [row[2] for row in figure.rows] == ["kept", "left out", "left out"]
    assert ("10.0 times the noise" in str(figure.picture)) is (noise == 0.5)
