"""Model files that are whole, but hold what no fit gives: refused, or harmless."""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.attack import laws, options
from benchmarks.attack.damage import damaged
from benchmarks.attack.defect import Defect, check
from benchmarks.attack.filled import is_gap
from benchmarks.attack.ours import is_ours, where
from halfseen import ModelFileError
from halfseen.data.arrays import Array
from halfseen.estimators.serialisation import kind_of
from halfseen.models import MODELS
from halfseen.persistence.container import pack, unpack
from halfseen.persistence.model_file import dumps, loads

Rng = np.random.Generator
REFUSED, HARMLESS = "refused", "harmless"
SECTIONS = ("parameters", "learned", "features")
NUMBERS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 2.0, 0.5, 1e300, -1e300, 1e-300, 5e-324)
VALUES: tuple[Any, ...] = (
    None, -1, 0, 1, 1.5, "x", "", True, [], ["a", "a"], {}, 10**30, 2**63, -0.0,
    {"float": "nan"}, {"float": "inf"}, {"tuple": [1]}, {"dict": {}},
    {"record": {"name": "Choice"}},
)  # fmt: skip


N_ROWS = 200
RICH = 2
"""Of the tables the first that has everything that tables of numbers have."""


class Good(NamedTuple):
    """The name of a model, its file, and a table it knows."""

    model: str
    data: bytes
    X: Any
    gives: dict[str, Any]  # what is NaN in its answers, by verb


@cache
def good_models() -> list[Good]:
    """Of each in the registry one of every form that its options and tables give its file."""
    found, forms = [], set()
    for name, kind in MODELS.items():
        for chosen in options.each_alone(kind):
            for table, k in tables_for(kind)[RICH if chosen else 0 :]:
                try:
                    model = kind(k, **options.hasty(kind) | chosen).fit(table)
                except ValueError:
                    continue  # what it needs others for
                data = dumps(model, kind_of(kind))
                form = form_of(name, data)
                if form not in forms:
                    forms.add(form)
                    loaded = loads(data, name, kinds())
                    found.append(Good(name, data, table[:6], answers(loaded, table[:6])))
    return found


def tables_for(kind: Any) -> list[tuple[Any, int]]:
    """Tables, and how many components of them: plain, and with all that tables may have."""
    rng = np.random.default_rng(1)
    rates = np.array([[2.0, 9, 4, 12], [10, 3, 9, 2]])[np.arange(N_ROWS) % 2]
    X = rng.poisson(rates * rng.gamma(5, 0.2, (N_ROWS, 1))).astype(float)
    odd = np.column_stack([X, np.full(N_ROWS, 3.0), np.full(N_ROWS, np.nan)])
    odd[:3, 0], odd[::3, 1], odd[:, 3], odd[5:40, 2] = 900.0, 0.0, np.arange(N_ROWS) % 2, np.nan
    cells = np.column_stack([odd, X]).astype(object)
    cells[:, 3] = np.where(X[:, 3] > 6, "high", "low")
    cells[:, 7] = np.array(["a", "b", "c", None], dtype=object)[X[:, 1].astype(int) % 4]
    cells[:, 8] = X[:, 2] + rng.normal(size=N_ROWS)
    return [(X, 1), (X, 2), (odd, 2), *([(cells, 2)] if kind.takes_kinds else [])]


def form_of(name: str, data: bytes) -> Any:
    """What is in a file: which arrays, their sides, and where they say that there is nothing."""
    arrays = unpack(data, "it")[1]
    return name, tuple((n, a.shape, np.isnan(a).tobytes()) for n, a in sorted(arrays.items()))


def ready() -> None:
    """Make them."""
    good_models()


def kinds() -> dict[str, Any]:
    """What the store knows."""
    return {kind.name: kind for kind in map(kind_of, MODELS.values())}


