"""The committed page is what the committed results say."""

from pathlib import Path

import pytest

from benchmarks.reproduce import page
from benchmarks.reproduce.figures import FIGURES
from benchmarks.reproduce.store import FOLDER

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def kept():
    return page.gather(DOCS)


def test_every_figure_was_measured_and_drawn(kept):
    assert set(kept) == set(FIGURES)
    for results in kept.values():
        assert results.missing(results.runs) == []
        assert (DOCS / FOLDER / f"{results.figure.name}.png").exists()


def test_the_page_is_what_the_results_say(kept):
    assert (DOCS / page.NAME).read_text(encoding="utf-8") == page.page(kept)


def test_all_of_it_is_small():
    files = list((DOCS / FOLDER).iterdir())
    assert sum(file.stat().st_size for file in files) < 1_500_000
    assert all(file.stat().st_size < 100_000 for file in files if file.suffix == ".png")
