"""Messages are strings that remember what they name."""

import copy
import pickle
import warnings

import pytest

from halfseen.data.errors import DataError, WeakMomentsWarning, warn
from halfseen.data.messages import Message, joined, leave_out, message_of, parameter, setting

SENTENCE = "Lower " + parameter("complete_above") + ", or use " + setting(method="weighted") + "."
PYTHON = "Lower complete_above, or use method='weighted'."
SHOWN = "Lower <complete_above>, or use <method>."


def shown(message):
    return message.render(lambda part: f"<{part.name}>")


def test_a_message_is_its_text_in_python():
    assert SENTENCE == PYTHON
    assert f"{SENTENCE}" == PYTHON
    assert shown(SENTENCE) == SHOWN


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_message_stays_one_when_it_is_copied_or_sent_to_another_process(again):
    found = again(SENTENCE)
    assert (found, shown(found)) == (PYTHON, SHOWN)


def test_an_error_carries_its_message():
    error = pickle.loads(pickle.dumps(DataError(SENTENCE)))
    assert str(error) == PYTHON
    assert shown(message_of(error)) == SHOWN


def test_a_warning_carries_its_message():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warn(SENTENCE, WeakMomentsWarning)
    assert str(heard[0].message) == PYTHON
    assert shown(message_of(heard[0].message)) == SHOWN


@pytest.mark.parametrize("error", [DataError("plain"), OSError(2, "No such file", "x"), KeyError()])
def test_other_errors_say_what_they_say(error):
    assert message_of(error) == str(error)


def test_messages_are_joined_with_their_parts():
    found = joined(" ", ["One.", SENTENCE, leave_out(["a"])])
    assert found == f"One. {PYTHON} leave out ['a']"
    assert shown(found) == f"One. {SHOWN} <leave out>"


def test_nothing_joined_is_an_empty_message():
    assert isinstance(joined("; ", []), Message)
    assert joined("; ", []) == ""


def test_braces_and_percent_signs_of_names_stay_as_they_are():
    assert shown(leave_out(["{x}", "%s"]) + " {0} %d") == "<leave out> {0} %d"
