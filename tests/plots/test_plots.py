"""Every plot draws the right numbers, on the axes it is given, and says what it needs."""

import itertools
import subprocess
import sys
from dataclasses import replace

import dask.dataframe as dd
import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from halfseen import Choice, DataError, GammaPoisson, GaussianMixture, plots, simulate
from halfseen.diagnostics.choice import RankTest
from halfseen.diagnostics.concerns.concern import MOST_FEATURES
from halfseen.diagnostics.held_out_cells import hidden_as_missing
from halfseen.estimators.serialisation import kind_of
from halfseen.models import MODELS
from halfseen.persistence.model_file import dumps, loads
from halfseen.plots import imputation
from halfseen.plots.canvas import LONGEST_NAME, labels
from halfseen.plots.missingness import MOST_BANDS

mpl.use("Agg")
import matplotlib.pyplot as plt

KINDS = {kind.name: kind for kind in map(kind_of, MODELS.values())}
NAMES = ["age", "pulse", "lactate", "crp", "sodium"]


@pytest.fixture(autouse=True)
def _no_figure_left_open():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    means = [[0] * 5, [3, 2.5, 2, 1.5, 1]]
    X, _ = simulate.gaussian_mixture(600, [0.3, 0.7], means, 1.0, rng)
    return pd.DataFrame(simulate.independent_gaps(X, [1, 1, 1, 0.7, 0.4], rng), columns=NAMES)


@pytest.fixture(scope="module")
def mixture(frame):
    return GaussianMixture(2, complete_above=0.9).fit(frame)


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    topics = [[0.5, 0.3, 0.1, 0.1, 0.0], [0.0, 0.1, 0.1, 0.3, 0.5]]
    X, _ = simulate.gamma_poisson(600, topics, [1.0, 2.0], 0.05, rng)
    return pd.DataFrame(simulate.independent_gaps(X, [1, 1, 1, 0.7, 0.6], rng), columns=NAMES)


@pytest.fixture(scope="module")
def topics(counts):
    return GammaPoisson(2).fit(counts)


CHOICE = Choice(2, (RankTest(1, 9.0, 1.0, 0.002), RankTest(2, 0.5, 1.0, 0.4)), (), "so it is")


def all_plots(model, X):
    return {
        "missingness_map": lambda **to: plots.missingness_map(X, **to),
        "feature_weights": lambda **to: plots.feature_weights(model, **to),
        "spectrum": lambda **to: plots.spectrum(model, X, **to),
        "components_curve": lambda **to: plots.components_curve(CHOICE, **to),
        "components": lambda **to: plots.components(model, **to),
        "posterior_uncertainty": lambda **to: plots.posterior_uncertainty(model, X, **to),
        "imputation_check": lambda **to: plots.imputation_check(model, X, **to),
    }


def tick_labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


@pytest.mark.parametrize("name", plots.__all__)
@pytest.mark.parametrize("kind", ["mixture", "topics"])
def test_every_plot_draws_on_the_axes_it_is_given_or_on_new_ones(name, kind, request):
    X = request.getfixturevalue({"mixture": "frame", "topics": "counts"}[kind])
    draw = all_plots(request.getfixturevalue(kind), X)[name]
    _, ax = plt.subplots()
    assert draw(ax=ax) is ax
    new = draw()
    assert new.figure is not ax.figure
    for drawn in (ax, new):
        assert drawn.get_xlabel()
        assert drawn.get_ylabel()
        drawn.figure.canvas.draw()


@pytest.mark.parametrize("name", plots.__all__)
def test_axes_that_are_none_are_refused(name, mixture, frame):
    _, several = plt.subplots(1, 2)
    with pytest.raises(TypeError, match=r"ax must be one matplotlib Axes\. Got ndarray instead"):
        all_plots(mixture, frame)[name](ax=several)


OF_MODELS = sorted(set(plots.__all__) - {"missingness_map", "components_curve"})


@pytest.mark.parametrize("name", OF_MODELS)
def test_models_must_be_fitted(name, frame):
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        all_plots(GaussianMixture(2), frame)[name]()


