"""What the page says."""

import re
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from markupsafe import escape

from halfseen import GammaPoisson, GaussianMixture, simulate
from halfseen.diagnostics.concerns import concerns_of, facts_of
from halfseen.io.preprocessing import Preprocessing
from halfseen.report import export
from halfseen.report.certainty import shown_intervals
from halfseen.report.columns import weights_told
from halfseen.report.registry import portrait_of

NAMES = ["age", "pulse", "lactate", "crp"]
MEANS = np.array([[0.0, 0, 0, 0], [5, 4, -4, 6]])


def table(n_rows=2000, gaps=(1, 1, 1, 0.3), seed=0):
    rng = np.random.default_rng(seed)
    X, _ = simulate.gaussian_mixture(n_rows, [0.7, 0.3], MEANS, 1.0, rng)
    return pd.DataFrame(simulate.independent_gaps(X, gaps, rng), columns=NAMES)


def report_page(model, X, *, groups=None, **options):
    return export.report_as(model.case(X, groups), grouped=groups is not None, **options)


def intervals_shown(model, X, groups=None):
    return shown_intervals(model.case(X, groups), portrait_of(model))


@pytest.fixture(scope="module")
def mixture():
    return GaussianMixture(2).fit(table())


def test_groups_are_told_most_common_first_with_what_stands_out(mixture):
    first, second = portrait_of(mixture).descriptions("people")
    assert first.title == "Group 1: 70% of people"
    assert second.title == "Group 2: 30% of people"
    assert re.fullmatch(
        r"crp .*higher than average: [56]\.\d\d \(average 1\.\d\d\)", second.lines[0]
    )
    assert any(line.startswith("lactate lower than average: -4.0") for line in second.lines)


def test_a_number_that_was_chosen_comes_with_what_was_tried(mixture):
    X = table()
    model = GaussianMixture("auto", covariance_type="diag").fit(X)
    page, choice = report_page(model, X), model.diagnostics_.choice
    assert str(escape(choice.reason)) in page
    assert "How many groups" in page
    for one in choice.tried:
        assert f"AIC {one.aic:,.0f}, BIC {one.bic:,.0f}, ICL {one.icl:,.0f}" in page
    assert f"stability {choice.tried[1].stability:.2f}; chosen" in page
    assert "How many groups" not in report_page(mixture, X)


def test_a_group_like_all_has_nothing_that_stands_out():
    model = GaussianMixture(1).fit(table())
    assert portrait_of(model).descriptions()[0].lines == [
        "Nothing stands out: every column is about average."
    ]


def test_topics_are_told_by_their_words():
    rng = np.random.default_rng(0)
    counts, _ = simulate.gamma_poisson(4000, np.eye(2, 4) + 0.2, [2.0, 1.0], 0.05, rng)
    model = GammaPoisson(2).fit(pd.DataFrame(counts, columns=NAMES))
    first, second = portrait_of(model).descriptions()
    assert first.title.startswith("Topic 1: 6")
    assert first.lines[0].startswith("Mostly age (6")
    assert second.lines[0].startswith("Mostly pulse (6")
    page = report_page(model, pd.DataFrame(counts, columns=NAMES))
    assert "What the topics are like" in page
    view = portrait_of(model)
    as_in_text = replace(view, centres=view.centres * [[0.2], [0.02]])
    assert all(one.lines[0].startswith("Mostly") for one in as_in_text.descriptions())
    as_in_text = replace(view, centres=view.centres * [[0.1], [0.02]])
    assert [one.lines[0].startswith("Mostly") for one in as_in_text.descriptions()] == [
        False,
        False,
    ]


def test_weights_are_told_with_the_reason(mixture):
    lines = weights_told(tuple(NAMES), mixture.feature_weights_, mixture.observed_fraction_)
    assert lines[0] == "In full: age, pulse, lactate."
    assert lines[1] == "crp: weight 0.28, being known for 28% of rows."
    known = weights_told(("age", "crp"), np.array([1.0, 0.9]), np.array([1.0, 1.0]))
    assert known[1] == "crp: weight 0.90."


def test_everything_is_shown_in_own_units():
    raw = np.exp(table().to_numpy() / 4 + 3)
    done = Preprocessing.learn(NAMES, raw, log=NAMES, standardise=True)
    frame = pd.DataFrame(done.apply(raw), columns=done.fitted_names)
    model = GaussianMixture(2).fit(frame)
    model.preprocessing_ = done
    view = portrait_of(model)
    np.testing.assert_allclose(view.centres, np.exp(MEANS / 4 + 3), rtol=0.05)
    page = report_page(model, frame)
    assert "standardised(" not in page
    assert "age, pulse, lactate, crp were put on a log scale" in page
    sure = intervals_shown(model, frame)
    assert (sure.low < view.centres).all()
    assert (view.centres < sure.high).all()


