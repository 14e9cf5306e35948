"""Load models from files."""

import os
from typing import Any

from halfseen.estimators.serialisation import kind_of
from halfseen.models import MODELS
from halfseen.persistence.model_file import read


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted model that ``save`` wrote to ``path``.

    It predicts, transforms, scores and imputes as the model that was saved does, to the last bit.
    Loading runs no code from the file. A file that was altered, cut short or written by a later
    format raises :class:`halfseen.ModelFileError`.

    A loaded model takes the columns of a data frame by name, in whatever order they stand; a model
    that was just fitted insists on their order, as scikit-learn does. What
    ``set_output`` was told is not stored.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from halfseen import GaussianMixture, load
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = GaussianMixture().fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.halfseen")
    ...     again = load(f"{folder}/model.halfseen")
    >>> bool((again.means_ == model.means_).all())
    True
    """
    return read(path, {kind.name: kind for kind in map(kind_of, MODELS.values())})
