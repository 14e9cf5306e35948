"""What callers may catch."""

import pytest

from halfseen.rows.errors import DataError, DroppedFeatureWarning, WeakMomentsWarning


def test_a_data_error_is_a_value_error():
    with pytest.raises(ValueError, match="no rows"):
        raise DataError("no rows")


@pytest.mark.parametrize("warning", [WeakMomentsWarning, DroppedFeatureWarning])
def test_warnings_are_for_users_and_apart_from_errors(warning):
    assert issubclass(warning, UserWarning)
    assert not issubclass(warning, DataError)