@pytest.mark.parametrize("name", plots.__all__)
def test_a_loaded_model_is_drawn_like_the_saved_one(name, mixture, frame):
    again = loads(dumps(mixture, KINDS["GaussianMixture"]), "it", KINDS)
    texts = []
    for model, X in ((mixture, frame), (again, frame)):
        ax = all_plots(model, X)[name]()
        texts.append([t.get_text() for t in ax.findobj(mpl.text.Text)])
    assert texts[0] == texts[1]


def test_without_matplotlib_it_is_said_how_to_get_it():
    code = (
        "import sys, numpy as np; sys.modules['matplotlib'] = None\n"
        "from halfseen import plots\n"
        "try: plots.missingness_map(np.ones((2, 2)))\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert "Plots need matplotlib" in printed
    assert "pip install 'halfseen[plots]'" in printed


def test_importing_plots_does_not_import_matplotlib():
    code = "import sys, halfseen.plots; print('matplotlib' in sys.modules)"
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert printed == "False\n"


# Names


def test_names_that_fit_stay_and_long_ones_are_cut_in_the_middle():
    short, long = labels(["age", "x" * 50])
    assert short == "age"
    assert len(long) == LONGEST_NAME
    assert "…" in long


@pytest.mark.parametrize("place", [0, 15, 25, 39, 59])
def test_names_that_differ_are_never_shown_as_one(place):
    names = [("y" * place + str(i) + "y" * 60)[:60] for i in range(10)]
    assert len(set(labels(names))) == 10


@pytest.mark.parametrize(("n_features", "n_named"), [(5, 5), (60, 60), (150, 150), (1000, 250)])
def test_on_new_axes_features_are_named_as_long_as_a_page_can_be(n_features, n_named):
    ax = plots.missingness_map(np.ones((3, n_features)))
    assert len(ax.get_yticks()) == n_named


def test_on_small_axes_names_do_not_overlap():
    _, ax = plt.subplots(figsize=(4, 3))
    plots.missingness_map(np.ones((3, 100)), ax=ax)
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert len(boxes) >= 15
    for upper, lower in itertools.pairwise(boxes):
        assert upper.y0 >= lower.y1 - 1.5


# Numbers


def test_the_map_shows_what_is_observed(frame):
    few = frame.iloc[:50]
    ax = plots.missingness_map(few)
    np.testing.assert_array_equal(ax.images[0].get_array(), few.notna().to_numpy().T)
    assert tick_labels(ax.yaxis)[0] == "age  100 %"
    observed = round(100 * few["crp"].notna().mean())
    assert tick_labels(ax.yaxis)[3] == f"crp  {observed} %"


def test_a_long_table_is_shown_in_bands_that_add_up(frame):
    long = np.tile(frame.to_numpy(), (3, 1))[:1777]
    image = plots.missingness_map(long).images[0].get_array()
    assert image.shape == (5, MOST_BANDS)
    edges = np.linspace(0, 1777, MOST_BANDS + 1).astype(int)
    for band in (0, 250, MOST_BANDS - 1):
        rows = long[edges[band] : edges[band + 1]]
        np.testing.assert_allclose(image[:, band], (~np.isnan(rows)).mean(axis=0))
    np.testing.assert_allclose((image * np.diff(edges)).sum(axis=1), (~np.isnan(long)).sum(axis=0))


def test_sorted_rows_come_by_pattern_the_most_common_first():
    gap = np.nan
    X = np.array([[1, gap], [gap, 1], [1, 1], [gap, 1], [1, 1], [1, 1.0]])
    image = plots.missingness_map(X, sort_rows=True).images[0].get_array()
    np.testing.assert_array_equal(image, [[1, 1, 1, 0, 0, 1], [1, 1, 1, 1, 1, 0]])


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "0 %"), (0.004, "<1 %"), (0.5, "50 %"), (0.997, ">99 %"), (1, "100 %")],
)
def test_only_nothing_is_0_percent_and_only_everything_100(share, words):
    column = np.where(np.arange(1000) < 1000 * share, 1.0, np.nan)
    ax = plots.missingness_map(np.column_stack([column, np.ones(1000)]))
    assert tick_labels(ax.yaxis)[0] == f"0  {words}"


