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
from halfseen.store.kind import Kind
from halfseen.store.values import Store, Unstorable, decode, encode

_SECTIONS = {"estimator", "library_version", "parameters", "features", "learned"}


def save(estimator: Any, path: str | os.PathLike[str], kind: Kind, *, overwrite: bool) -> None:
    """Write a fitted estimator to one file, after seeing that it can be read again."""
    data = dumps(estimator, kind)
    loads(data, os.fspath(path), {kind.name: kind})
    write_whole(path, data, overwrite=overwrite)


def read(path: str | os.PathLike[str], kinds: Mapping[str, Kind]) -> Any:
    """The estimator in a file; the file is refused from its first bytes if they are not ours."""
    name = os.fspath(path)
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        check_start(file.read(256), size, name)
        file.seek(0)
        return loads(file.read(size), name, kinds)


def dumps(estimator: Any, kind: Kind) -> bytes:
    """The contents of the file of a fitted estimator."""
    check_is_fitted(estimator)
    store = Store(kind.records)
    learned = {name: getattr(estimator, name) for name in kind.forms(estimator, vars(estimator))}
    names = getattr(estimator, "feature_names_in_", None)
    sections = {
        "parameters": _encoded(kind.name, estimator.get_params(deep=False), "parameters", store),
        "features": {
            "count": int(estimator.n_features_in_),
            "names": None if names is None else [str(name) for name in names],
        },
        "learned": _encoded(kind.name, learned, "learned", store),
    }
    texts = {key: json.dumps(content, allow_nan=False) for key, content in sections.items()}
    metadata = {"estimator": kind.name, "library_version": version("halfseen"), **texts}
    return pack(metadata, store.arrays)


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


def loads(data: bytes, name: str, kinds: Mapping[str, Kind]) -> Any:
    """The estimator in the file ``name`` with these contents, of one of ``kinds``."""
    metadata, arrays = unpack(data, name)
    unknown = sorted(set(metadata) - _SECTIONS)
    kind = metadata.get("estimator", "")
    if unknown or kind not in kinds:
        what = f"section {quoted(unknown, [0])}" if unknown else f"estimator '{kind}'"
        raise ModelFileError(
            f"{name} holds {what}, which this version of halfseen does not know; it was written by "
            f"version {metadata.get('library_version', '?')}. Upgrade halfseen."
        )
    try:
        return _assembled(kinds[kind], metadata, arrays)
    except INTERPRETING as error:
        raise ModelFileError(
            f"{name} does not hold a whole {kind}: {first_line(error)}. It was written by halfseen "
            f"{metadata.get('library_version', '?')}; save the model again, or upgrade halfseen."
        ) from error


def _assembled(kind: Kind, metadata: dict[str, str], arrays: dict[str, Values]) -> Any:
    def section(name: str) -> Any:
        content = strict_json(metadata[name])
        return {key: decode(value, arrays, kind.records) for key, value in content.items()}

    estimator = kind.make(section("parameters"))
    features = strict_json(metadata["features"])
    n_features = estimator.n_features_in_ = _count(features["count"])
    if features["names"] is not None:
        estimator.feature_names_in_ = _names(features["names"], n_features)
    for name, value in kind.complete(estimator, section("learned"), n_features).items():
        setattr(estimator, name, value)
    kind.check(estimator)
    return estimator


def _count(count: Any) -> int:
    if type(count) is not int or count < 1:
        raise ValueError(f"it says that it has {count!r} features")
    return count


def _names(names: Any, n_features: Any) -> Values:
    wrong = type(names) is not list or not all(isinstance(name, str) for name in names)
    if wrong or len(names) != n_features:
        raise ValueError(f"it does not name its {n_features} features")
    if len(set(names)) < n_features:
        raise ValueError("it gives several features one name")
    return np.array(names, dtype=object)
