"""Identifiers are left aside with the reason; measurements never are."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import DroppedFeatureWarning, Files, GaussianMixture
from halfseen.data.errors import IdentifierWarning
from halfseen.io.cells.cardinality import MAX_HASHES, DistinctCount
from halfseen.io.open_source import open_source

RNG = np.random.default_rng(0)
N = 400
DATA = Path(os.environ.get("HALFSEEN_DATA", Path(__file__).parents[3] / "shared" / "data"))
NEARLY = "it has the name of an identifier, and nearly all of its values are different"
SEVERAL = "it has the name of an identifier, of several rows each"
CLOSE = "its values are all different and close together, as numbers of rows are"
FAR = RNG.choice(10**9, N, replace=False)


def opened(tmp_path, name, values):
    frame = pd.DataFrame({name: values, "pulse": RNG.normal(80, 9, len(values)).round(2)})
    frame.to_csv(tmp_path / "it.csv", index=False)
    frame.to_parquet(tmp_path / "it.parquet")
    sources = [open_source(Files(tmp_path / f"it.{kind}")) for kind in ("csv", "parquet")]
    assert sources[0].columns == sources[1].columns
    return sources[0]


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("patient_id", FAR, NEARLY),
        ("RecordID", np.sort(FAR), NEARLY),
        ("PID", FAR, NEARLY),
        ("Unnamed: 0", FAR, NEARLY),
        ("rownames", FAR, NEARLY),
        ("subject.id", np.where(np.arange(N) < 8, FAR[0], FAR), NEARLY),
        ("id", np.repeat(FAR[:100], 4), SEVERAL),
        ("stayId", np.repeat(FAR[:50], 8), SEVERAL),
        ("order", RNG.permutation(N) + 1, CLOSE),
        ("number", RNG.choice(2 * N, N, replace=False) + 5000, CLOSE),
        ("place", np.where(RNG.random(N) < 0.1, np.nan, RNG.permutation(N)), CLOSE),
        ("row", np.arange(N), "it numbers the rows"),
    ],
)
def test_identifiers_are_left_aside_with_the_reason(tmp_path, name, values, reason):
    source = opened(tmp_path, name, values)
    assert source.names == ("pulse",)
    assert source.columns[0].kind == "identifier"
    assert source.columns[0].sentence == f"Column '{name}' was ignored: {reason}."


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("SalePrice", FAR),  # all different, but far apart
        ("platelets", RNG.choice(10 * N, N, replace=False)),
        ("age", RNG.integers(18, 95, N)),
        ("covid", FAR),
        ("acid", RNG.normal(size=N)),
        ("patient_id", RNG.normal(size=N)),  # fractions are never identifiers
        ("ward_id", RNG.integers(6, size=N)),  # a few kinds of things
        ("year", np.arange(1600, 1600 + N)),  # one row a year
        ("index", RNG.integers(1000, 1300, N)),
        ("items", RNG.integers(0, N, N)),
    ],
)
def test_measurements_are_no_identifiers(tmp_path, name, values):
    assert opened(tmp_path, name, values).names == (name, "pulse")


def test_a_few_rows_may_be_all_different_by_chance(tmp_path):
    assert opened(tmp_path, "children", [4, 2, 5, 3, 7, 1]).names == ("children", "pulse")


def test_an_identifier_is_used_if_asked_for(tmp_path):
    opened(tmp_path, "id", FAR)
    assert open_source(Files(tmp_path / "it.csv", columns=["id", "pulse"])).names == ("id", "pulse")


def test_a_fit_by_path_says_what_was_left_aside(tmp_path):
    table = pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("abc")).assign(id=FAR)
    table.to_csv(tmp_path / "it.csv", index=False)
    with pytest.warns(DroppedFeatureWarning, match=f"Column 'id' was ignored: {NEARLY}"):
        model = GaussianMixture(1).fit(tmp_path / "it.csv")
    assert list(model.feature_names_in_) == ["a", "b", "c"]


def test_a_frame_with_an_identifier_is_used_as_it_is_with_a_warning():
    table = pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("abc")).assign(patient_id=FAR)
    said = (
        r"'patient_id' looks like what tells rows apart and measures nothing, by name and values. "
        r"Leave out \['patient_id'\]."
    )
    with pytest.warns(IdentifierWarning, match=said):
        model = GaussianMixture(1, covariance_type="diag").fit(table)
    assert model.n_features_in_ == 4
    GaussianMixture(1).fit(table.drop(columns="patient_id"))


def test_unnamed_columns_of_arrays_are_never_touched(tmp_path):
    np.save(tmp_path / "it.npy", np.column_stack([RNG.permutation(N), RNG.normal(size=N)]))
    assert open_source(Files(tmp_path / "it.npy")).names == ("0", "1")


values_of_columns = st.lists(
    st.sampled_from([0.0, -0.0, 1.0, 2.0, 7.0, 1e6, np.nan]) | st.integers(-50, 50).map(float),
    max_size=30,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(values_of_columns, st.integers(0, 30))
def test_rows_add_in_any_order_and_few_values_are_counted_exactly(values, cut):
    table = np.array(values, dtype=float)
    whole = DistinctCount.of(table)
    assert DistinctCount.of(table[:cut]) + DistinctCount.of(table[cut:]) == whole
    assert DistinctCount.of(table[cut:]) + DistinctCount.of(table[:cut]) == whole
    assert DistinctCount() + whole == whole + DistinctCount() == whole
    assert whole.different == len(set(table[~np.isnan(table)]))


@pytest.mark.parametrize("n_different", [300, 5000, 200_000])
@pytest.mark.parametrize("times", [1, 3])
def test_many_values_are_counted_within_a_few_percent(n_different, times):
    rng = np.random.default_rng(n_different)
    values = rng.permutation(np.tile(rng.choice(10**7, n_different, replace=False), times))
    parts = np.array_split(values.astype(float), 7)
    found = sum((DistinctCount.of(part) for part in parts), start=DistinctCount())
    error = 0.0 if n_different < MAX_HASHES else 0.1
    assert found.different == pytest.approx(n_different, rel=error)
    assert found.nearly_all_different == (times == 1)


LEFT_ASIDE = {
    "penguins": {"rownames"},
    "ames": {"Id", "PID"},
    "icu": {"RecordID"},
    "icu_seq": {"RecordID"},
    "support2": {"Index"},
    "pbc": {"rownames", "id"},
    "pbcseq": {"rownames", "id"},
    "mammo": set(),
    "bfi": {"rownames"},
    "titanic": {"rownames"},
    "election": set(),
}


@pytest.mark.parametrize("table", LEFT_ASIDE)
def test_identifiers_of_real_tables_are_known_and_nothing_else_is_taken_for_one(table):
    path = DATA / "tables" / f"{table}.csv"
    if not path.exists():
        pytest.skip(f"needs {path.name} in HALFSEEN_DATA")
    columns = open_source(Files(path)).columns
    assert {c.name for c in columns if c.kind == "identifier"} == LEFT_ASIDE[table]


def test_question_marks_and_dots_are_gaps(tmp_path):
    (tmp_path / "it.csv").write_text("a,b\n1.5,?\n?,2.5\n.,3.5\n2.5,1.5\n")
    source = open_source(Files(tmp_path / "it.csv"))
    assert source.names == ("a", "b")
    (piece,) = source.pieces((0, 1), 10)
    np.testing.assert_array_equal(
        piece.table(), [[1.5, np.nan], [np.nan, 2.5], [np.nan, 3.5], [2.5, 1.5]]
    )