@pytest.mark.parametrize(
    "container",
    [lambda X: X.to_numpy(), lambda X: X.astype("Float64"), lambda X: pl.from_pandas(X)],
)
def test_the_map_takes_what_fit_takes(container, frame):
    expected = plots.missingness_map(frame).images[0].get_array()
    image = plots.missingness_map(container(frame)).images[0].get_array()
    np.testing.assert_array_equal(image, expected)


def test_columns_that_are_no_numbers_are_named(frame):
    with pytest.raises(DataError, match=r"'ward' cannot be drawn as numbers\. Leave out columns"):
        plots.missingness_map(frame.assign(ward="north"))


@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
def test_weights_are_drawn_largest_first_with_the_fractions_observed(frame):
    model = GaussianMixture(2, complete_above=0.9).fit(frame.assign(ward=1.0))
    ax = plots.feature_weights(model)
    bars = [bar.get_width() for bar in ax.patches]
    assert bars == sorted(model.feature_weights_, reverse=True)
    order = [[*NAMES, "ward"].index(name.split(" ")[0]) for name in tick_labels(ax.yaxis)]
    np.testing.assert_array_equal(model.feature_weights_[order], bars)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), model.observed_fraction_[order])
    assert tick_labels(ax.yaxis)[-1] == "ward (left out)"


@pytest.mark.parametrize("kind", ["mixture", "topics"])
def test_the_spectrum_shows_every_eigenvalue_those_kept_and_the_noise(kind, request):
    model = request.getfixturevalue(kind)
    ax = plots.spectrum(model)
    _, kept, left = ax.lines
    values = model.diagnostics_.spectrum
    rank = {"mixture": 1, "topics": 2}[kind]  # two means differ along one line
    np.testing.assert_array_equal(kept.get_ydata(), values[:rank])
    np.testing.assert_array_equal(left.get_ydata(), values[rank:])
    np.testing.assert_array_equal(left.get_xdata(), np.arange(rank + 1, 6))
    (band,) = ax.patches
    assert band.get_y() == values.min()
    assert band.get_y() + band.get_height() == pytest.approx(-values.min())
    assert [t.get_text() for t in ax.get_legend().get_texts()][1:] == [
        f"kept: {rank}",
        f"left out: {5 - rank}",
    ]


def test_a_spectrum_with_nothing_below_zero_has_no_band(mixture):
    model = loads(dumps(mixture, KINDS["GaussianMixture"]), "it", KINDS)
    model.diagnostics_ = replace(model.diagnostics_, spectrum=np.array([3.0, 0.5]))
    assert len(plots.spectrum(model).patches) == 0


@pytest.mark.parametrize("covariance_type", ["tied_spherical", "spherical", "diag"])
def test_components_are_coloured_by_what_sets_them_apart(covariance_type, frame):
    model = GaussianMixture(2, covariance_type=covariance_type, complete_above=0.9).fit(frame)
    ax = plots.components(model)
    common = model.weights_.argsort()[::-1]
    rows, _ = model.set_params(random_state=0).sample(400_000)
    expected = (model.means_[common] - rows.mean(axis=0)) / rows.std(axis=0)
    np.testing.assert_allclose(ax.images[0].get_array(), expected.T, atol=0.01)
    assert tick_labels(ax.yaxis) == NAMES
    assert tick_labels(ax.xaxis)[0] == f"1\n{model.weights_.max():.0%}".replace("%", " %")
    assert ax.texts[1].get_text() == f"{model.means_[common[1], 0]:.3g}"


@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
def test_features_that_do_not_vary_have_no_colour(frame):
    model = GaussianMixture(2, complete_above=0.9).fit(frame.assign(ward=7.0, empty=np.nan))
    ax = plots.components(model)
    assert np.ma.getmaskarray(ax.images[0].get_array())[5:].all()
    assert [text.get_text() for text in ax.texts[-4:]] == ["7", "7", "", ""]


