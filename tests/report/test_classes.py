"""Classes of mixed columns on the page: shares of categories, and what is not shown of them."""

import re

import numpy as np
import pandas as pd
import pytest

from halfseen import GaussianMixture, LatentClass
from halfseen.diagnostics.held_out_cells import hidden_as_missing
from halfseen.report.categories import NOTHING, Categories, bounded
from halfseen.report.charts.by_component import (
    COLOURS,
    MOST_COLOURS,
    Stack,
    Strip,
    stacked_chart,
    strips_chart,
)
from halfseen.report.export import report_as as report_page
from halfseen.report.groups import MOST_DRAWN
from halfseen.report.portrait import WITHHELD
from halfseen.report.registry import portrait_of
from halfseen.report.separation import Density, Separation

pytestmark = pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")


def people(n=900, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.choice(2, n, p=[0.6, 0.4])
    frame = pd.DataFrame(
        {
            "age": rng.normal(np.where(z, 70.0, 30.0), 6.0),
            "visits": rng.poisson(np.where(z, 5.0, 1.0)),
            "diet": rng.choice(["meat", "fish", "plants"], n),
            "vote": np.where(
                rng.random(n) < 0.85, np.where(z, "green", "red"), np.where(z, "red", "blue")
            ),
            "owns": np.where(rng.random(n) < np.where(z, 0.9, 0.1), "yes", "no"),
            "grade": 1.0 + rng.binomial(6, np.where(z, 0.8, 0.2)),
        }
    )
    frame.loc[rng.random(n) < 0.2, "vote"] = None
    return frame


@pytest.fixture(scope="module")
def model():
    return LatentClass(2, random_state=0).fit(people())


@pytest.fixture(scope="module")
def page(model):
    return report_page(model.case(people()))


def part(shares, weights=(0.6, 0.4), labels=("a", "b", "c")):
    shares = np.array(shares, dtype=float)
    values = np.arange(len(shares), dtype=float)
    return Categories.of(0, "vote", labels[: len(shares)], values, shares, np.array(weights))


def test_shares_are_told_against_those_of_all():
    found = part([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]])
    np.testing.assert_allclose(found.of_all, [0.46, 0.2, 0.34])
    size, said = found.difference(0)[:2]
    assert said == "vote: 'a' 70% (46% of all), 'c' 10% (34% of all)"
    expected = sum((p - q) ** 2 / q for p, q in zip([0.7, 0.2, 0.1], found.of_all, strict=True))
    assert size == pytest.approx(np.sqrt(expected))
    assert found.difference(1)[1] == "vote: 'c' 70% (34% of all), 'a' 10% (46% of all)"


def test_of_two_values_the_one_that_there_is_more_of_is_told():
    found = part([[0.9, 0.2], [0.1, 0.8]])
    size, said = found.difference(0)[:2]
    assert said == "vote: 'a' 90% (62% of all)"
    spread = np.sqrt(found.of_all[0] * (1 - found.of_all[0]))
    assert size == pytest.approx((0.9 - found.of_all[0]) / spread)
    np.testing.assert_allclose(found.scores[0, 0], size)


def test_categories_that_are_alike_everywhere_are_not_told():
    assert part([[0.5, 0.5], [0.5, 0.5]]).difference(0) == NOTHING
    assert part([[1.0, 1.0]]).difference(0) == NOTHING


def test_gaps_that_tell_are_told_as_missing():
    gaps = Categories.missing(0, "income", np.array([0.9, 0.3]), np.array([0.6, 0.4]))
    assert gaps.difference(1)[1] == "income: missing 70% (34% of all)"
    assert gaps.difference(0)[1] == "income: missing 10% (34% of all)"


def test_shares_of_few_rows_are_bounds():
    assert bounded(0.25, 0.034) == "25%"
    assert bounded(0.0, 0.034) == "<4%"
    assert bounded(1.0, 0.034) == ">96%"
    assert bounded(0.004, 0.0) == "<1%"
    table = np.repeat([0.0, 1.0, 2.0], [150, 45, 5])[:, None]
    carried = np.eye(2)[np.r_[np.zeros(150, int), np.ones(50, int)]]
    found = part([[1.0, 0.0], [0.0, 0.9], [0.0, 0.1]], (0.75, 0.25)).without_small_cells(
        carried, table, 10
    )
    assert [found.told(0, i) for i in range(3)] == [">93%", "<20%", "75%"]
    assert found.labels == ("a", "b", "1 other")
    assert found.told(2, 1) == "<20%"
    assert found.difference(1)[1] == "vote: 'b' >80% (22% of all), 'a' <20% (75% of all)"
    assert (found.drawn[:, 1] >= 0.2).all()
    assert found.drawn.max() <= 1 - 10 / 150 + 1e-12


