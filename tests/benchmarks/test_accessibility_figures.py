"""What a checker of accessibility found on pages: nothing, at any width, light or dark."""

import pytest

from benchmarks import results_file
from benchmarks.accessibility import SCHEMES, WIDTHS

PAGES = results_file.figures("accessibility")["pages"]


def test_six_pages_were_looked_at():
    assert len(PAGES) >= 6


@pytest.mark.parametrize("page", PAGES)
def test_no_rule_is_violated(page):
    assert set(PAGES[page]) == {f"{width}, {scheme}" for width in WIDTHS for scheme in SCHEMES}
    for found in PAGES[page].values():
        assert found["violations"] == 0
        assert found["rules_passed"] > 30
