"""Tables that differ are told of, with sizes that NumPy gives; tables that agree are not."""

import numpy as np
import pandas as pd
import pytest

from halfseen import GaussianMixture, LatentClass, TablesWarning, load, simulate, together
from halfseen.diagnostics.concerns import tables

NAMES = [f"c{i}" for i in range(6)]
MEANS = np.random.default_rng(1).normal(0, 2, size=(2, 6))
KINDS = {"tables_differ", "shares_differ", "columns_never_meet"}


def studies(seed, n=500, weights=(0.6, 0.4), others=(0.6, 0.4)):
    rng = np.random.default_rng(seed)
    parts = [simulate.gaussian_mixture(n, w, MEANS, 1.0, rng)[0] for w in (weights, others)]
    return [pd.DataFrame(part, columns=NAMES) for part in parts]


def found(model, X):
    case = model.case(X)
    checks = (tables.columns_differ, tables.shares_differ, tables.never_meet)
    return {concern.kind: concern.sentence for check in checks for concern in check(case)}


@pytest.fixture
def shifted():
    a, b = studies(0)
    b = b.assign(c0=b["c0"] + 0.5 * b["c0"].std(), c3=2 * b["c3"])
    return a, b


def test_tables_that_agree_are_not_told_of():
    X = together(*studies(0))
    mixture = GaussianMixture(2, random_state=0).fit(X)
    assert found(mixture, X) == {}
    assert not KINDS & {concern.kind for concern in mixture.concerns(X)}


def test_a_shift_and_a_stretch_are_told_with_tables_and_sizes(shifted):
    X = together(*shifted, names=["a", "b"])
    mixture = GaussianMixture(2, random_state=0).fit(X)
    sentence = found(mixture, X)["tables_differ"]
    assert sentence.startswith("Tables differ in 2 columns that they share: ")
    a, b = (table["c0"] for table in shifted)
    size = (b.mean() - a.mean()) / np.sqrt((a.var(ddof=0) + b.var(ddof=0)) / 2)
    assert f"'c0' is higher in b than in a by {size:.2g} standard deviations" in sentence
    assert "adjust='location' takes differences of means and spreads out." in sentence
    assert any(concern.kind == "tables_differ" for concern in mixture.concerns(X))


def test_another_unit_is_suspected():
    a, b = studies(0)
    a, b = a.assign(c1=a["c1"] + 20), b.assign(c1=18 * (b["c1"] + 20))
    X = together(a, b)
    sentence = found(GaussianMixture(2, random_state=0, scale="robust").fit(X), X)["tables_differ"]
    assert "times as large, as if it were in another unit" in sentence


def test_shares_of_components_that_differ_account_for_means_that_do():
    X = together(*studies(0, others=(0.3, 0.7)), names=["a", "b"])
    mixture = GaussianMixture(2, random_state=0).fit(X)
    told = found(mixture, X)
    shares = [
        mixture.predict_proba(X)[part].mean(axis=0) for part in (slice(500), slice(500, None))
    ]
    most = int(np.argmax(shares[0]))
    assert (
        f"{round(100 * shares[0][most])}% of a and {round(100 * shares[1][most])}% of b"
        in told["shares_differ"]
    )
    assert "(for which other shares of components account)" in told["tables_differ"]


def test_adjusting_people_is_warned_of():
    X = together(*studies(0, others=(0.2, 0.8)), adjust="location")
    with pytest.warns(TablesWarning, match=r"differ in 3 of the 6 columns that they share, which"):
        GaussianMixture(2, random_state=0).fit(X)


def test_a_component_of_one_table_may_be_that_table():
    X = together(*studies(0, weights=(1.0, 0.0)), names=["a", "b"])
    told = found(GaussianMixture(2, random_state=0).fit(X), X)
    assert "and may be what is particular to b" in told["shares_differ"]


