"""Features as words of a sentence."""

import pytest

from halfseen.data.formatting import features, quoted

NAMES = ["age", "bmi", "crp", "dose", "egfr", "flow", "grip"]


@pytest.mark.parametrize(
    ("indices", "words"),
    [
        ([2], "'crp'"),
        ([1, 0], "'bmi' and 'age'"),
        ([0, 1, 2], "'age', 'bmi' and 'crp'"),
        (range(5), "'age', 'bmi', 'crp', 'dose' and 'egfr'"),
        (range(6), "'age', 'bmi', 'crp', 'dose', 'egfr' and 1 more"),
        (range(7), "'age', 'bmi', 'crp', 'dose', 'egfr' and 2 more"),
    ],
)
def test_names_are_quoted_in_order_and_a_long_list_is_cut(indices, words):
    assert quoted(NAMES, indices) == words


def test_how_many_are_named_may_be_chosen():
    assert quoted(NAMES, range(7), most=1) == "'age' and 6 more"


@pytest.mark.parametrize(
    ("indices", "words"),
    [([1], "Feature 'bmi'"), ([1, 3], "Features 'bmi' and 'dose'"), (iter([0]), "Feature 'age'")],
)
def test_the_subject_of_a_sentence_agrees_in_number(indices, words):
    assert features(NAMES, indices) == words