def test_shares_in_a_class_of_few_rows_are_withheld_and_left_out_of_all():
    table = np.repeat([0.0, 1.0], [95, 105])[:, None]
    carried = np.eye(3)[np.r_[np.zeros(95, int), np.ones(98, int), np.full(7, 2)]]
    shares = [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]
    found = part(shares, (0.475, 0.49, 0.035)).without_small_cells(carried, table, 10)
    np.testing.assert_array_equal(found.withheld, [False, False, True])
    np.testing.assert_allclose(found.of_all, np.array([0.475, 0.49]) / 0.965)
    assert found.text(0, 2) == ""
    assert found.tip(0, 2, "class") == f"vote 'a' in class 3: {WITHHELD}"
    assert found.difference(2) == NOTHING
    assert (found.scores[:, 2] == 0).all()


def test_rare_values_are_put_together_for_drawing_and_counted_once():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(50), 2).T
    labels = tuple(f"state {i}" for i in range(50))
    few = part(shares, labels=labels).few(MOST_COLOURS)
    assert len(few.labels) == MOST_COLOURS
    assert few.labels[-1] == "43 others"
    np.testing.assert_allclose(few.shares.sum(axis=0), 1)
    fewer = few.few(3)
    assert fewer.labels[-1] == f"{51 - len(fewer.labels)} others"


def test_told_and_grid_speak_of_numbers_and_categories(model):
    view = portrait_of(model)
    young, old = view.descriptions()
    assert young.title == "Class 1: 58% of rows"
    assert any(re.fullmatch(r"vote: 'red' 8\d% \(5\d% of all\), .*", x) for x in young.lines)
    assert any(re.fullmatch(r"owns: 'yes' 9\d% \(4\d% of all\)", x) for x in old.lines)
    assert any(x.startswith("age higher than average: 69.9") for x in old.lines)
    assert any(x.startswith("grade higher than average: 5.") for x in old.lines)
    assert not any(x.startswith("diet") for x in [*young.lines, *old.lines])
    grid = view.grid(None, None)
    assert grid.lines == [
        "age", "visits", "diet: fish", "diet: meat", "diet: plants",
        "vote: blue", "vote: green", "vote: red", "owns: yes", "grade",
    ]  # fmt: skip
    assert grid.labels[2:6] == ("fish", "meat", "plants", "blue")
    assert grid.heads == ("", "", "diet", "", "", "vote", "", "", "", "")
    red = grid.lines.index("vote: red")
    assert re.fullmatch(r"vote 'red' in class 1: 8\d% \(5\d% of all\)", grid.tips[red][0])
    assert view.heat_map(5).lines == tuple(grid.lines)


def test_averages_of_codes_are_nowhere(model, page):
    view = portrait_of(model)
    named = [view.names.index(name) for name in ("diet", "vote", "owns")]
    assert np.isnan(view.centres[:, named]).all()
    assert (view.scores[:, named] == 0).all()
    assert "nan" not in re.sub("<style.*?</style>", "", page, flags=re.DOTALL).lower()
    assert "unknown" not in page


def test_the_page_says_what_tells_classes_apart_and_what_does_not(page):
    assert "What tells the classes apart" in page
    assert "As far as the table can say, diet tells nothing of the class." in page
    assert re.search(
        r"vote: \d\d% of what there is to know \(between \d\d% and \d\d%\), 0\.\d+ nats", page
    )
    assert "Values in each class" in page
    assert "Numbers in each class" in page
    drawn = re.search("Values in each class.*?</figure>", page, flags=re.DOTALL)[0]
    assert "diet" not in drawn
    assert "grade, class 1: 7" in drawn


def test_a_name_that_few_rows_hold_is_not_on_the_page():
    X = people()
    X.loc[[3, 50, 700], "vote"] = "Duke of Aachen"
    model = LatentClass(2, random_state=0).fit(X)
    page = report_page(model.case(X))
    assert "Aachen" not in page
    assert "1 other" in page
    assert "Aachen" in report_page(model.case(X), least_rows=1)
    assert "Aachen" in report_page(model.case(X), include_rows=True, least_rows=1)


def test_rows_are_shown_in_words_where_they_are_asked_for(model):
    page = report_page(model.case(people()), include_rows=True)
    rows = page[page.index('id="rows"') :]
    assert "<td>green</td>" in rows
    assert "<td>yes</td>" in rows


def test_columns_that_are_left_out_are_no_gaps():
    X = people(300).assign(number=np.arange(300), name=[f"person {i}" for i in range(300)])
    model = LatentClass(2, kinds={"number": "ignored", "name": "ignored"}, random_state=0).fit(X)
    page = report_page(model.case(X))
    assert "The table has 300 rows and 6 columns" in page
    assert "person" not in page
    assert "Not shown" not in page


