"""Outcomes by component: weighted averages against loops, what is withheld, and messages."""

import html
import re

import numpy as np
import pandas as pd
import pytest

from halfseen import GaussianMixture, HiddenMarkov
from halfseen.report.outcomes import Outcome, by_component, outcomes_of


def world(seed=0, n=400):
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    X = pd.DataFrame(rng.normal(6.0 * ill[:, None], 1.0, size=(n, 3)), columns=["a", "b", "c"])
    died = np.where(rng.random(n) < np.where(ill, 0.5, 0.1), "yes", "no").astype(object)
    died[:20] = None
    return X, ill, died, rng.normal(10 + 5 * ill, 2)


def test_averages_are_those_of_rows_by_their_share():
    rng = np.random.default_rng(0)
    shares, values = rng.dirichlet(np.ones(2), size=30), rng.normal(size=30)
    values[3] = np.nan
    clusters = np.arange(30) // 3
    found = by_component(shares, values, clusters, 5)
    for k in range(2):
        own = [(shares[i, k], values[i], clusters[i]) for i in range(30) if i != 3]
        total = sum(w for w, _, _ in own)
        mean = sum(w * v for w, v, _ in own) / total
        assert found.mean[k] == pytest.approx(mean)
        spread = sum(w * (v - mean) ** 2 for w, v, _ in own) / total
        assert found.spread[k] == pytest.approx(np.sqrt(spread))
        pulls = [sum(w * (v - mean) for w, v, c in own if c == g) for g in range(10)]
        assert found.error[k] == pytest.approx(np.sqrt(np.sum(np.square(pulls))) / total)
    assert found.mean[2] == pytest.approx(np.nanmean(values))
    assert found.n_rows[2] == 29
    assert not found.few.any()
    assert by_component(shares, values, clusters, 11).few.all()  # ten clusters stand behind


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0, 1, 1, None], ("0", "1")),
        ([2.0, 0.0, np.nan, 1.0], ("0", "1", "2")),
        (["yes", "", "no", "no"], ("no", "yes")),
        ([True, False, True, None], ("0", "1")),
        ([0.5, 1.5, 2.0, 3.0], ()),
        (list(range(40)), ()),
    ],
)
def test_few_values_are_categories_and_more_have_a_mean(values, labels):
    assert Outcome.of("y", np.array(values, dtype=object)).labels == labels


def test_outcomes_are_refused_in_words():
    with pytest.raises(ValueError, match=r"'y' holds 13 different words, of at most 12"):
        Outcome.of("y", [f"word {i}" for i in range(13)])
    with pytest.raises(ValueError, match=r"'y' must hold one value a row. Got .* \(2, 2\)"):
        Outcome.of("y", np.zeros((2, 2)))
    assert outcomes_of(None) == ()
    assert [one.name for one in outcomes_of({"one": [1, 2], "two": [3, 4]})] == ["one", "two"]
    assert outcomes_of(pd.Series([1.0, 2.0], name="died"))[0].name == "died"


def test_the_page_says_where_outcomes_are_most_common(tmp_path):
    X, ill, died, days = world()
    model = GaussianMixture(2, random_state=0).fit(X)
    model.report(X, tmp_path / "p.html", outcome={"died": died, "days": days})
    page = (tmp_path / "p.html").read_text()
    assert "Outcomes by group" in page
    assert "The groups were found without died and days." in page
    share = np.mean(died[20:][ill[20:]] == "yes")
    assert f"died is yes most often in group 2 ({share:.0%}, between" in page
    assert "days is highest in group 2 (15." in page
    assert "known of 380 rows" in page
    model.report(X, tmp_path / "q.html", outcome=died, least_rows=250)
    assert (
        "outcome: too few rows stand behind each group to say anything."
        in (tmp_path / "q.html").read_text()
    )
    with pytest.raises(ValueError, match="learned from 'a', so that it is no outcome"):
        model.report(X, tmp_path / "r.html", outcome={"a": days})
    with pytest.raises(ValueError, match=r"one value for each of the 400 rows. Got 399"):
        model.report(X, tmp_path / "r.html", outcome=days[1:])
    assert not (tmp_path / "r.html").exists()


def test_outcomes_go_with_rows_that_were_given_in_any_order(tmp_path):
    rng = np.random.default_rng(0)
    ill = np.repeat(rng.random(120) < 0.5, 5)
    table = pd.DataFrame({"who": np.repeat(np.arange(120), 5), "day": np.tile(np.arange(5), 120)})
    table["x"], table["y"] = rng.normal(6.0 * ill), rng.normal(6.0 * ill)
    died = np.where(ill, "yes", "no")
    order = rng.permutation(len(table))
    order = order[table["day"].to_numpy()[order] != 3]  # gaps of the grid
    given = table.iloc[order]
    model = HiddenMarkov(2, random_state=0).fit(given, sequence="who", order="day", step=1)
    model.report(given, tmp_path / "p.html", outcome=pd.Series(died[order], name="died"))
    page = (tmp_path / "p.html").read_text()
    assert "died is yes most often in state" in page
    told = html.unescape(page[page.index("died is yes most often") :])
    assert re.match(r"died is yes most often in state \d \((100|>?99)%, ", told)
    assert re.search(r"least often in state \d \((0|<?1)%, ", told[:200])
    assert "known of 480 rows" in page
    assert "The 480 rows fall into 2 states" in page  # not those that fill the grid
    assert "The table has 480 rows and 2 columns, and no gaps." in page
    assert "120 steps between rows had none, and count as rows of which nothing is known." in page
    assert "Nothing is missing." in page
    assert "hold nothing" not in page