def test_intervals_of_averages_hold_the_truth_about_as_often_as_they_say():
    inside = []
    for seed in range(30):
        X = table(800, seed=seed)
        sure = intervals_shown(GaussianMixture(2).fit(X), X)
        inside.append((sure.low < MEANS) & (sure.high > MEANS))
    assert 0.9 < np.mean(inside) < 0.99


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, pl.from_pandas])
def test_arrays_and_frames_of_all_kinds_give_a_page(kind):
    X = kind(table(300))
    page = report_page(GaussianMixture(2).fit(X), X)
    assert page.startswith("<!DOCTYPE html>")


def test_no_row_is_on_the_page_unless_asked_for(mixture):
    X = table()
    X.iloc[7] = [111.123, 222.234, 333.345, 444.456]
    page = report_page(mixture, X)
    for value in ("111.1", "222.2", "333.3", "444.4"):
        assert value not in page
    assert 'id="rows"' in report_page(mixture, X, include_rows=True)


def test_names_and_titles_are_text_and_nothing_else():
    evil = "<b onclick=x>&\"'</b>"
    frame = table(400).rename(columns={"crp": evil})
    page = report_page(GaussianMixture(2).fit(frame), frame, title=evil, include_rows=True)
    assert evil not in page
    assert "<b " not in page
    assert str(escape(evil)) in page


def test_the_page_needs_nothing_from_elsewhere(mixture):
    page = report_page(mixture, table())
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#|data:,)", page)
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_the_page_has_one_heading_of_the_first_level_and_none_is_skipped(mixture):
    page = report_page(mixture, table())
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    assert '<html lang="en">' in page


def said(model, X):
    case = model.case(X).in_words()
    return " ".join([*map(str, concerns_of(case)), *facts_of(case)])


def test_a_sound_fit_gives_no_concern(mixture):
    assert said(mixture, table()) == ""
    assert "Nothing in the diagnostics stands out." in report_page(mixture, table())


def test_gaps_that_depend_on_values_are_a_concern():
    X = table()
    X.loc[X["age"] > 3, "crp"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianMixture(2).fit(X)
    assert "where 'crp' is missing, 'age' is higher" in said(model, X)


def test_diagnostics_are_told_in_sentences(mixture):
    X = table()
    seen = mixture.diagnostics_
    changed = {
        "off_diagonal_fraction": (0.8, "leave 80% of the third moments unexplained"),
        "n_unseen_triples": (7, "7 triples of columns are never known in the same row"),
        "incomplete_features": ("divide", "Too few columns are complete"),
        "dropped_features": ({"ward": "constant"}, "ward was left out: it is constant."),
    }
    for name, (value, sentence) in changed.items():
        try:
            mixture.diagnostics_ = replace(seen, **{name: value})
            assert sentence in said(mixture, X)
        finally:
            mixture.diagnostics_ = seen
    try:
        mixture.converged_ = False
        assert "The likelihood was still rising" in said(mixture, X)
    finally:
        mixture.converged_ = True


def test_overlapping_and_small_groups_are_a_concern():
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(3000, [0.5, 0.5], [[0] * 4, [1, 1, 1, 1]], 1.0, rng)
    X = pd.DataFrame(X, columns=NAMES)
    model = GaussianMixture(2).fit(X)
    assert re.search("Group [12] and group [12] overlap", said(model, X))
    model.weights_ = np.array([0.999, 0.001])
    assert "Group 2 has about 3 rows" in said(model, X)


def test_a_page_that_is_there_is_kept(mixture, tmp_path):
    path = tmp_path / "page.html"
    mixture.report(table(), path)
    with pytest.raises(FileExistsError, match="is there already"):
        mixture.report(table(), path)
    mixture.report(table(), path, overwrite=True, title="Mine")
    assert "<h1>Mine</h1>" in path.read_text("utf-8")


def test_wide_tables_give_a_page_of_bounded_size():
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(600, [0.5, 0.5], rng.normal(0, 3, (2, 300)), 1.0, rng)
    page = report_page(GaussianMixture(2).fit(X), X)
    assert "The 40 most telling of 300 columns are drawn." in page
    assert len(page) < 500_000


def test_a_page_about_another_table_has_no_intervals(mixture):
    other = report_page(mixture, table(seed=1))
    assert "There are no confidence intervals on this page" in other
    assert "come with 95% confidence intervals" in report_page(mixture, table())


def test_groups_of_rows_that_depend_on_each_other_widen_the_intervals(mixture):
    X = pd.concat([table(400)] * 5, ignore_index=True)
    patient = np.tile(np.arange(400), 5)
    model = GaussianMixture(2).fit(X)
    by_row, by_patient = intervals_shown(model, X), intervals_shown(model, X, patient)
    ratio = (by_patient.high - by_patient.low) / (by_row.high - by_row.low)
    assert 1.8 < np.median(ratio) < 2.7  # √5 = 2.24
    page = report_page(model, X, groups=patient)
    assert "from a bootstrap of whole groups of rows" in page