def test_numbers_that_would_not_fit_are_left_out():
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(500, [0.5, 0.5], rng.normal(0, 3, (2, 60)), 1.0, rng)
    model = GaussianMixture(2).fit(X)
    _, ax = plt.subplots(figsize=(4, 3))
    assert len(plots.components(model, ax=ax).texts) == 0
    assert len(plots.components(model).texts) == 120


def test_topics_list_their_words_by_share(topics):
    ax = plots.components(topics, n_words=3)
    common = topics.shapes_.argsort()[::-1]
    image = ax.images[0].get_array()
    np.testing.assert_array_equal(image, -np.sort(-topics.components_[common], axis=1)[:, :3].T)
    words = np.array([text.get_text().split("\n")[0] for text in ax.texts]).reshape(3, 2)
    for column, topic in enumerate(common):
        top = topics.components_[topic].argsort()[::-1][:3]
        assert list(words[:, column]) == [NAMES[i] for i in top]


def test_text_can_be_read_on_its_colour(topics):
    ax = plots.components(topics)
    for text, value in zip(ax.texts, ax.images[0].get_array().ravel(), strict=True):
        behind = np.array(ax.images[0].to_rgba(np.array([value]))[0, :3])
        ink = np.array(mpl.colors.to_rgb(text.get_color()))

        def light(colour):
            linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
            return linear @ [0.2126, 0.7152, 0.0722]

        low, high = sorted([light(behind), light(ink)])
        assert (high + 0.05) / (low + 0.05) > 4.5  # what accessibility guidelines ask for


def test_the_certainty_of_a_mixture_is_its_largest_probability(mixture, frame):
    ax = plots.posterior_uncertainty(mixture, frame)
    surest = mixture.predict_proba(frame).max(axis=1)
    expected, _ = np.histogram(surest, bins=25, range=(0.5, 1.0))
    np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], expected)
    assert ax.lines[0].get_xdata()[0] == pytest.approx(surest.mean())
    unsure = (surest < 0.9).mean()
    assert ax.get_legend().get_texts()[0].get_text() == (
        f"mean {surest.mean():.2f}\n({unsure:.0%} of rows below 0.9)"
    )


def test_a_single_component_is_certain(frame):
    ax = plots.posterior_uncertainty(GaussianMixture(1).fit(frame), frame)
    assert ax.patches[-1].get_height() == len(frame)


def test_the_certainty_of_topics_is_the_spread_of_the_largest_loading(topics, counts):
    ax = plots.posterior_uncertainty(topics, counts)
    mean, std = topics.posterior(counts)
    relative = [s[m.argmax()] / m.max() for m, s in zip(mean, std, strict=True)]
    assert sum(bar.get_height() for bar in ax.patches) == len(counts)
    assert ax.lines[0].get_xdata()[0] == pytest.approx(np.median(relative))


def test_the_check_of_imputation_draws_what_was_hidden_against_what_was_filled(mixture, frame):
    ax = plots.imputation_check(mixture, frame, fraction=0.2, random_state=3)
    table = frame.to_numpy()
    hidden, weight, _ = hidden_as_missing(table, np.ones(len(NAMES), bool), 0.2, 3)
    weight = weight[np.nonzero(hidden)[0]]
    gappy = pd.DataFrame(np.where(hidden, np.nan, table), columns=NAMES)
    filled, spread = mixture.impute(gappy, return_std=True)
    middle, unit = gappy.mean().to_numpy(), gappy.std(ddof=0).to_numpy()
    true = ((table - middle) / unit)[hidden]
    guess = ((filled.to_numpy() - middle) / unit)[hidden]
    points = ax.lines[1]
    np.testing.assert_allclose(points.get_xdata(), guess)
    np.testing.assert_allclose(points.get_ydata(), true)
    explained = 1 - weight @ (true - guess) ** 2 / (weight @ true**2)
    within = (np.abs(table - filled.to_numpy()) <= 2 * spread.to_numpy())[hidden].mean()
    assert ax.get_legend().get_texts()[1].get_text() == (
        f"{len(true):,} hidden values:\n{explained:.0%} of variance explained,\n"
        f"{within:.0%} within ±2 predicted sd (96% expected)"
    )
    assert 0.9 < within < 1  # the model is right, and knows how sure it is
    assert explained > 0.3