def answers(model: Any, X: Any) -> dict[str, Any]:
    """All that is said of a table."""
    said = {
        "hidden": model.hidden(X),
        "score_samples": model.score_samples(X[:2]),
        "unusual": model.unusual(X),
        "impute": model.impute(X),
        "draws": model.impute(X, draws=1)[0],
        "sample": model.sample(3)[0],
    }
    if hasattr(model, "surprisal"):
        said |= {"surprisal": model.surprisal(X), "dependence": model.dependence()}
        said |= {"explain": [len(str(model.explain()))]}
    return {verb: _as_numbers(np.asarray(found)) for verb, found in said.items()}


def _as_numbers(found: Any) -> Array:
    """What was said, with zeros for words."""
    if found.dtype.kind != "O":
        return np.asarray(found, dtype=float)
    flat = [0.0 if isinstance(c, str) else np.nan if is_gap(c) else float(c) for c in found.flat]
    return np.array(flat).reshape(found.shape)


def attack(seed: int, folder: Path) -> str:
    """Change a good file, load it, and ask it everything."""
    rng = np.random.default_rng(seed)
    good = good_models()[rng.integers(len(good_models()))]
    changed, what = mutated(rng, good.data)
    try:
        model = loads(changed, "it", kinds())
    except ModelFileError as error:
        check(is_ours(error), "a model file is refused by chance", where(error))
        return REFUSED
    try:
        said = answers(model, good.X)
    except Exception as error:
        law = f"a loaded model fails with {type(error).__name__}"
        raise Defect(law, f"{what} {where(error)}") from error
    for verb, found in said.items():
        bad = np.isinf(found) | (np.isnan(found) & ~np.isnan(_same(good.gives[verb], found)))
        check(not bad.any(), f"{verb} of a loaded model is not finite", what)
    laws.hidden_is_a_law(model, good.X)
    return HARMLESS


def _same(known: Array, found: Array) -> Array:
    """What was said before, in the shape of what is said now."""
    return known if known.shape == found.shape else np.zeros(found.shape)


def mutated(rng: Rng, data: bytes) -> tuple[bytes, str]:
    """The same file with something wrong in it, and what that is."""
    if rng.random() < 0.1:
        return damaged(rng, data), "damaged bytes"
    metadata, arrays = unpack(data, "it")
    words = []
    for _ in range(1 + (rng.random() < 0.2)):
        change = _array if rng.random() < 0.6 else _text
        words.append(change(rng, metadata, arrays))
    return pack(metadata, arrays), " and ".join(words)


def _array(rng: Rng, metadata: dict[str, str], arrays: dict[str, Any]) -> str:
    name = sorted(arrays)[rng.integers(len(arrays))]
    values = arrays[name].copy()
    kind = rng.choice(["one", "all", "shuffled", "scaled", "cut", "gone", "turned", "typed"])
    number = NUMBERS[rng.integers(len(NUMBERS))]
    with np.errstate(all="ignore"):
        if kind == "one" and values.size:
            values.flat[rng.integers(values.size)] = number if values.dtype.kind == "f" else 0
        elif kind == "all":
            values[...] = number if values.dtype.kind == "f" else rng.integers(2)
        elif kind == "shuffled":
            values = rng.permutation(values.ravel()).reshape(values.shape)
        elif kind == "scaled":
            values = (values * rng.choice([-1.0, 1.01, 1e-9, 1e9, 1e200])).astype(values.dtype)
        elif kind == "cut" and values.ndim:
            values = values[:-1]
        elif kind == "turned":
            values = values[..., None] if rng.random() < 0.5 else values.T.copy()
        elif kind == "typed":
            values = values.astype(["float32", "int64", "bool", "uint8"][rng.integers(4)])
    arrays[name] = values
    if kind == "gone":
        del arrays[name]
    return f"{name} {kind} {number}"


def _text(rng: Rng, metadata: dict[str, str], arrays: dict[str, Any]) -> str:
    section = SECTIONS[rng.integers(len(SECTIONS))]
    content = json.loads(metadata[section])
    place, value = content, VALUES[rng.integers(len(VALUES))]
    key = list(place)[rng.integers(len(place))]
    while isinstance(place[key], dict | list) and place[key] and rng.random() < 0.8:
        place = place[key]
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = keys[rng.integers(len(keys))]
    place[key] = value
    metadata[section] = json.dumps(content)
    return f"{section} {key} = {value!r}"