def test_columns_that_never_meet_are_told_with_how_unsure_that_is():
    a, b = studies(3, n=4000)
    X = together(a.drop(columns="c5"), b.drop(columns="c4"))
    mixture = GaussianMixture(2, random_state=0).fit(X)
    sentence = found(mixture, X)["columns_never_meet"]
    assert sentence.startswith("'c4' and 'c5' are never observed together, as no table has both.")
    assert "takes them to be unrelated within each, which no row can tell" in sentence
    # By hand: rows of one component each, whose columns are unrelated within it.
    share = np.array([0.6, 0.4])
    about = MEANS[:, 4:] - share @ MEANS[:, 4:]
    between = share @ about**2
    between_both = share @ about.prod(axis=1)
    correlation = between_both / np.sqrt((between + 1).prod())
    room = np.sqrt((1 / (between + 1)).prod())
    words = sentence.split("comes out as ")[1].split(" would fit")[0]
    middle, _, rest = words.partition(", and anything from ")
    low, _, high = rest.partition(" to ")
    ends = [correlation, max(correlation - room, -1), min(correlation + room, 1)]
    np.testing.assert_allclose([float(middle), float(low), float(high)], ends, atol=0.04)
    kinds = [concern.kind for concern in mixture.concerns(X)]
    assert "few_joint_observations" not in kinds


def test_words_are_compared_by_how_common_they_are():
    a, b = studies(0)
    rng = np.random.default_rng(0)
    a = a.assign(ward=rng.choice(list("xyz"), 500), sex=rng.choice(["f", "m"], 500))
    b = b.assign(ward=rng.choice(list("xyz"), 500, p=[0.6, 0.2, 0.2]), sex=a["sex"])
    X = together(a, b, names=["a", "b"])
    sentence = found(LatentClass(2, random_state=0).fit(X), X)["tables_differ"]
    shares = [round(100 * (table["ward"] == "x").mean()) for table in (b, a)]
    assert sentence.startswith("Tables differ in a column that they share: ")
    assert f"'ward' is 'x' in {shares[0]}% of rows of b and {shares[1]}% of a" in sentence


def test_adjusting_takes_the_difference_out_and_is_kept(shifted, tmp_path):
    a, b = shifted
    X = together(a, b, names=["a", "b"], adjust="location")
    mixture = GaussianMixture(2, random_state=0).fit(X)
    kept = mixture.tables_
    np.testing.assert_array_equal(kept.factor[0], 1)
    assert not kept.shift[0].any()
    moved = b * kept.factor[1] + kept.shift[1]
    assert moved["c3"].std() == pytest.approx(a["c3"].std())
    assert moved["c0"].mean() == pytest.approx(a["c0"].mean(), abs=0.15)
    assert kept.factor[1, 3] == pytest.approx(0.5, abs=0.05)
    np.testing.assert_array_equal(kept.factor[1, [1, 2, 4, 5]], 1)
    assert "tables_differ" not in found(mixture, X)
    mixture.save(tmp_path / "m.halfseen")
    again = load(tmp_path / "m.halfseen")
    alone = together(b, names=["b"])  # moved as its study was in the fit
    np.testing.assert_allclose(again.predict_proba(alone), mixture.predict_proba(X)[500:])
    np.testing.assert_allclose(again.predict_proba(moved[NAMES]), again.predict_proba(alone))
    with pytest.warns(TablesWarning, match=r"'c' is none of the tables that were made comparable "):
        again.predict(together(b, names=["c"]))


def test_gaps_are_filled_as_each_table_has_its_numbers(shifted):
    a, b = shifted
    b = b.assign(c3=b["c3"].mask(b["c3"].rank() % 4 == 0))
    X = together(a, b, names=["a", "b"], adjust="location")
    mixture = GaussianMixture(2, random_state=0).fit(X)
    filled = mixture.impute(X).to_pandas()
    both = pd.concat([a, b], ignore_index=True)
    known = both.notna().to_numpy()
    np.testing.assert_allclose(filled.to_numpy()[known], both.to_numpy()[known], rtol=1e-12)
    gaps = ~known[:, 3]
    truth = shifted[1]["c3"].to_numpy()[gaps[500:]]
    assert np.corrcoef(filled["c3"][gaps], truth)[0, 1] > 0.5
    slope = np.polyfit(filled["c3"][gaps], truth, 1)[0]
    assert slope == pytest.approx(1, abs=0.2)
