"""Docstrings that say once what all estimators share."""

from halfseen.estimators.docstrings import complete, entries

SHARED = """All.

    Parameters
    ----------
    first : int, default=1
        Of all.
    last : int, default=2
        Of all,
        in two lines.

    Attributes
    ----------
    learned_ : int
        By all.
    """


class Own:
    """One of them.

    Parameters
    ----------
    own : float, default=0.5
        Of this one.
    last : int, default=2
        Said otherwise.

    Attributes
    ----------
    found_ : float
        By this one.

    Examples
    --------
    >>> 1 + 1
    2
    """

    def __init__(self, first=1, own=0.5, last=2):
        pass


class Silent:
    def __init__(self, last=2):
        pass


def test_parameters_stand_in_the_order_of_the_signature_and_ones_own_words_win():
    found = entries(complete(Own, SHARED), "Parameters")
    assert list(found) == ["first", "own", "last"]
    assert found["last"].endswith("Said otherwise.\n")


def test_attributes_of_ones_own_stand_first():
    assert list(entries(complete(Own, SHARED), "Attributes")) == ["found_", "learned_"]


def test_what_else_is_said_stays_where_it_was():
    text = complete(Own, SHARED)
    assert text.startswith("One of them.\n")
    assert text.index("learned_") < text.index("    Examples\n    --------\n    >>> 1 + 1\n    2")
    assert text.count("Parameters\n") == text.count("Attributes\n") == 1


def test_a_class_that_says_nothing_has_what_it_takes_listed():
    found = complete(Silent, SHARED)
    assert list(entries(found, "Parameters")) == ["last"]
    assert entries(found, "Parameters")["last"].endswith("in two lines.\n")


def test_a_docstring_without_sections_has_no_entries():
    assert entries("Nothing here.", "Parameters") == {}
