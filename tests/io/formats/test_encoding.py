"""Text in other encodings than UTF-8 is read, and said to be."""

import gzip
import io

import numpy as np
import pytest

from halfseen import DroppedFeatureWarning, Files, GaussianMixture
from halfseen.io.formats.csv_dialect import CHUNK, detect_encoding
from halfseen.io.open_source import open_source

VALUES = np.random.default_rng(0).normal(size=(90, 2)) + (np.arange(90) % 2 * 5)[:, None]
HEAD = "größe,µg,Straße"
TEXT = HEAD + "\n" + "".join(f"{a},{b},Köln\n" for a, b in VALUES)
ENCODINGS = {
    "latin-1": "Windows-1252",
    "cp1252": "Windows-1252",
    "utf-16": "UTF-16",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_table_in_another_encoding_is_read_and_told_of(encoding, ending, tmp_path):
    path, content = tmp_path / f"t{ending}", TEXT.encode(encoding)
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    source = open_source(Files(path))
    assert source.all_names == tuple(HEAD.split(","))
    np.testing.assert_array_equal(next(source.pieces((0, 1), 500)).table(), VALUES)
    assert next(source.batches(["Straße"], 5)).column(0)[0].as_py() == "Köln"
    told = f"is not UTF-8 and was read as {ENCODINGS[encoding]}.* save the file as UTF-8"
    with (
        pytest.warns(UnicodeWarning, match=told),
        pytest.warns(DroppedFeatureWarning, match="Straße"),
    ):
        GaussianMixture(1, method="full").fit(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_nothing_is_said_of_what_is_as_it_should_be(encoding, tmp_path):
    (tmp_path / "t.csv").write_bytes(TEXT.encode(encoding))
    source = open_source(Files(tmp_path / "t.csv"))
    assert source.notes == []
    assert source.all_names == tuple(HEAD.split(","))


@pytest.mark.parametrize("place", [0, 1, CHUNK - 1, CHUNK, 2 * CHUNK - 1])
def test_a_sign_at_any_place_decides(place):
    before = b"1" * place
    assert detect_encoding(io.BytesIO(before + "ö".encode() + b"1" * CHUNK)) == "utf-8"
    assert detect_encoding(io.BytesIO(before + b"\xf6" + b"1" * CHUNK)) == "cp1252"
    assert detect_encoding(io.BytesIO(before + b"\xf6" + b"1" * CHUNK + b"\x81")) == "latin-1"
    assert detect_encoding(io.BytesIO(before + b"\xf6")) == "cp1252"
