"""``halfseen describe`` of sparse counts, as their owner reads it."""

import numpy as np
from scipy.io import mmwrite
from scipy.sparse import csr_array
from typer.testing import CliRunner

from halfseen.cli.app import app


def test_counts_are_described_by_what_is_counted_most_and_led_to_topics(tmp_path):
    counts = np.random.default_rng(0).poisson(np.linspace(0.05, 2.0, 30), (300, 30))
    mmwrite(tmp_path / "words.mtx", csr_array(counts))
    words = [f"word{i}" for i in range(30)]
    (tmp_path / "words_terms.txt").write_text("\n".join(words))
    told = CliRunner().invoke(app, ["describe", str(tmp_path / "words.mtx")]).output
    assert "Its 30 columns are named by words_terms.txt, beside it." in told
    table = told.partition("Columns that hold most")[2].splitlines()
    most = words[int(counts.sum(axis=0).argmax())]
    assert table[2].split() == [most, str(counts.sum(axis=0).max())]
    assert "... and 10 columns that hold less." in told
    assert "If they count things, use --model gamma-poisson" in told
