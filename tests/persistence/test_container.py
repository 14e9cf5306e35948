"""The bytes of a model file: what is written is read, and nothing else is."""

import json
import tracemalloc

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from halfseen import ModelFileError
from halfseen.persistence.container import DTYPES, _digest, _start, check_start, pack, unpack

some_arrays = st.sampled_from(DTYPES).flatmap(
    lambda dtype: arrays(dtype, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)


@given(
    metadata=st.dictionaries(st.text(min_size=1).map(lambda text: "of " + text), st.text()),
    contents=st.dictionaries(st.text().map(lambda text: "the " + text), some_arrays, max_size=5),
)
def test_what_is_packed_is_unpacked_with_types_shapes_and_bits(metadata, contents):
    texts, found = unpack(pack(metadata, contents), "it")
    assert texts == metadata
    assert found.keys() == contents.keys()
    for name, array in contents.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()
        assert found[name].flags.writeable
        assert found[name].flags.aligned


@given(contents=st.dictionaries(st.from_regex(r"[a-z.]{1,8}", fullmatch=True), some_arrays))
def test_the_safetensors_package_reads_the_same(contents):
    found = safetensors.numpy.load(pack({"estimator": "é"}, contents))
    assert found.keys() == contents.keys()
    for name, array in contents.items():
        assert found[name].dtype == array.dtype
        assert found[name].tobytes() == array.tobytes()


def test_the_safetensors_package_reads_the_metadata(tmp_path):
    path = tmp_path / "it.halfseen"
    path.write_bytes(pack({"estimator": "é"}, {"x": np.arange(3.0)}))
    with safetensors.safe_open(path, framework="numpy") as file:
        assert file.metadata()["estimator"] == "é"


def test_equal_contents_give_equal_bytes_whatever_the_order_of_the_arrays():
    metadata = {name: name for name in "zyxwvutsrq"}
    contents = {name: np.arange(i + 1.0) for i, name in enumerate("dbca")} | {"e": np.ones(3, bool)}
    turned = dict(reversed(contents.items()))
    assert len({pack(metadata, arrays) for arrays in [contents, turned] * 5}) == 1


def test_the_format_and_the_checksum_stand_at_their_places_before_all_else():
    data = pack({"a": "another", "z": "last"}, {"a": np.ones(2)})
    assert data[8:].startswith(b'{"__metadata__":{"format":"halfseen model 1","checksum":"')
    assert data[129:].startswith(b'","a":"another","z":"last"},"a":{"dtype"')


def test_every_array_is_aligned_in_the_file():
    data = pack({}, {"flags": np.ones(3, bool), "whole": np.ones(3, np.int32), "x": np.ones(3)})
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert length % 8 == 0
    assert header["x"]["data_offsets"][0] % 8 == 0
    assert header["whole"]["data_offsets"][0] % 4 == 0


def test_arrays_of_other_byte_orders_and_layouts_keep_their_values():
    wanted = np.arange(6.0).reshape(2, 3)
    data = pack({}, {"swapped": wanted.astype(">f8"), "turned": np.asfortranarray(wanted)})
    _, found = unpack(data, "it")
    np.testing.assert_array_equal(found["swapped"], wanted)
    np.testing.assert_array_equal(found["turned"], wanted)
    assert found["swapped"].dtype == np.float64


def forged(header, body=b"", start='{"__metadata__":{"format":"halfseen model 1","checksum":"'):
    """A file with any header after its start, and the right checksum all the same."""
    text = (start + "0" * 64 + '"' + header).encode()
    data = bytearray(len(text).to_bytes(8, "little") + text + body)
    where = _start(data, "")[1]
    data[where] = _digest(data, where)
    return bytes(data)


def entry(dtype="F64", shape="[1]", offsets="[0,8]"):
    return f'}},"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}'


def test_a_forged_file_that_is_well_laid_out_is_read():
    _, found = unpack(forged(entry(), np.float64(2.5).tobytes()), "it")
    assert found["x"] == [2.5]


NOT_LAID_OUT = {
    "no end": ("", b""),
    "text after": ("}} and more", b""),
    "twice metadata": ('},"__metadata__":{}}', b""),
    "twice an array": (entry()[:-1] + entry()[1:], b"\0" * 8),
    "twice in an array": (entry().replace('"shape"', '"dtype":"F32","shape"'), b"\0" * 8),
    "number as metadata": (',"estimator":3}}', b""),
    "NaN": (',"estimator":NaN}}', b""),
    "infinity": (entry(shape="[Infinity]"), b"\0" * 8),
    "deep": ('},"x":' + "[" * 100_000 + "]" * 100_000 + "}", b""),
    "huge integer": (entry(shape="[" + "9" * 5000 + "]"), b"\0" * 8),
    "huge shape": (entry(shape="[4611686018427387904]"), b"\0" * 8),
    "overflowing shape": (entry(shape="[4294967296,4294967296,4294967296]"), b"\0" * 8),
    "empty and huge": (entry(shape="[0,99999999999999999999]", offsets="[0,0]"), b""),
    "many dimensions": (entry(shape=str([1] * 100)), b"\0" * 8),
    "negative shape": (entry(shape="[-1]"), b"\0" * 8),
    "shape of fractions": (entry(shape="[1.0]"), b"\0" * 8),
    "shape of booleans": (entry(shape="[true]"), b"\0" * 8),
    "shape of text": (entry(shape='"1"'), b"\0" * 8),
    "no shape": ('},"x":{"dtype":"F64","data_offsets":[0,8]}}', b"\0" * 8),
    "more than a shape": (entry().replace('"shape"', '"code":"x","shape"'), b"\0" * 8),
    "a list for an array": ('},"x":[1,2]}', b""),
    "unknown type": (entry(dtype="F16"), b"\0" * 8),
    "type that models do not use": (entry(dtype="F16", offsets="[0,2]"), b"\0" * 2),
    "type that NumPy has not": (entry(dtype="BF16", offsets="[0,2]"), b"\0" * 2),
    "pickle type": (entry(dtype="O"), b"\0" * 8),
    "type of another width": (entry(dtype="F32"), b"\0" * 8),
    "beyond the end": (entry(offsets="[8,16]"), b"\0" * 8),
    "backwards": (entry(offsets="[8,0]"), b"\0" * 8),
    "negative": (entry(offsets="[-8,0]"), b"\0" * 8),
    "one offset": (entry(offsets="[8]"), b"\0" * 8),
    "a gap": (entry(offsets="[8,16]"), b"\0" * 16),
    "something after": (entry(), b"\0" * 9),
    "nothing there": (entry(), b""),
    "overlap": (entry()[:-1] + entry().replace('"x"', '"y"')[1:], b"\0" * 8),
    "half true": (entry(dtype="BOOL", offsets="[0,1]"), b"\2"),
}


@pytest.mark.parametrize(("header", "body"), NOT_LAID_OUT.values(), ids=NOT_LAID_OUT)
def test_a_layout_that_is_wrong_is_refused_even_with_the_right_checksum(header, body):
    with pytest.raises(ModelFileError, match=r"^it is not laid out as a model file: .*Save the"):
        unpack(forged(header, body), "it")


@pytest.mark.parametrize("shape", ["[131072]", "[99999999999]"])
def test_arrays_that_claim_the_same_bytes_many_times_take_no_memory(shape):
    many = ",".join(
        f'"{i}":{{"dtype":"F64","shape":{shape},"data_offsets":[0,1048576]}}' for i in range(2000)
    )
    data = forged("}," + many + "}", b"\0" * 1048576)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="do not lie one after the other"):
        unpack(data, "it")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * len(data)