def test_a_class_of_few_rows_is_withheld_with_its_shares():
    X = people(300)
    few = pd.DataFrame(
        {
            "age": 500 + np.random.default_rng(0).normal(size=6),
            "visits": 60,
            "diet": "meat",
            "vote": "green",
            "owns": "no",
            "grade": 4.0,
        }
    )
    X = pd.concat([X, few], ignore_index=True)
    model = LatentClass(3, outliers=None, random_state=0).fit(X)
    assert (model.predict(X)[-6:] == model.weights_.argmin()).all()
    page = report_page(model.case(X))
    assert "Not shown: averages of class 3." in page
    assert f"vote &#39;green&#39; in class 3: {WITHHELD}" in page
    assert "vote in class 3: withheld, as few rows stand behind it" in page
    assert not re.search(r"\b50\d\b", re.sub("<style.*?</style>", "", page, flags=re.DOTALL))


def test_one_class_has_no_chapter_on_what_tells_classes_apart():
    X = people(300)
    page = report_page(LatentClass(1).fit(X).case(X))
    assert "What tells the" not in page
    assert "Nothing stands out: every column is about average." not in page
    assert "The main line along which rows differ" in page


def test_a_table_of_numbers_alone_has_a_page():
    X = people(400)[["age", "visits", "grade"]].assign(height=lambda x: x.age * 0.1)
    page = report_page(LatentClass(2, random_state=0).fit(X).case(X))
    assert "Numbers in each class" in page


def test_many_categories_are_drawn_as_the_most_telling():
    rng = np.random.default_rng(0)
    X = people(4000)
    X["state"] = np.where(X.age > 50, rng.integers(25, 50, 4000), rng.integers(25, size=4000))
    X["state"] = X.state.map("state {}".format)
    model = LatentClass(2, random_state=0).fit(X)
    grid = portrait_of(model).grid(None, None)
    assert len(grid.lines) == MOST_DRAWN
    assert grid.n_lines == 60
    page = report_page(model.case(X))
    assert "The 40 most telling of 60 lines are drawn." in page
    assert "43 others" in page
    assert "state" not in model.explain().tells_nothing


def test_informative_gaps_are_lines_of_their_own():
    X = people(1500)
    rng = np.random.default_rng(1)
    X.loc[(X.age > 50) & (rng.random(1500) < 0.8), "diet"] = None
    model = LatentClass(2, gaps="informative", random_state=0).fit(X)
    view = portrait_of(model)
    assert "diet: missing" in view.grid(None, None).lines
    assert any(
        re.match(r"diet: missing 8\d% \(3\d% of all\)", x) for x in view.descriptions()[1].lines
    )
    page = report_page(model.case(X))
    assert "diet, whether known" in page
    assert "diet" not in model.explain(X).tells_nothing


def test_columns_tell_nothing_if_little_or_maybe_none():
    apart = Separation(np.array([0.5, 0.004, 0.02, np.nan]), 1.0, lambda p: p)
    np.testing.assert_array_equal(apart.silent(None), [False, True, False, False])
    low = np.array([0.4, 0.001, 0.0, np.nan])
    np.testing.assert_array_equal(apart.silent(low), [False, True, True, False])


