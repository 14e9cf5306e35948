"""Several tables are one: what is learned of them is what is learned of the table made by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from halfseen import (
    DataError,
    DroppedFeatureWarning,
    Files,
    GammaPoisson,
    GaussianMixture,
    HiddenMarkov,
    Imputer,
    LatentClass,
    TablesWarning,
    load,
    simulate,
    together,
)
from halfseen.io.open_files import open_files

COMMON = [f"c{i}" for i in range(6)]
OWN = [f"a{i}" for i in range(4)], [f"b{i}" for i in range(4)]
EVERY = [*COMMON, *OWN[0], *OWN[1]]
N = 260


@pytest.fixture(scope="module")
def by_hand():
    """A table of two studies, stacked with gaps in what each lacks."""
    rng = np.random.default_rng(3)
    means = rng.normal(0, 2, size=(2, 14))
    X, _ = simulate.gaussian_mixture(2 * N, [0.6, 0.4], means, 1.0, rng)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:N, 10:], X[N:, 6:10] = np.nan, np.nan
    return pd.DataFrame(X, columns=EVERY)


@pytest.fixture(scope="module")
def studies(by_hand):
    return by_hand.iloc[:N][[*COMMON, *OWN[0]]], by_hand.iloc[N:][[*OWN[1], *COMMON]]


@pytest.fixture(scope="module")
def learned(by_hand):
    return GaussianMixture(2, random_state=0).fit(by_hand)


@pytest.fixture(scope="module")
def folder(studies, tmp_path_factory):
    folder, (a, b) = tmp_path_factory.mktemp("studies"), studies
    a.to_csv(folder / "a.csv", index=False)
    a.to_parquet(folder / "a.parquet", index=False, row_group_size=100)
    b.to_csv(folder / "b.csv", index=False, sep=";", decimal=",")
    b.to_parquet(folder / "b.parquet", index=False)
    b.iloc[:100].to_csv(folder / "b1.csv", index=False)
    b.iloc[100:].to_feather(folder / "b2.feather")
    return folder


def in_order(estimator, by_hand):
    """Parameters of the hand-made table, for columns in the order in which tables have them."""
    return [list(by_hand.columns).index(name) for name in estimator.feature_names_in_]


SOURCES = {
    "frames": lambda folder, a, b: (a, b),
    "polars and pandas": lambda folder, a, b: (pl.from_pandas(a), b),
    "files": lambda folder, a, b: (folder / "a.csv", folder / "b.csv"),
    "formats": lambda folder, a, b: (folder / "a.csv", Files(folder / "b.parquet")),
    "three formats": lambda folder, a, b: (
        folder / "a.parquet",
        folder / "b1.csv",
        folder / "b2.feather",
    ),
    "batches and a file": lambda folder, a, b: ([a.iloc[:99], a.iloc[99:]], str(folder / "b.csv")),
}


@pytest.mark.parametrize("source", SOURCES)
def test_tables_together_are_the_table_made_by_hand(source, folder, studies, by_hand, learned):
    X = together(*SOURCES[source](folder, *studies))
    mixture = GaussianMixture(2, random_state=0).fit(X)
    assert list(mixture.feature_names_in_) == list(dict.fromkeys([*COMMON, *OWN[0], *OWN[1]]))
    order = in_order(mixture, by_hand)
    np.testing.assert_allclose(mixture.means_, learned.means_[:, order], atol=1e-12)
    np.testing.assert_allclose(mixture.weights_, learned.weights_, atol=1e-12)
    rows = mixture.predict_proba(X)
    np.testing.assert_allclose(rows, learned.predict_proba(by_hand), atol=1e-12)
    assert mixture.score(X) == pytest.approx(learned.score(by_hand), abs=1e-12)
    filled = mixture.impute(X).to_pandas()
    np.testing.assert_allclose(filled[EVERY], learned.impute(by_hand), atol=1e-10)


def test_more_rows_than_memory_holds_give_the_same(folder, by_hand, learned, monkeypatch):
    monkeypatch.setattr("halfseen.io.open_source.MAX_BYTES_IN_MEMORY", 0)
    mixture = GaussianMixture(2, random_state=0).fit(together(folder / "a.csv", folder / "b.csv"))
    order = in_order(mixture, by_hand)
    np.testing.assert_allclose(mixture.means_, learned.means_[:, order], atol=1e-9)


def test_dask_sums_tables_of_both_sorts(folder, studies, by_hand):
    frames = pytest.importorskip("dask.dataframe")
    options = {"random_state": 0, "refine": None}
    learned = GaussianMixture(2, **options).fit(by_hand)
    X = together(frames.from_pandas(studies[0], npartitions=2), folder / "b.parquet")
    assert X.dask
    mixture = GaussianMixture(2, **options).fit(X)
    order = in_order(mixture, by_hand)
    np.testing.assert_allclose(mixture.means_, learned.means_[:, order], atol=1e-9)


def test_every_engine_cuts_no_mask_of_all_rows(folder):
    source = open_files(together(folder / "a.csv", folder / "b.csv"))
    sizes = [piece.table().shape for piece in source.pieces(tuple(range(14)), 50)]
    assert max(rows for rows, _ in sizes) <= 50
    assert source.table_lengths == (N, N)
    assert [span.name for span in source.tables] == ["a.csv", "b.csv"]


def test_words_are_coded_by_what_all_tables_hold():
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=400)
    whole = pd.DataFrame(
        {
            "age": np.round(40 + 20 * group + rng.normal(size=400), 1),
            "stage": np.where(group, "late", "early"),
            "ward": np.array(["east", "west", "north"])[rng.integers(3, size=400)],
            "crp": 5.5 * group + rng.normal(size=400),
        }
    )
    whole.loc[200:, "ward"], whole.loc[:199, "crp"] = None, np.nan
    # One table has late only, the other early only, and each a column of its own.
    sorted_rows = whole.sort_values("stage", ignore_index=True)
    parts = sorted_rows.iloc[:200].drop(columns="crp"), sorted_rows.iloc[200:]
    X = together(*parts)
    classes = LatentClass(2, random_state=0).fit(X)
    stacked = pd.concat(parts, ignore_index=True)[list(classes.feature_names_in_)]
    again = LatentClass(2, random_state=0).fit(stacked)
    np.testing.assert_allclose(classes.weights_, again.weights_, atol=1e-12)
    assert classes.coding_.labels[1] == ("early", "late")
    assert classes.impute(X).column("ward").null_count == 0


@pytest.fixture(scope="module")
def counted():
    """Counts of two studies that share some of the columns."""
    rng = np.random.default_rng(1)
    group = rng.random((300, 1)) < 0.5
    counts = rng.poisson(np.where(group, [5, 1, 1, 4], [1, 5, 4, 1]))
    frame = pd.DataFrame(counts.astype(float), columns=list("abcd"))
    return frame.iloc[:150, :3], frame.iloc[150:, 1:]


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
def test_counts_of_several_tables_are_topics_of_one(counted):
    topics = GammaPoisson(2, random_state=0).fit(together(*counted))
    by_hand = GammaPoisson(2, random_state=0).fit(pd.concat(counted, ignore_index=True))
    np.testing.assert_allclose(topics.components_, by_hand.components_, atol=1e-12)


def test_rows_of_several_tables_follow_each_other(counted):
    keys = pd.DataFrame({"who": np.repeat(range(30), 10), "day": np.tile(range(10), 30)})
    visits = [pd.concat([keys.loc[part.index], part], axis=1) for part in counted]
    options = {"sequence": "who", "order": "day"}
    states = HiddenMarkov(2, random_state=0).fit(together(*visits), **options)
    by_hand = HiddenMarkov(2, random_state=0).fit(pd.concat(visits, ignore_index=True), **options)
    np.testing.assert_allclose(states.transition_, by_hand.transition_, atol=1e-10)


def test_gaps_of_several_tables_are_filled(counted):
    filled = Imputer(random_state=0).fit(together(*counted)).transform(together(*counted))
    assert filled.column_names == list("abcd")
    assert not np.isnan(filled.to_pandas().to_numpy()).any()


def test_columns_are_renamed_and_put_in_one_unit(studies, by_hand, learned):
    a, b = studies
    other = b.rename(columns={"c0": "zero", "c1": "one"}).assign(one=lambda t: 1.8 * t["one"] + 32)
    X = together(
        *(a, other),
        names=["a", "b"],
        rename={"zero": "c0", "b": {"one": "c1"}},
        units={"b": {"c1": (1 / 1.8, -32 / 1.8)}},
    )
    mixture = GaussianMixture(2, random_state=0).fit(X)
    np.testing.assert_allclose(mixture.means_, learned.means_, atol=1e-9)


def test_rows_of_new_tables_may_lack_columns(studies, by_hand, learned, tmp_path):
    mixture = GaussianMixture(2, random_state=0).fit(together(*studies))
    alone = together(studies[1])
    np.testing.assert_allclose(
        mixture.predict_proba(alone), learned.predict_proba(by_hand)[N:], atol=1e-12
    )
    fewest = together(studies[1][["c3"]])
    expected = by_hand.iloc[N:].assign(**{n: np.nan for n in EVERY if n != "c3"})
    np.testing.assert_allclose(
        mixture.predict_proba(fewest), learned.predict_proba(expected), atol=1e-12
    )
    mixture.save(tmp_path / "m.halfseen")
    again = load(tmp_path / "m.halfseen")
    assert again.tables_.names == ("table 1", "table 2")
    np.testing.assert_array_equal(again.tables_.n_rows, [N, N])
    np.testing.assert_array_equal(again.tables_.holds, mixture.tables_.holds)
    np.testing.assert_allclose(again.predict_proba(alone), mixture.predict_proba(alone))


def test_what_numbers_rows_of_each_table_is_no_measurement(studies):
    numbered = [part.assign(id=np.arange(1, N + 1)) for part in studies]
    with pytest.warns(DroppedFeatureWarning, match="'id' was ignored: it numbers the rows"):
        mixture = GaussianMixture(2, random_state=0).fit(together(*numbered))
    assert "id" not in mixture.feature_names_in_


@pytest.fixture(scope="module")
def visits(by_hand):
    """The columns of two laboratories, and who rows are of; some are of one laboratory only."""
    rng = np.random.default_rng(5)
    whole = by_hand.iloc[:N, :8].assign(patient=rng.permutation(N) + 100)
    first = whole[["patient", "c0", "c1", "c2", "c3"]].iloc[:200]
    second = (
        whole[["patient", "c3", "c4", "c5", "a0", "a1"]].iloc[60:].sample(frac=1, random_state=0)
    )
    second = second.assign(patient=second["patient"].astype(str))
    return first, second


def test_rows_of_the_same_key_are_one(visits, tmp_path):
    first, second = visits
    second.to_csv(tmp_path / "second.csv", index=False)
    X = together(first, tmp_path / "second.csv", on="patient", names=["first", "second"])
    mixture = GaussianMixture(2, random_state=0).fit(X)
    by_hand = first.assign(patient=first["patient"].astype(str)).merge(
        second, on="patient", how="outer", suffixes=("", "_")
    )
    by_hand["c3"] = by_hand["c3"].fillna(by_hand.pop("c3_"))
    again = GaussianMixture(2, random_state=0).fit(by_hand[list(mixture.feature_names_in_)])
    np.testing.assert_allclose(mixture.means_, again.means_, atol=1e-12)
    assert mixture.tables_.names == ("first + second", "first", "second")
    np.testing.assert_array_equal(mixture.tables_.n_rows, [140, 60, 60])
    holds = mixture.tables_.holds.sum(axis=1)
    np.testing.assert_array_equal(holds, [8, 4, 5])
    assert len(mixture.predict(X)) == N


def test_tables_that_contradict_each_other_are_told_of(visits):
    first, second = visits
    other = second.assign(c3=second["c3"] + 1)
    with pytest.warns(
        TablesWarning, match=r"of the same rows in 'c3' \(\d+ cells\): those of the "
    ):
        GaussianMixture(2, random_state=0).fit(together(first, other, on="patient"))


def test_keys_that_name_several_rows_are_refused(visits):
    first, second = visits
    with pytest.raises(
        DataError, match=r"'patient' has the same value in several rows of table 1 "
    ):
        GaussianMixture(1).fit(together(pd.concat([first, first[:3]]), second, on="patient"))
    with pytest.raises(DataError, match=r"'table 2' has no column 'patient', by which rows are to"):
        GaussianMixture(1).fit(together(first, second.drop(columns="patient"), on="patient"))
    with pytest.raises(DataError, match=r"Rows are joined in memory, and the tables have 400 rows"):
        GaussianMixture(1).fit(replace(together(first, second, on="patient"), memory=1e-6))
    with pytest.raises(ValueError, match=r"adjust compares rows of different people, and on joins"):
        GaussianMixture(1).fit(together(first, second, on="patient", adjust="location"))


FRAME = pd.DataFrame({"age": [1.5, 2, 4, 3], "pulse": [3.5, 1, 2, 8]})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: together(), r"needs tables to put together\. Give at least one"),
        (lambda: together(FRAME, adjust="mean"), r"must be 'location' or None\. Got 'mean'"),
        (lambda: together(FRAME, FRAME, names=["a"]), "must be 2 different names, one for each"),
        (lambda: together(FRAME, rename={"hr": 3}), "rename says that 'hr' becomes 3"),
        (lambda: together(FRAME, rename={"b": {"x": "y"}}), "'b', which is none of the tables"),
        (lambda: together(FRAME, units={"table 1": 3}), "units says 3 of 'table 1'"),
        (
            lambda: together(FRAME, units={"table 1": {"age": "years"}}),
            "units must say of 'age' by which number it is multiplied.* Got 'years'",
        ),
    ],
)
def test_calls_that_cannot_be_right_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: together(FRAME, FRAME.rename(columns={"age": "a", "pulse": "p"})),
            "table 1 and table 2 have no column in common that can be used, so that nothing ties "
            "them to each other. Rename columns that are the same",
        ),
        (lambda: together(FRAME, FRAME, rename={"hr": "x"}), "rename names 'hr', which no table"),
        (
            lambda: together(FRAME, FRAME, rename={"table 2": {"hr": "x"}}),
            "rename names 'hr', which table 2 does not have. It has 'age' and 'pulse'",
        ),
        (
            lambda: together(FRAME, FRAME, units={"table 2": {"crp": 2.0}}),
            "units names 'crp', which table 2 does not have",
        ),
        (
            lambda: together(FRAME, FRAME, rename={"age": "pulse"}),
            "Renamed, table 1 would have two columns 'pulse'",
        ),
        (
            lambda: together(FRAME, FRAME.to_numpy()),
            "A ndarray has no names of columns, and tables are put together by name",
        ),
    ],
)
def test_tables_that_cannot_be_one_are_refused(make, message):
    with pytest.raises(DataError, match=message):
        GaussianMixture(1).fit(make())