def test_a_header_that_is_no_text_is_refused():
    data = bytearray(forged('"}}      '))
    data[-3] = 0xFF
    where = _start(data, "")[1]
    data[where] = _digest(data, where)
    with pytest.raises(ModelFileError, match="not laid out"):
        unpack(bytes(data), "it")


def test_a_later_format_is_refused_by_its_number():
    data = pack({}, {}).replace(b"halfseen model 1", b"halfseen model 2")
    with pytest.raises(ModelFileError, match=r"^it has format 2, .* up to 1\. Upgrade halfseen"):
        unpack(data, "it")


@pytest.mark.parametrize("data", [b"", b"\0" * 8, b"PK\3\4" * 50, b"\x80\4\x95" * 50])
def test_other_files_are_not_taken_for_models(data):
    with pytest.raises(ModelFileError, match=r"^it is not a model saved by halfseen"):
        unpack(data, "it")


def test_a_header_longer_than_the_file_is_refused_from_the_start_alone():
    data = bytearray(pack({}, {"x": np.ones(5)}))
    data[:8] = (2**63).to_bytes(8, "little")
    with pytest.raises(ModelFileError, match=r"^it is cut short: its header should take 9,223,37"):
        check_start(bytes(data), len(data), "it")


def test_a_changed_byte_is_refused_with_what_to_do():
    data = bytearray(pack({}, {"x": np.ones(5)}))
    data[-1] ^= 1
    with pytest.raises(ModelFileError, match=r"^it was altered, damaged or cut short: .*Copy it"):
        unpack(bytes(data), "it")
