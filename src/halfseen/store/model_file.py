"""What of a fitted estimator is stored in its file, and how it is put together again.

The metadata of the file are texts: ``estimator`` and ``library_version`` plain, and ``parameters``,
``features`` and ``learned`` as JSON whose arrays are in the file under the same names. A section of
another name comes from a later version that could not do without it, and is refused.
"""

import json
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfseen.doubt.choice import Choice, HeldOut
from halfseen.doubt.rank_test import RankTest
from halfseen.method.diagnostics import Diagnostics
from halfseen.rows.errors import ModelFileError
from halfseen.rows.naming import quoted
from halfseen.store.atomic import write_whole
from halfseen.store.container import (
    INTERPRETING,
    Values,
    check_start,
    first_line,
    pack,
    strict_json,
    unpack,
)
from halfseen.store.values import Store, Unstorable, decode, encode
from halfseen.tables.preprocessing import Preprocessing

RECORDS: dict[str, type] = {
    kind.__name__: kind for kind in (Choice, Diagnostics, HeldOut, Preprocessing, RankTest)
}
"""Types of values with named fields. Fields added to them later need no change here."""

Forms = Mapping[str, tuple[str, ...]]
_SHARED: Forms = {
    "feature_weights_": ("float64[d]",),
    "observed_fraction_": ("float64[d]",),
    "complete_features_": ("bool[d]",),
    "kept_features_": ("bool[d]",),
    "n_components_": ("int",),
    "diagnostics_": ("Diagnostics",),
    "preprocessing_": ("Preprocessing", "NoneType"),
}
LEARNED: dict[str, Forms] = {
    "GaussianMixture": {
        **_SHARED,
        "weights_": ("float64[k]",),
        "means_": ("float64[k,d]",),
        "covariances_": ("float", "float64[k]", "float64[k,d]"),
        "n_iter_": ("int",),
        "converged_": ("bool",),
        "lower_bound_": ("float", "NoneType"),
    },
    "GammaPoisson": {
        **_SHARED,
        "components_": ("float64[k,d]",),
        "shapes_": ("float64[k]",),
        "rate_": ("float",),
        "constants_": ("float64[d]",),
        "n_iter_": ("int",),
    },
}
"""The learned attributes of each estimator, and the forms they may have: k components, d features.

To store another estimator, add it here and to the table of classes in ``loading``.
"""

LATER: dict[str, Any] = {"preprocessing_": None}
"""What attributes are that older files do not have, because they came later."""

_SECTIONS = {"estimator", "library_version", "parameters", "features", "learned"}


def save(estimator: Any, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Write a fitted estimator to one file, after seeing that it can be read again."""
    data = dumps(estimator)
    loads(data, os.fspath(path), {type(estimator).__name__: type(estimator)})
    write_whole(path, data, overwrite=overwrite)


def read(path: str | os.PathLike[str], classes: Mapping[str, Any]) -> Any:
    """The estimator in a file; the file is refused from its first bytes if they are not ours."""
    name = os.fspath(path)
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        check_start(file.read(256), size, name)
        file.seek(0)
        return loads(file.read(size), name, classes)


def dumps(estimator: Any) -> bytes:
    """The contents of the file of a fitted estimator."""
    check_is_fitted(estimator)
    kind = type(estimator).__name__
    store = Store(RECORDS)
    names = getattr(estimator, "feature_names_in_", None)
    sections = {
        "parameters": _encoded(kind, estimator.get_params(deep=False), "parameters", store),
        "features": {
            "count": int(estimator.n_features_in_),
            "names": None if names is None else [str(name) for name in names],
        },
        "learned": _encoded(kind, _learned(estimator, kind), "learned", store),
    }
    texts = {key: json.dumps(content, allow_nan=False) for key, content in sections.items()}
    metadata = {"estimator": kind, "library_version": version("halfseen"), **texts}
    return pack(metadata, store.arrays)


def _learned(estimator: Any, kind: str) -> dict[str, Any]:
    if kind not in LEARNED:
        raise TypeError(f"{kind} is not an estimator of halfseen. Save the one it is made from.")
    return {name: getattr(estimator, name) for name in LEARNED[kind]}


def _encoded(kind: str, values: dict[str, Any], section: str, store: Store) -> dict[str, Any]:
    content = {}
    for name, value in values.items():
        try:
            content[name] = encode(value, f"{section}.{name}", store)
        except Unstorable as error:
            raise TypeError(
                f"'{name}' of {kind} holds {error}, which has no place in a model file. Use "
                f"set_params({name}=…) with numbers, text or an array of numbers before saving."
            ) from error
    return content


def loads(data: bytes, name: str, classes: Mapping[str, Any]) -> Any:
    """The estimator in the file ``name`` with these contents, one of ``classes``."""
    metadata, arrays = unpack(data, name)
    unknown = sorted(set(metadata) - _SECTIONS)
    kind = metadata.get("estimator", "")
    if unknown or kind not in classes:
        what = f"section {quoted(unknown, [0])}" if unknown else f"estimator '{kind}'"
        raise ModelFileError(
            f"{name} holds {what}, which this version of halfseen does not know; it was written by "
            f"version {metadata.get('library_version', '?')}. Upgrade halfseen."
        )
    try:
        return _assembled(classes[kind], LEARNED[kind], metadata, arrays)
    except INTERPRETING as error:
        raise ModelFileError(
            f"{name} does not hold a whole {kind}: {first_line(error)}. It was written by halfseen "
            f"{metadata.get('library_version', '?')}; save the model again, or upgrade halfseen."
        ) from error


def _assembled(kind: Any, forms: Forms, metadata: dict[str, str], arrays: dict[str, Values]) -> Any:
    def section(name: str) -> Any:
        content = strict_json(metadata[name])
        return {key: decode(value, arrays, RECORDS) for key, value in content.items()}

    estimator = kind(**section("parameters"))
    features = strict_json(metadata["features"])
    n_features = estimator.n_features_in_ = features["count"]
    if features["names"] is not None:
        estimator.feature_names_in_ = _names(features["names"], n_features)
    learned = LATER | section("learned")
    missing = sorted(set(forms) - set(learned))
    if missing:
        raise ValueError(f"it lacks {quoted(missing, range(len(missing)))}")
    sizes = {"k": learned["n_components_"], "d": n_features}
    for name, allowed in forms.items():
        _check_form(name, learned[name], allowed, sizes)
        setattr(estimator, name, learned[name])
    _check_preprocessing(learned["preprocessing_"], features)
    estimator.columns_by_name_ = True
    return estimator


def _check_preprocessing(preprocessing: Preprocessing | None, features: dict[str, Any]) -> None:
    if preprocessing is not None and preprocessing.fitted_names != features["names"]:
        raise ValueError("its preprocessing is of other columns than it was fitted to")


def _names(names: Any, n_features: Any) -> Values:
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise ValueError(f"it does not name its {n_features} features")
    return np.array(names, dtype=object)


def _check_form(name: str, value: Any, allowed: tuple[str, ...], sizes: dict[str, Any]) -> None:
    form = type(value).__name__
    if isinstance(value, np.ndarray):
        form = f"{value.dtype}[{','.join(map(str, value.shape))}]"
    expected = []
    for choice in allowed:
        kind, bracket, shape = choice.partition("[")
        sides = [str(sizes[side]) for side in shape.rstrip("]").split(",") if side]
        expected.append(f"{kind}[{','.join(sides)}]" if bracket else kind)
    if form not in expected:
        raise ValueError(f"'{name}' is {form} and not {' or '.join(expected)}")
