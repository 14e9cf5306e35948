"""What is said of an estimator by those who know it, so that nothing here has to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.rows.naming import quoted
from halfseen.store.values import Records

Forms = Mapping[str, tuple[str, ...]]
Later = Mapping[str, Callable[[Mapping[str, Any]], Any]]
"""Attributes that older files do not have, from those that they have."""


@dataclass(frozen=True)
class Kind:
    """A kind of estimator as its files have it.

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
            raise ValueError(f"it lacks {quoted(missing, range(len(missing)))}")
        sizes = {"d": n_features} | {side: learned[name] for side, name in self.sizes.items()}
        for name, allowed in forms.items():
            _check_form(
                name, learned[name], allowed, sizes := _with_own(learned[name], allowed, sizes)
            )
        return {name: learned[name] for name in forms}


ABSENT: Any = object()


def _made(make: Callable[[Mapping[str, Any]], Any], known: Mapping[str, Any]) -> Any:
    """What older files do not have, or nothing if it does not follow from what this one has."""
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