def test_what_is_drawn_of_numbers_does_not_reach_to_classes_that_are_withheld():
    low, high = np.array([0.0, 400.0]), np.array([10.0, 500.0])
    density = Density(0, low, high, lambda x: x[:, None], lambda x: x)
    edges = density.edges(np.array([True, False]))
    assert edges[0] == 0
    assert edges[-1] == 10
    spiked = density._replace(spike=-3.0, at_spike=np.array([0.5, 0.5]))
    assert spiked.edges(np.array([True, True]))[0] == -3
    assert spiked._replace(floor=0.0, spike=0.0).edges(np.array([True, True]))[0] == 0
    assert density._replace(ceiling=8.0).edges(np.array([True, False]))[-1] == 8
    counts = density._replace(counts=True).edges(np.array([True, False]))
    np.testing.assert_array_equal(counts, np.arange(-0.5, 11))


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_curves_end_where_rows_pile_up_and_not_at_the_furthest_row(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    X[:, 0] = np.minimum(X[:, 0], 0.8)
    model = GaussianMixture(1, covariance_type=kind, random_state=0).fit(X)
    piled, free = portrait_of(model).densities
    every = np.array([True])
    assert piled.edges(every)[-1] == 0.8
    assert free.ceiling == np.inf
    assert free.edges(every)[-1] == pytest.approx(free.high.max())


def test_stacks_and_strips_hide_what_is_withheld_and_escape_names():
    evil = "<b>&"
    stack = Stack(evil, (evil, "b"), np.array([[0.7, 0.5], [0.3, 0.5]]),
                  [["70%", "50%"], ["30%", "50%"]], [False, True], False)  # fmt: skip
    chart = stacked_chart("t", "c", [stack], ["class 1", "class 2"])
    assert "<b>" not in chart.picture
    assert "70%" in chart.picture
    assert "50%" not in chart.picture
    assert chart.rows == ((f"{evil}: {evil}", "70%", ""), (f"{evil}: b", "30%", ""))
    strip = Strip("age", ("0", "9"), np.array([[0.1, 0.9], [0.5, 0.5]]),
                  ("0", 0.0, np.array([0.25, 0.5])), True, ["average 3", "average 8"],
                  [False, True])  # fmt: skip
    chart = strips_chart("t", "c", [strip], ["class 1", "class 2"])
    assert "age in class 1: average 3; 0 in 25%" in chart.picture
    assert "average 8" not in chart.picture
    assert chart.rows == (("age", "average 3", ""),)
    assert len(COLOURS) == MOST_COLOURS


def test_ends_of_counts_are_whole(page):
    drawn = re.search("Numbers in each class.*?</figure>", page, flags=re.DOTALL)[0]
    ends = re.findall(r'font-size="10">(-?[\d.,]+)</text>', drawn)
    assert "0" in ends
    counts = ends[2 * [m for m in ("age", "visits") if m in drawn].index("visits") :][:2]
    assert all(re.fullmatch(r"\d+", end) for end in counts)


def test_a_column_of_two_numbers_that_is_said_to_be_continuous_has_its_shares_drawn():
    X = people(600)[["age", "visits"]]
    X["pair"] = np.where(X.age > 50, 1.5, 0.5)
    X.loc[::7, "pair"] = 2.0 - X.pair[::7]
    model = LatentClass(2, kinds={"pair": "continuous"}, random_state=0).fit(X)
    page = report_page(model.case(X))
    assert "Values in each class" in page
    assert re.search(r"pair, class 1: 0\.500 8\d%", page)


def test_a_spike_is_a_bar_of_its_own():
    rng = np.random.default_rng(5)
    X = people(900)[["age", "owns"]]
    rent = np.where(rng.random(900) < np.where(X.age > 50, 0.8, 0.1), 0.0, rng.normal(9, 1, 900))
    X["rent"] = rent
    page = report_page(LatentClass(2, random_state=0).fit(X).case(X))
    assert re.search(r"rent in class 2: average \d\.\d\d; 0 in 8\d%", page)
    assert "Orange bars are single values that many rows hold exactly." in page


def test_the_page_of_a_table_of_categories_alone_is_whole(tmp_path):
    """It has no averages, and so no intervals of them."""
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=300)
    X = (rng.random((300, 4)) < np.where(group, 0.85, 0.15)[:, None]).astype(float)
    X += 2 * (rng.random(X.shape) < 0.1)
    model = LatentClass(2, kinds=dict.fromkeys(range(4), "categorical"), random_state=0).fit(X)
    model.report(X, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8").rstrip().endswith("</html>")


def test_the_page_says_how_many_hidden_categories_are_filled_in_rightly(model, page):
    frame = people()
    codes = frame.apply(lambda one: one.where(one.isna(), 0)).to_numpy(dtype=float)
    hide, _, _ = hidden_as_missing(codes, np.ones(frame.shape[1], bool), 0.1, 0)
    words = frame.columns.isin(["diet", "vote"])
    hidden = hide & frame.notna().to_numpy() & words
    filled = model.impute(frame.mask(hide))
    usual = frame.mask(hide).mode().iloc[0]
    right = (filled == frame).to_numpy()[hidden].mean()
    alike = (frame == usual).to_numpy()[hidden].mean()
    assert right > alike + 0.1
    assert (
        f"{hidden.sum():,} known categories were hidden from the model and filled in again: "
        f"{right:.0%} of them rightly. The commonest category of each column would be right for "
        f"{alike:.0%}."
    ) in " ".join(page.split())


def test_categories_that_are_numbered_are_drawn_as_steps():
    frame = people().assign(how=lambda f: f.grade.clip(3, 5).map({3: "1 no", 4: "2 so", 5: "3 ok"}))
    shown = portrait_of(LatentClass(2, random_state=0).fit(frame))
    ordered = {one.name: one.ordered for one in shown.categories}
    assert ordered["how"]
    assert not ordered["vote"]


def test_categories_that_hardly_any_row_has_do_not_describe_a_class():
    frame = people()
    few = np.r_[np.flatnonzero(frame.age > 50)[:6], np.flatnonzero(frame.age < 50)[:6]]
    pool = pd.Series(None, index=frame.index, dtype=object)
    pool.iloc[few] = np.repeat(["large", "small"], 6)
    told = portrait_of(LatentClass(2, random_state=0).fit(frame.assign(pool=pool))).descriptions()
    said = " ".join(line for one in told for line in one.lines)
    assert "vote: " in said
    assert "pool" not in said
