"""Every option of every model, as its documentation lists them."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from halfseen.estimators.docstrings import entries
from halfseen.io.coding import declarable_kinds

NUMBERS: dict[str, tuple[Any, ...]] = {
    "n_components": (1, 1, 2, 2, 3, 5),
    "complete_above": (0.95, 0.5, 1.0, 1e-9),
    "tol": (1e-7, 1e-3, 0.0),
    "max_iter": (500, 50, 2, 1),
    "n_sweeps": (20, 2, 1),
    "random_state": (0,),
    "kinds": ("auto",),
    "covariance_type": (
        *("tied_spherical", "spherical", "tied_diag", "diag", "tied", "full", "factor"),
        *("tied", "full", "factor"),  # more often, as they can do more
    ),
    "n_factors": (1, 2, 5, 2, 1, "auto"),
    "n_jobs": (1, 2),
    "verbose": (0,),
}
"""Of options whose choices are not in braces: which. A number that is not listed is small."""
SMALL = {"int": (1, 2, 5), "float": (0.0, 0.5, 1.0), "bool": (True, False)}
WRONG: tuple[Any, ...] = ("x", -1, 0, float("nan"), None, [], 1.5, True, 10**30, (1, 2))
OFTEN = {"covariance_type": 0.5}
"""Options that are not left at their usual value as often as others."""
HASTY = {"max_iter": 5, "n_sweeps": 2, "random_state": 0}
DEAR = {"n_components": "auto", "covariance_type": "auto"}
"""What takes many fits."""
CHANGED, OFTEN_CHANGED, WRONG_SHARE, DEAR_SHARE = 0.15, 0.3, 0.004, 0.004


@cache
def documented(kind: type) -> dict[str, tuple[Any, ...]]:
    """The choices of each option of an estimator, from the first lines of its docstring's entries.

    >>> from halfseen.models import MODELS
    >>> documented(next(iter(MODELS.values())))["method"]
    ('weighted', 'full', 'partial')
    """
    found = {}
    for option, text in entries((kind.__doc__ or "") + "\n", "Parameters").items():
        head = text.splitlines()[0].partition(":")[2]
        words = re.search(r"\{(.*?)\}", head)
        choices = ast.literal_eval(f"({words[1]},)") if words else _numbers(option, head)
        none = (None,) if re.search(r"\bor None\b", head) else ()
        found[option] = (*choices, *none)
    return found


def hasty(kind: Any) -> dict[str, Any]:
    """What makes fits short."""
    known = kind().get_params()
    return {name: value for name, value in HASTY.items() if name in known}


def each_alone(kind: type) -> Iterator[dict[str, Any]]:
    """No option, and every choice in words of every option."""
    yield {}
    for option, choices in documented(kind).items():
        for choice in dict.fromkeys(choices):
            if isinstance(choice, str) and choice not in ("auto", DEAR.get(option)):
                yield {option: choice}


def _numbers(option: str, head: str) -> tuple[Any, ...]:
    kinds = [small for kind, small in SMALL.items() if re.search(rf"\b{kind}\b", head)]
    return NUMBERS.get(option, kinds[0] if kinds else ())


def draw(rng: np.random.Generator, kind: type, shape: tuple[int, int]) -> dict[str, Any]:
    """Options for one fit: a few that are not the usual ones, and rarely one that is wrong."""
    most = max(1, min(shape[1], shape[0] - 1))
    number = int(rng.choice(NUMBERS["n_components"]))
    options: dict[str, Any] = {
        "n_components": min(number, most) if rng.random() < 0.9 else number,
        "random_state": 0,
    }
    known = documented(kind)
    if "n_sweeps" in known:  # the usual number is too many for so many tables
        options["n_sweeps"] = 20
    if "max_iter" in known:
        options["max_iter"] = 200
    if "outliers" in known and rng.random() < 0.3:  # where the likelihood alone decides
        options["outliers"] = None
    for option, choices in known.items():
        if choices and option not in options and rng.random() < OFTEN.get(option, CHANGED):
            options[option] = choices[rng.integers(len(choices))]
    for option, dear in DEAR.items():
        if option in known and rng.random() < DEAR_SHARE:
            options[option] = dear
    if rng.random() < WRONG_SHARE:
        options[list(known)[rng.integers(len(known))]] = wrong(rng)
    return options


def wrong(rng: np.random.Generator) -> Any:
    """What hardly any option may be."""
    return WRONG[rng.integers(len(WRONG))]


def kinds(rng: np.random.Generator, names: list[str]) -> dict[Any, str]:
    """Kinds of some columns, which they may not have; rarely of one that there is not."""
    chosen = [name for name in names if rng.random() < 0.4]
    if rng.random() < 0.02:
        chosen.append("nothing")
    numbered = all(map(str.isdigit, chosen)) and rng.random() < 0.5
    return {int(n) if numbered else n: str(rng.choice(declarable_kinds())) for n in chosen}


def feature_weights(rng: np.random.Generator, d: int) -> np.ndarray[Any, Any]:
    """Weights of one's own, from plain to absurd."""
    return np.asarray(rng.choice([1.0, 0.5, 0.0, 1e-320, 1e-9, 1e300], size=d))


def lengths(rng: np.random.Generator, n_rows: int) -> Any:
    """How many rows each of some sequences has; None if they are one."""
    if rng.random() < 0.3 or n_rows < 2:
        return None
    cuts = np.unique(rng.integers(1, n_rows, size=rng.integers(1, n_rows)))
    return np.diff(np.concatenate([[0], cuts, [n_rows]]))


def sample_weight(rng: np.random.Generator, n: int) -> np.ndarray[Any, Any] | None:
    """Weights of rows, mostly none."""
    chance = rng.random()
    if chance < 0.8:
        return None
    if chance < 0.9:
        return rng.integers(0, 3, size=n).astype(float)
    if chance < 0.96:
        return rng.random(n)
    return rng.choice([0.0, 1.0, 1e-320, 1e-200, 1e200, 1.7e308], size=n)
