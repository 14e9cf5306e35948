"""What so few rows stand behind that it would be one of them is not on the page."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from halfseen import GammaPoisson, GaussianMixture
from halfseen.data.formatting import percent
from halfseen.report.export import report_as as report_page
from halfseen.report.portrait import WITHHELD, RowCertainty, few_behind
from halfseen.report.registry import portrait_of

NAMES = ["age", "pulse", "lactate", "crp"]
FEW = np.array([57.3, 81.9, -43.7, 66.1])


def with_few(n_few, seen=1.0):
    """Rows about zero, about ten, and a few that are like nobody else."""
    rng = np.random.default_rng(0)
    X = np.vstack(
        [rng.normal(size=(150, 4)), rng.normal(10, 1, (100, 4)), FEW + rng.normal(size=(n_few, 4))]
    )
    X[250 + round(seen * n_few) :, 3] = np.nan
    return pd.DataFrame(X, columns=NAMES)


def read(page):
    """What people read and hear, without where it is drawn."""
    page = re.sub("<(style|script).*?</\\1>", "", page, flags=re.DOTALL)
    found = re.findall(r'aria-label="([^"]*)"|>([^<]+)<', page)
    return " ".join(words for pair in found for words in pair)


def mixture(X):
    return GaussianMixture(3, outliers=None, random_state=0).fit(X)


def test_rows_behind_an_average_are_counted_by_how_much_they_carry():
    rng = np.random.default_rng(0)
    carried, table = rng.random((40, 3)) ** 3, rng.normal(size=(40, 5))
    table[rng.random(table.shape) < 0.6] = np.nan
    certainty = RowCertainty(carried, carried, carried[:, 0], "", "", "", "", (0, 1), ("", 0.0, ""))
    found = np.zeros((3, 5))
    for k in range(3):
        for d in range(5):
            known = [carried[n, k] for n in range(40) if not np.isnan(table[n, d])]
            found[k, d] = sum(known) ** 2 / sum(c * c for c in known)
    for least in (3, 5, 8):
        np.testing.assert_array_equal(few_behind(certainty, table, least), found < least)
    nobody = np.full((40, 5), np.nan)
    assert few_behind(certainty, nobody, 1).all()


@pytest.mark.parametrize("n_few", [1, 3, 9])
def test_a_group_of_few_rows_is_not_on_the_page(n_few):
    X = with_few(n_few)
    model = mixture(X)
    centres = portrait_of(model).centres
    few = int(np.argmin(np.abs(centres - FEW).sum(axis=1)))
    np.testing.assert_allclose(centres[few], FEW, atol=3)
    page = report_page(model.case(X))
    hints = [f"{x:.1f}" for x in centres[few]]
    assert WITHHELD in page
    assert not any(hint in read(page) for hint in hints)
    assert (
        f"Not shown: averages of group {few + 1}. Fewer than 10 rows stand behind them, so that "
        "they would be nearly what is known of one of those." in page
    )
    assert "no average of fewer than 10 of them" in page
    assert "What is withheld is left out of that average, too." in page
    shown = report_page(model.case(X), least_rows=1)
    assert all(hint in read(shown) for hint in hints)
    assert "Not shown" not in shown


def test_ten_rows_are_enough():
    X = with_few(10)
    assert "Not shown" not in report_page(mixture(X).case(X))


def test_what_is_withheld_cannot_be_computed_from_what_is_shown():
    view = portrait_of(mixture(with_few(3)))
    few = np.zeros((3, 4), bool)
    few[2], few[0, 1] = True, True
    shown = view.without_averages(few)
    for d in range(4):
        others = [k for k in range(3) if not few[k, d]]
        expected = np.average(view.centres[others, d], weights=view.shares[others])
        assert shown.average[d] == pytest.approx(expected)
    np.testing.assert_array_equal(view.without_averages(few & False).average, view.average)


def test_averages_of_columns_on_a_log_scale_stay_geometric():
    model = mixture(np.log(with_few(3) + 50.0))
    view = portrait_of(model)
    logged = replace(view, geometric=np.full(4, True), centres=np.exp(view.centres))
    few = np.zeros((3, 4), bool)
    few[2] = True
    kept = view.without_averages(few).average
    np.testing.assert_allclose(logged.without_averages(few).average, np.exp(kept))


def test_a_column_that_few_rows_of_a_group_have_is_withheld_there():
    X = with_few(40, seen=0.1)
    model = mixture(X)
    view = portrait_of(model)
    few = few_behind(view.row_certainty(model.case(X).sample.rows), X.to_numpy(), 10)
    assert few.sum() == 1
    group, column = np.argwhere(few)[0]
    assert NAMES[column] == "crp"
    page = report_page(model.case(X))
    assert f"crp in group {group + 1}: {WITHHELD}" in page
    assert f"{view.centres[group, column]:.1f}" not in read(page)
    assert "8% of all averages, each of one column" in page


def test_no_single_cell_is_on_the_page_unless_rows_are():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 4)), columns=NAMES)
    X.loc[7, "pulse"] = 777.0
    model = GaussianMixture(1, random_state=0).fit(X)
    assert any("'pulse' (777)" in one.sentence for one in model.concerns(X))
    assert "1 cell looks mistyped, or is far from all others: &#39;pulse&#39;." in report_page(
        model.case(X)
    )
    assert "777" in report_page(model.case(X), include_rows=True)


def test_a_topic_that_few_rows_carry_is_withheld():
    rng = np.random.default_rng(0)
    topics = np.array([[0.5, 0.3, 0.1, 0.05, 0.05], [0.05, 0.05, 0.1, 0.27, 0.53]])
    loadings = rng.gamma(2.0, 20.0, (300, 2))
    loadings[4:, 1] = 0.01
    X = rng.poisson(loadings @ topics).astype(float)
    model = GammaPoisson(2, outliers=None, random_state=0).fit(X)
    view = portrait_of(model)
    lone = int(view.centres[:, 4].argmax())
    page = report_page(model.case(X))
    assert f"averages of topic {lone + 1}." in page
    assert percent(view.centres[lone, 4]) not in re.sub("<style.*?</style>", "", page)
    assert percent(view.centres[1 - lone, 0]) in page


def test_a_group_of_few_rows_is_said_to_be_shared_only_as_rows_are():
    X = with_few(3)
    said = " ".join(one.sentence for one in mixture(X).concerns(X))
    assert "nearly what is known of one of them: share it only as rows." in said
