"""Laws of portraits, for every model of the registry and for groups of any kind."""

import re
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from halfseen import GammaPoisson, GaussianMixture, simulate
from halfseen.io.preprocessing import Preprocessing
from halfseen.models import MODELS
from halfseen.report.certainty import shown_intervals
from halfseen.report.groups import Groups
from halfseen.report.registry import portrait_of

D, N_ROWS = 6, 700
rng = np.random.default_rng(0)
TOPICS = rng.dirichlet(np.ones(D), 3)
COUNTS = simulate.gamma_poisson(N_ROWS, TOPICS, [3.0, 1.0, 2.0], 0.03, rng)[0]
COUNTS = simulate.independent_gaps(COUNTS, [1, 1, 1, 1, 0.7, 0.6], rng)


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def model(request):
    return request.param(3).fit(COUNTS)


def test_components_are_numbered_by_how_common_they_are(model):
    view, fitted = portrait_of(model), model.fitted
    shares = fitted.model.shares(fitted.parameters)
    assert sorted(view.order) == [0, 1, 2]
    np.testing.assert_array_equal(view.shares, np.sort(shares)[::-1])
    assert view.shares.sum() == pytest.approx(1)


def test_the_average_is_that_of_the_centres(model):
    view = portrait_of(model)
    assert view.centres.shape == view.scores.shape == (3, D)
    np.testing.assert_allclose(view.average, view.shares @ view.centres)
    above = view.centres > view.average + 1e-12
    assert (view.scores[above] > 0).all()
    assert (view.scores[~above] <= 1e-9).all()


def test_every_component_has_words_and_cells(model):
    view = portrait_of(model)
    told, grid, drawn = view.descriptions(), view.grid(None, None), view.heat_map(4)
    assert len(told) == 3
    for i, (title, lines) in enumerate(told):
        assert title.startswith(f"{view.noun.capitalize()} {i + 1}: ")
        assert lines
    assert len(grid.features) == len(grid.texts) == len(grid.tips) == len(grid.shade)
    assert all(len(line) == 3 for line in [*grid.texts, *grid.tips, *drawn.texts])
    assert np.abs(grid.shade).max() <= 1
    assert len(drawn.lines) == len(drawn.values) == len(drawn.texts)


def test_of_each_row_it_is_known_how_sure_the_model_is(model):
    view = portrait_of(model)
    certainty = view.row_certainty(model.case(COUNTS).rows)
    np.testing.assert_allclose(certainty.memberships.sum(axis=1), 1)
    assert certainty.values.shape == (N_ROWS,)
    assert certainty.sentence.endswith(".")


def test_results_have_a_line_for_each_row_in_the_order_of_the_page(model):
    view, hidden = portrait_of(model), model.hidden(COUNTS)
    columns, sentence = view.predicted(hidden), view.summed_up(view.tallied(hidden))
    assert all(len(column) == N_ROWS for column in columns.values())
    np.testing.assert_array_equal(
        np.column_stack(list(columns.values())[-3:]), hidden[:, view.order]
    )
    assert sentence.startswith(f"Of {N_ROWS:,} rows")


def test_no_rows_have_results_too(model):
    view, nothing = portrait_of(model), np.empty((0, 3))
    columns, sentence = view.predicted(nothing), view.summed_up(view.tallied(nothing))
    assert all(len(column) == 0 for column in columns.values())
    assert sentence.startswith("Of 0 rows")


def test_intervals_are_those_of_the_attributes_that_hold_what_is_shown(model):
    view, refused = portrait_of(model), model._model().abilities.no_intervals
    if refused:
        assert shown_intervals(model.case(COUNTS), view).low is None
        return
    sure, found = shown_intervals(model.case(COUNTS), view), model.intervals(COUNTS)
    centres, shares = view.learned_as
    np.testing.assert_array_equal(sure.low, found[centres].low[view.order])
    np.testing.assert_array_equal(sure.high, found[centres].high[view.order])
    if shares is None:
        assert sure.share_low is sure.share_high is None
    else:
        np.testing.assert_array_equal(sure.share_low, found[shares].low[view.order])


def poisson_groups(fitted, rates):
    """Groups of counts: in each the variance of a column is its mean."""
    return Groups.of(fitted, rates, rates)


def test_groups_are_shown_whatever_their_columns_come_from():
    fitted = GaussianMixture(2).fit(COUNTS).fitted
    weights, rates = fitted.parameters.weights, np.array([[1.0] * D, [4.0] * D])
    view = poisson_groups(fitted, rates)
    draw = np.random.default_rng(1)
    counts = draw.poisson(rates[draw.choice(2, 200_000, p=weights)])
    expected = (rates[view.order] - counts.mean(axis=0)) / counts.std(axis=0)
    np.testing.assert_allclose(view.scores, expected, atol=0.02)
    assert view.learned_as == (None, "weights_")


def test_averages_that_are_not_learned_as_such_have_no_intervals():
    model = GaussianMixture(2).fit(COUNTS)
    case = model.case(COUNTS)
    sure = shown_intervals(case, poisson_groups(model.fitted, np.ones((2, D))))
    assert sure.low is sure.share_low is None
    assert sure.none_because == "Averages are not learned as such."


def test_a_noun_is_used_throughout():
    fitted = GaussianMixture(2).fit(COUNTS).fitted
    model = replace(fitted.model, about=replace(fitted.model.about, noun="class"))
    view = portrait_of(replace(fitted, model=model))
    assert view.nouns == "classes"
    assert view.descriptions()[0].title.startswith("Class 1: ")
    assert "class" in view.predicted(np.array([[0.2, 0.8]]))
    words = [view.known, view.grid(None, None).title]
    assert all("class" in said and "group" not in said for said in words)


@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
def test_features_that_were_left_out_have_their_constant_and_do_not_stand_out():
    X = np.column_stack([COUNTS, np.full(N_ROWS, 7.0)])
    view = portrait_of(GaussianMixture(3).fit(X))
    assert (view.centres[:, D] == 7).all()
    assert (view.scores[:, D] == 0).all()
    topics = portrait_of(GammaPoisson(3).fit(X))
    assert (topics.centres[:, D] == 0).all()


def test_ends_of_intervals_are_in_own_units_as_the_centres_are():
    raw = np.exp(COUNTS / 10)
    names = [str(i) for i in range(D)]
    done = Preprocessing.learn(names, raw, log=names, standardise=True)
    X = done.apply(raw)
    model = GaussianMixture(2).fit(X)
    model.preprocessing_ = done
    view = portrait_of(model)
    np.testing.assert_allclose(view.in_own_units(model.means_[view.order]), view.centres)
    sure = shown_intervals(model.case(X), view)
    assert (sure.low <= view.centres).all()
    assert (view.centres <= sure.high).all()


ASKS = r"kind ==|isinstance\(model|hasattr\(model|means_\b|components_\b|weights_\b|aussian|amma"


@pytest.mark.parametrize("room", ["report", "plots"])
def test_the_page_and_the_plots_know_no_model(room):
    for file in files("halfseen").joinpath(room).rglob("*.py"):
        code = file.read_text("utf-8").replace("feature_weights_", "")
        found = [line for line in code.splitlines() if re.search(ASKS, line)]
        assert found == [], file
