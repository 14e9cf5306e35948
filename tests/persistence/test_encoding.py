"""Values of the kinds that models hold survive as JSON and arrays; others are refused."""

import json
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen.persistence.encoding import Store, Unstorable, decode, encode


@dataclass(frozen=True)
class Point:
    x: object
    y: float = 7.0
    tags: dict[str, int] = field(default_factory=lambda: {"none": 0})


class Pair(NamedTuple):
    left: object
    right: object = 3


RECORDS = {"Point": Point, "Pair": Pair}

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(), inner)
        | st.dictionaries(st.integers(), inner)
        | st.lists(inner).map(tuple)
        | st.builds(Point, x=inner)
        | st.builds(Pair, left=inner, right=inner)
    ),
    max_leaves=10,
)


def through_json(value, records=RECORDS):
    store = Store(records)
    text = json.dumps(encode(value, "it", store), allow_nan=False)
    return decode(json.loads(text), store.arrays, records)


@given(plain)
def test_what_is_encoded_is_decoded_with_the_same_types(value):
    again = through_json(value)
    assert again == value
    assert repr(again) == repr(value)  # 1 is not 1.0, nor True, nor is 0.0 -0.0


def test_nan_survives():
    assert np.isnan(through_json({"a": [float("nan")]})["a"][0])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.float64(0.1), 0.1),
        (np.float32(0.1), float(np.float32(0.1))),
        (np.str_("a"), "a"),
    ],
    ids=repr,
)
def test_numbers_of_numpy_become_those_of_python(value, expected):
    again = through_json(value)
    assert again == expected
    assert type(again) is type(expected)


def test_arrays_keep_type_shape_and_bits_wherever_they_are():
    array = np.array([[np.nan, -0.0, 1e-320]])
    again = through_json({"a.b": array, "a": {"b": array + 1}, "c": [array.astype(np.float32)]})
    assert again["a.b"].tobytes() == array.tobytes()
    assert again["a"]["b"].tobytes() == (array + 1).tobytes()
    assert again["c"][0].dtype == np.float32


def test_a_field_that_an_older_file_lacks_has_its_default_or_none():
    @dataclass(frozen=True)
    class Later:
        x: object
        new: object
        y: float = 7.0
        also_new: str = "as before"
        listed: list[int] = field(default_factory=list)

    store = Store({"Point": Point})
    content = encode(Point(np.ones(2), 8.0), "it", store)
    again = decode(content, store.arrays, {"Point": Later})
    assert (again.new, again.y, again.also_new, again.listed) == (None, 8.0, "as before", [])
    np.testing.assert_array_equal(again.x, np.ones(2))


def test_a_field_that_a_later_file_adds_is_left_out():
    @dataclass(frozen=True)
    class Earlier:
        x: object

    content = encode(Point(1.5), "it", Store({"Point": Point}))
    assert decode(content, {}, {"Point": Earlier}) == Earlier(1.5)


@pytest.mark.parametrize("has_gauss", [False, True])
def test_a_random_state_goes_on_where_it_was(has_gauss):
    random = np.random.RandomState(5)
    random.random_sample(700)
    if has_gauss:
        random.standard_normal()
    again = through_json(random)
    np.testing.assert_array_equal(again.standard_normal(1500), random.standard_normal(1500))


@pytest.mark.parametrize(
    "change", [{"pos": 625}, {"pos": -1}, {"pos": "x"}, {"key": 3}, {"key": {"array": "short"}}]
)
def test_a_random_state_that_reads_beyond_its_end_is_refused(change):
    store = Store({})
    content = encode(np.random.RandomState(0), "it", store)
    content["random_state"].update(change)
    with pytest.raises((ValueError, AttributeError)):
        decode(content, store.arrays | {"short": np.ones(3, np.uint32)}, {})


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (print, "a value of type builtin_function_or_method"),
        ({1: 2, "b": 3}, "a dictionary with keys that are not text"),
        ({True: 2}, "a dictionary with keys that are not text"),
        (np.array([{}]), "an array of type object"),
        (np.array(["a"]), "an array of type <U1"),
        (np.array([1j]), "an array of type complex128"),
        (Point(1.0), "a record of type Point"),
        (Point, "a value of type type"),
        (np.random.RandomState(np.random.PCG64(0)), "a RandomState of PCG64"),
        (np.random.default_rng(0), "a value of type Generator"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_has_no_place_in_a_file_is_refused_by_its_type(value, named):
    with pytest.raises(Unstorable, match=named):
        encode([value], "it", Store({}))


@pytest.mark.parametrize(
    "content",
    [
        {"a": 1, "b": 2},
        {},
        {"code": "print()"},
        {"array": "nowhere"},
        {"array": ["unhashable"]},
        {"float": "1e999"},
        {"tuple": 3},
        {"dict": [1]},
        {"numbered": [1]},
        {"numbered": {"one": 1}},
        {"record": {"type": "Popen", "fields": {}}},
        {"record": {}},
        {"random_state": {}},
        {"random_state": 3},
    ],
    ids=str,
)
def test_content_that_encode_never_writes_is_refused(content):
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        decode([content], {}, RECORDS)