def test_the_check_takes_other_columns_orders_for_a_loaded_model(mixture, frame):
    again = loads(dumps(mixture, KINDS["GaussianMixture"]), "it", KINDS)
    expected = plots.imputation_check(mixture, frame).lines[1].get_xdata()
    found = plots.imputation_check(again, frame[NAMES[::-1]]).lines[1].get_xdata()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
def test_the_check_leaves_features_alone_that_do_not_vary(frame):
    wide = frame.assign(ward=7.0, empty=np.nan)
    model = GaussianMixture(2, complete_above=0.9).fit(wide)
    ax = plots.imputation_check(model, wide, random_state=0)
    assert np.isfinite(ax.lines[1].get_xdata()).all()


def test_hidden_counts_of_a_sparse_table_are_drawn_without_filling_all_of_it(monkeypatch):
    counts = np.random.default_rng(0).poisson(0.3, size=(300, 200)).astype(float)
    model = GammaPoisson(2).fit(counts)
    monkeypatch.setattr(imputation, "whole_table", None)
    ax = plots.imputation_check(model, csr_array(counts))
    assert 0 < len(ax.lines[1].get_xdata()) < 0.12 * len(counts) * MOST_FEATURES


@pytest.mark.parametrize("fraction", [0, 1, -0.1, 1.5])
def test_a_fraction_that_is_none_is_refused(fraction, mixture, frame):
    with pytest.raises(ValueError, match=r"fraction must be above 0 and below 1\. Got"):
        plots.imputation_check(mixture, frame, fraction=fraction)


def test_too_few_values_to_hide_are_told(mixture, frame):
    with pytest.raises(DataError, match=r"observed values is none\. Hide a larger fraction"):
        plots.imputation_check(mixture, frame.iloc[:3], fraction=1e-6)


def test_every_picture_fits_its_axes(mixture, topics, frame, counts):
    for model, X in ((mixture, frame), (topics, counts)):
        for draw in all_plots(model, X).values():
            ax = draw()
            ax.figure.canvas.draw()
            page = ax.figure.bbox
            inside = ax.get_tightbbox()
            assert inside.x0 >= page.x0 - 1
            assert inside.y0 >= page.y0 - 1
            assert inside.x1 <= page.x1 + 1
            assert inside.y1 <= page.y1 + 1


# Tables elsewhere


def elsewhere(X, folder):
    X.to_csv(folder / "table.csv", index=False)
    return {
        "path": folder / "table.csv",
        "batches": [X[:100], X[100:]],
        "dask": dd.from_pandas(X, npartitions=3),
    }


@pytest.mark.parametrize("where", ["path", "batches", "dask"])
def test_every_plot_takes_what_fit_takes(where, mixture, frame, tmp_path):
    given = elsewhere(frame, tmp_path)[where]
    for name in ("missingness_map", "posterior_uncertainty", "imputation_check", "spectrum"):
        texts = []
        for X in (frame, given):
            ax = all_plots(mixture, X)[name]()
            texts.append([t.get_text() for t in ax.findobj(mpl.text.Text)])
        assert texts[0] == texts[1]


def test_sparse_counts_are_drawn_like_dense_ones(counts):
    X = counts.to_numpy()
    model = GammaPoisson(2).fit(X)
    for name in ("missingness_map", "posterior_uncertainty", "imputation_check"):
        dense, sparse = (all_plots(model, one)[name]() for one in (X, csr_array(X)))
        texts = [[t.get_text() for t in ax.findobj(mpl.text.Text)] for ax in (dense, sparse)]
        assert texts[0] == texts[1]
