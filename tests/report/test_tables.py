"""The page of several tables shows how common each component is in each of them."""

import numpy as np
import pandas as pd
import pytest

from halfseen import GaussianMixture, simulate, together
from halfseen.report.report import context_of
from halfseen.report.tables import tables_section


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(0)
    means = np.array([[0.0] * 5, [4.0] * 5])
    parts = [simulate.gaussian_mixture(n, w, means, 1.0, rng)[0] for n, w in SIZES]
    a = pd.DataFrame(parts[0], columns=list("abcde"))
    b = pd.DataFrame(parts[1][:, :4], columns=list("abcd")).assign(a=lambda t: t["a"] + 1)
    X = together(a, b, names=["a small study", "<registry>"], adjust="location")
    return GaussianMixture(2, random_state=0).fit(X), X


SIZES = ((200, [0.5, 0.5]), (400, [0.5, 0.5]))


def test_shares_by_table_are_those_of_the_rows(learned):
    mixture, X = learned
    case = mixture.case(X)
    (chapter,) = tables_section(context_of(case, least_rows=10))
    assert chapter.points[0] == "a small study: 200 rows, 5 of 5 columns."
    assert chapter.points[1] == "<registry>: 400 rows, 4 of 5 columns."
    assert "of which 4 columns are in all" in chapter.sentences[0]
    assert "the mean and the spread that they have in the first table" in chapter.sentences[1]
    assert chapter.sentences[1].endswith("shown is in the units of that table.")
    shown = [[float(cell.rstrip("%")) for cell in row[1:]] for row in chapter.figures[0].rows]
    order = np.argsort(-mixture.weights_)
    rows = mixture.predict_proba(X)[:, order]
    own = [100 * rows[:200].mean(axis=0), 100 * rows[200:].mean(axis=0)]
    np.testing.assert_allclose(np.array(shown).T, own, atol=1)
    # Of 200 rows shares below a half are few.
    (careful,) = tables_section(context_of(case, least_rows=100))
    assert {row[1] for row in careful.figures[0].rows} == {"<50%", ">50%"}


def test_the_page_has_the_chapter_and_pages_of_one_table_have_not(learned, tmp_path):
    mixture, X = learned
    mixture.report(X, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "The tables" in page
    assert "&lt;registry&gt;" in page
    assert "<registry>" not in page
    alone = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 5)), columns=list("abcde"))
    assert tables_section(context_of(mixture.case(alone))) == []
