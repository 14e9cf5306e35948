"""Batches that an object gives again and again are the rows of one table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from halfseen.data.engines.batched import all_columns
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.io.batches import is_batches, open_batches
from halfseen.io.validation import read_batch
from halfseen.moments.second_moment import PairSums

NAMES = ("age", "pulse", "lactate")
KINDS = {
    "arrays": lambda part: part.to_numpy(),
    "float32": lambda part: part.to_numpy().astype(np.float32),
    "pandas": lambda part: part,
    "pandas, nullable": lambda part: part.convert_dtypes(),
    "polars": lambda part: pl.DataFrame(dict(part)),
    "Arrow tables": lambda part: pa.Table.from_pandas(part, preserve_index=False),
    "Arrow batches": lambda part: pa.RecordBatch.from_pandas(part, preserve_index=False),
}


class Anew:
    """Gives the batches of a function, from the first each time."""

    def __init__(self, function):
        self.function = function

    def __iter__(self):
        return iter(self.function())


def open_rows(batches, **options):
    return all_columns(open_batches(batches, read_batch), **options)


@pytest.fixture
def quarters(frame):
    """Multiples of a quarter, which float32 holds to the digit."""
    return (frame * 4).round() / 4


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("cuts", [[], [0, 500], [1, 2, 200, 200, 499]])
@pytest.mark.parametrize("memory", [0.001, 0.05, 256])
@pytest.mark.parametrize("threads", [1, 2])
def test_sums_are_those_of_the_table_in_memory(quarters, kind, cuts, memory, threads):
    parts = np.split(np.arange(500), cuts)
    batches = Anew(lambda: (kind(quarters.iloc[part]) for part in parts))
    told = []
    rows = open_rows(batches, n_threads=threads, advance=told.append, memory=memory)
    in_memory = MemoryRows(quarters.to_numpy(), NAMES)
    for summarise in (FeatureSums.of, PairSums.about(np.ones(3))):
        expected, found = in_memory.accumulate(summarise), rows.accumulate(summarise)
        for name in ("count", "total"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    assert sum(told) == 2 * 500


def test_columns_are_selected_and_keep_their_names(frame):
    rows = open_rows([frame[:200], frame[200:]]).select(np.array([True, False, True]))
    assert rows.names == ("age", "lactate")
    found = rows.accumulate(FeatureSums.of)
    np.testing.assert_array_equal(found.count, frame[["age", "lactate"]].count())


def test_columns_without_names_have_numbers(frame):
    source = open_batches([frame.to_numpy()], read_batch)
    assert source.names == ("0", "1", "2")
    assert not source.named
    assert open_batches([frame], read_batch).named


def test_integers_and_booleans_are_numbers():
    rows = open_rows([np.array([[1, 0]], dtype=np.uint8), np.array([[True, False]])])
    np.testing.assert_array_equal(rows.accumulate(FeatureSums.of).total, [2, 0])


@pytest.mark.parametrize(
    "table",
    [
        [[1.0, 2.0], [3.0, 4.0]],
        ((1.0, 2.0), (3.0, 4.0)),
        [np.ones(2), np.ones(2)],
        [],
        np.ones((2, 2)),
        pd.DataFrame({"a": [1.0]}),
        pl.DataFrame({"a": [1.0]}),
        pa.table({"a": [1.0]}),
        sparse.eye_array(3, format="csr"),
        3.0,
        None,
    ],
    ids=str,
)
def test_a_table_is_not_taken_for_batches(table):
    assert not is_batches(table)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_lists_tuples_and_other_objects_of_tables_are_batches(kind, frame):
    assert is_batches([kind(frame)])
    assert is_batches((kind(frame),))
    assert is_batches(Anew(lambda: [kind(frame)]))


@pytest.mark.parametrize(
    ("once", "name"),
    [
        (lambda frame: (part for part in [frame, frame]), "generator"),
        (lambda frame: iter([frame]), "list_iterator"),
        (lambda frame: map(np.asarray, [frame]), "map"),
    ],
)
def test_what_gives_its_batches_only_once_is_refused(frame, once, name):
    message = rf"A {name} gives its batches only once\. .* give a list of them, or an object whose"
    with pytest.raises(DataError, match=message):
        open_rows(once(frame))


def test_an_object_that_does_not_start_anew_is_noticed(frame):
    parts = [frame[:100], frame[100:300], frame[300:]]
    stream = iter(parts)
    rows = open_rows(Anew(lambda: stream))
    rows.accumulate(FeatureSums.of)
    with pytest.raises(DataError, match=r"held 400 rows when .* first .*, and 0 later\. A fit"):
        rows.accumulate(FeatureSums.of)


def test_passes_over_selected_columns_are_held_to_the_first_pass(frame):
    batches = [frame[:100], frame[100:]]
    rows = open_rows(batches)
    rows.accumulate(FeatureSums.of)
    batches.append(frame[:1])
    with pytest.raises(DataError, match="held 500 rows when they were first gone through, and 501"):
        rows.select(np.array([True, False, True])).accumulate(FeatureSums.of)


def test_no_batches_at_all_are_refused():
    with pytest.raises(DataError, match=r"The Anew holds no batches\. Give at least one"):
        open_rows(Anew(list))


def test_another_number_of_columns_is_named_with_the_batch(frame):
    X = frame.to_numpy()
    rows = open_rows([X, X, X[:, :2]])
    with pytest.raises(DataError, match="Batch 2 has 2 columns, but batch 0 has 3"):
        rows.accumulate(FeatureSums.of)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda f: f.rename(columns={"pulse": "bmi"}), "'bmi' as column 1, but batch 0 has 'pulse"),
        (lambda f: f[["age", "lactate", "pulse"]], "'lactate' as column 1, but batch 0 has 'puls"),
        (lambda f: f.to_numpy(), "no names of columns, but batch 0 has 'age' as column 0"),
    ],
    ids=["renamed", "reordered", "unnamed"],
)
def test_other_names_are_shown_with_the_batch(frame, other, message):
    rows = open_rows([frame, other(frame)])
    with pytest.raises(DataError, match=f"Batch 1 has {message}"):
        rows.accumulate(FeatureSums.of)
    with pytest.raises(DataError, match="Batch 1 has"):
        open_rows([other(frame), frame]).accumulate(FeatureSums.of)


def test_batches_that_are_no_tables_are_named(frame):
    with pytest.raises(DataError, match="Batch 0 is a str, not some rows of a table"):
        open_rows({"age": [1.0]})
    rows = open_rows([frame, np.ones(3)])
    with pytest.raises(DataError, match="Batch 1 is a ndarray, not some rows of a table"):
        rows.accumulate(FeatureSums.of)


def test_batches_of_text_are_named(frame):
    rows = open_rows([frame, frame.assign(pulse="fast")])
    with pytest.raises(DataError, match="Batch 1 cannot be read: 'pulse' cannot be read as number"):
        rows.accumulate(FeatureSums.of)


def test_batches_of_no_rows_are_neutral(frame):
    assert open_rows([frame[:0], frame, frame[:0]]).accumulate(FeatureSums.of).n_rows > 0
    empty = open_rows([frame[:0]]).accumulate(FeatureSums.of)
    assert empty.n_rows == 0
