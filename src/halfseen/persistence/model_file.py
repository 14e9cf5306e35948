"""Write and read model files.

The metadata of the file are texts: ``estimator`` and ``library_version`` plain, and ``parameters``,
``features`` and ``learned`` as JSON whose arrays are in the file under the same names. A section of
another name comes from a later version that could not do without it, and is refused.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfseen.data.errors import ModelFileError
from halfseen.data.formatting import quoted
from halfseen.persistence.atomic import write_whole
from halfseen.persistence.container import (
    INTERPRETING,
    Values,
    check_start,
    first_line,
    pack,
    strict_json,
    unpack,
)
from halfseen.persistence.encoding import Records, Store, Unstorable, decode, encode

Forms = Mapping[str, tuple[str, ...]]
Later = Mapping[str, Callable[[Mapping[str, Any]], Any]]
"""Attributes that older files do not have, from those that they have."""


@dataclass(frozen=True)
class EstimatorKind:
    """A kind of estimator, as its files describe it.

    A form is the name of a type, such as ``"int"``, or of an array's type with its sides, such as
    ``"float64[k,d]"``. Side d is the number of features, which is in every file; ``sizes`` names
    the learned attribute that another side is, unless it is a number. A side that nothing names is
    the same wherever it stands.
    """

    name: str
    make: Callable[[dict[str, Any]], Any]  # an estimator with these parameters, not yet fitted
    check: Callable[[Any], None]  # raises ValueError if what was learned does not hold together
    forms: Callable[[Any, Mapping[str, Any]], Forms]
    """Learned attributes, and the forms that each may have: of an estimator, and what is stored."""
    sizes: Mapping[str, str]
    records: Records  # types of values with named fields; fields added later need no change here
    later: Later

    def complete(
        self, estimator: Any, stored: Mapping[str, Any], n_features: Any
    ) -> dict[str, Any]:
        """Every learned attribute, from what is stored; raises if one is not as it should be."""
        since = {name: make for name, make in self.later.items() if name not in stored}
        known = {**estimator.get_params(deep=False), **stored}
        learned = dict(stored)
        for name, make in since.items():
            learned[name] = _made(make, known)
        forms = self.forms(estimator, learned)
        learned = {name: value for name, value in learned.items() if value is not ABSENT}
        missing = sorted(set(forms) - set(learned))
        if missing:
            raise ValueError(f"it lacks {quoted(missing)}")
        sizes = {"d": n_features} | {side: learned[name] for side, name in self.sizes.items()}
        for name, allowed in forms.items():
            _check_form(
                name, learned[name], allowed, sizes := _with_own(learned[name], allowed, sizes)
            )
        return {name: learned[name] for name in forms}


ABSENT: Any = object()


def _made(make: Callable[[Mapping[str, Any]], Any], known: Mapping[str, Any]) -> Any:
    """Attributes that older files lack, derived from those of this one."""
    try:
        return make(known)
    except KeyError:
        return ABSENT


def _with_own(value: Any, allowed: tuple[str, ...], sizes: dict[str, Any]) -> dict[str, Any]:
    """Sides by their letters, with what the first array of one form adds to them."""
    if not isinstance(value, np.ndarray) or len(allowed) > 1:
        return sizes
    letters = [side for side in allowed[0].partition("[")[2].rstrip("]").split(",") if side]
    own = dict(zip(letters, value.shape, strict=False))
    return {side: n for side, n in own.items() if not side.isdigit()} | sizes


def _check_form(name: str, value: Any, allowed: tuple[str, ...], sizes: dict[str, Any]) -> None:
    form = type(value).__name__
    if isinstance(value, np.ndarray):
        form = f"{value.dtype}[{','.join(map(str, value.shape))}]"
    expected = [_with_sides(choice, sizes) for choice in allowed]
    if form not in expected:
        raise ValueError(f"'{name}' is {form} and not {' or '.join(expected)}")


def _with_sides(form: str, sizes: dict[str, Any]) -> str:
    """The form with numbers in place of letters."""
    kind, bracket, sides = form.partition("[")
    numbers = [str(sizes.get(side, side)) for side in sides.rstrip("]").split(",") if side]
    return f"{kind}[{','.join(numbers)}]" if bracket else kind


_SECTIONS = {"estimator", "library_version", "parameters", "features", "learned"}


def save(
    estimator: Any, path: str | os.PathLike[str], kind: EstimatorKind, *, overwrite: bool
) -> None:
    """Write a fitted estimator to one file, after seeing that it can be read again."""
    data = dumps(estimator, kind)
    loads(data, os.fspath(path), {kind.name: kind})
    write_whole(path, data, overwrite=overwrite)


def read(path: str | os.PathLike[str], kinds: Mapping[str, EstimatorKind]) -> Any:
    """The estimator in a file; the file is refused from its first bytes if they are not ours."""
    name = os.fspath(path)
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        check_start(file.read(256), size, name)
        file.seek(0)
        return loads(file.read(size), name, kinds)


def dumps(estimator: Any, kind: EstimatorKind) -> bytes:
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


def loads(data: bytes, name: str, kinds: Mapping[str, EstimatorKind]) -> Any:
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


def _assembled(kind: EstimatorKind, metadata: dict[str, str], arrays: dict[str, Values]) -> Any:
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
