"""Every promise on the page about faults and privacy has the test that it names."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "promises.md").read_text("utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
PROMISES = re.findall(r"^- \*\*.*?(?=^- |^#|\Z)", PAGE, flags=re.M | re.S)
WITHOUT = ("These are rules of thumb",)


@pytest.mark.parametrize(("file", "test"), NAMED, ids=lambda one: one.rpartition("/")[2])
def test_a_test_that_is_named_is_there(file, test):
    text = (ROOT / file).read_text("utf-8")
    assert f"def {test or 'test_'}" in text


@pytest.mark.parametrize("promise", PROMISES, ids=lambda text: re.sub(r"\W+", "-", text[4:40]))
def test_every_promise_names_a_test(promise):
    assert "`tests/" in promise or any(words in promise for words in WITHOUT)


def test_there_are_promises():
    assert len(PROMISES) > 10
