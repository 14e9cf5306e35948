"""Measuring what weak moments give is the point: their warnings are not."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning

from halfseen.data.errors import DroppedFeatureWarning, WeakMomentsWarning


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings about what a figure is made to show."""
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, DroppedFeatureWarning, WeakMomentsWarning):
            warnings.simplefilter("ignore", category)
        yield
