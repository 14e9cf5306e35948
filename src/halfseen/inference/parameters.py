"""What models learn: parameters that say their public name, axes and scale, once.

From the declarations follow the learned attributes of an estimator, their forms in a model file,
their intervals, and the same model with fewer features or with its components in another order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.special import expit, logit

from halfseen.data.arrays import Array, Mask


class Scale(NamedTuple):
    """A scale on which estimates are nearly normal, and the way back."""

    to: Callable[[Array], Array]
    back: Callable[[Array], Array]
    probability: bool = False  # estimated from rows that show it or not, and zero if none does
    sums_along: int | None = None  # the side along which probabilities sum to one, if any


def _same(values: Array) -> Array:
    return values


def _log(values: Array) -> Array:
    return np.log(np.maximum(values, np.finfo(float).tiny))


def _logit(values: Array) -> Array:
    tiny = np.finfo(float).eps
    odds: Array = logit(np.clip(values, tiny, 1 - tiny))
    return odds


ANY = Scale(_same, _same)
POSITIVE = Scale(_log, np.exp)
SHARE = Scale(_logit, expit, probability=True, sums_along=-1)
FRACTION = Scale(_logit, expit, probability=True)  # may well be zero
CLIPPED = Scale(_same, lambda values: np.clip(values, 0.0, 1.0))  # shares that moments may miss
DEFINITE = Scale(_same, _same)  # symmetric matrices that stay positive definite


P = TypeVar("P")
CONSTANT = None
"""Features that are left out have their own constant."""


class Role(NamedTuple):
    """What a field of parameters is for."""

    refined: bool  # EM moves it freely
    counts: bool  # as free numbers of the model, as far as it is known
    doubted: bool  # it has intervals


LEARNED = Role(True, True, True)
SHOWN = Role(False, False, True)
"""Follows from others, and is what people look at."""
BEHIND = Role(True, True, False)
"""Of the model, and shown otherwise."""
BESIDE = Role(False, True, False)
GIVEN = Role(False, False, False)
"""Facts of the table that the model needs."""


class Declared(NamedTuple):
    """One field of the parameters of a model.

    Parameters hold an array with the last of the axes; what is shared is public with fewer.
    """

    field: str
    name: str  # of the public attribute
    axes: tuple[str, ...]  # k for components, d for features, l for values that a feature has,
    # e for features once more, q for factors, j for components once more
    scale: Scale
    otherwise: float | None  # what is said of features that were left out
    role: Role
    beside: str | None  # another field: features of which that is NaN have none of this
    values: tuple[str, ...]  # fields of values: between those of a feature that has two of them


def learned(
    name: str,
    axes: str | tuple[str, ...],
    scale: Scale,
    otherwise: float | None = CONSTANT,
    role: Role = LEARNED,
    beside: str | None = None,
    values: tuple[str, ...] = (),
    **default: Any,
) -> Any:
    """Declare a field of parameters under its public name."""
    every = (axes,) if isinstance(axes, str) else axes
    about = (name, every, scale, otherwise, role, beside, values)
    return field(metadata={"learned": about}, **default)


def declared(parameters: Any) -> tuple[Declared, ...]:
    """The declared fields of a class of parameters, or of one of them."""
    return _declared(parameters if isinstance(parameters, type) else type(parameters))


@cache
def _declared(kind: Any) -> tuple[Declared, ...]:
    return tuple(
        Declared(one.name, *one.metadata["learned"])
        for one in fields(kind)
        if "learned" in one.metadata
    )


def select(parameters: P, features: Mask) -> P:
    """The parameters of only some of the features."""
    return _along(_along(parameters, "d", features), "e", features)


def reordered(parameters: P, order: Any) -> P:
    """The parameters with components in another order."""
    return _along(_along(parameters, "k", order), "j", order)


def _along(parameters: P, axis: str, chosen: Any) -> P:
    changed = {
        one.field: getattr(parameters, one.field)[
            (slice(None),) * one.axes[-1].index(axis) + (chosen,)
        ]
        for one in declared(parameters)
        if axis in one.axes[-1]
    }
    return replace(parameters, **changed)  # type: ignore[type-var]


def attributes(
    parameters: Any, kept: Mask, constants: Array, axes: Mapping[str, str]
) -> dict[str, Any]:
    """The learned attributes of all features, by public name.

    ``constants`` (d,) are the values of features that are not ``kept``; ``axes`` says which of the
    axes that a field may have it has.
    """
    found = {}
    for one in declared(parameters):
        value, public = getattr(parameters, one.field), axes.get(one.field, one.axes[-1])
        value = _shared(value, one.axes[-1], public)
        rest = constants if one.otherwise is CONSTANT else one.otherwise
        if public.endswith("d"):
            value = whole(value, kept, rest)
        elif "d" in public:
            value = _whole_along(value, public, kept, rest)
        found[one.name] = value if public else float(value)
    return found


def whole(values: Array, kept: Mask, rest: Array | float) -> Array:
    """Values (..., d) of all features, from those of the kept ones and of the rest."""
    every = np.empty((*np.shape(values)[:-1], len(kept)))
    every[..., :] = rest
    every[..., kept] = values
    return every


def _whole_along(values: Array, axes: str, kept: Mask, rest: Any) -> Array:
    sides = [len(kept) if axis in "de" else n for axis, n in zip(axes, values.shape, strict=True)]
    every = np.full(sides, rest, dtype=float)
    every[_of_kept(axes, sides, kept)] = values
    return every


def _of_kept(axes: str, sides: Sequence[int], kept: Mask) -> Any:
    chosen = zip(axes, sides, strict=True)
    return np.ix_(*(np.flatnonzero(kept) if a in "de" else np.arange(n) for a, n in chosen))


def of_kept(values: Array, axes: str, kept: Mask) -> Array:
    """The part of an array with these axes that is of the kept features."""
    return values[_of_kept(axes, values.shape, kept)] if "d" in axes else values


def _shared(value: Any, axes: str, public: str) -> Any:
    return value[tuple(slice(None) if axis in public else 0 for axis in axes)] if axes else value


def parameters_of(
    kind: type[P], values: Mapping[str, Any], kept: Mask, k: int, axes: Mapping[str, str]
) -> P:
    """The parameters of the kept features, from learned attributes."""
    found = {}
    sides = {"k": k, "j": k, **dict.fromkeys("de", int(np.count_nonzero(kept)))}
    for one in declared(kind):
        value, public = np.asarray(values[one.name]), axes.get(one.field, one.axes[-1])
        value = of_kept(value, public, kept)
        apart = tuple(slice(None) if axis in public else None for axis in one.axes[-1])
        sides["l"] = len(value) if public.startswith("l") else 0
        sides["q"] = value.shape[-1] if public.endswith("q") else 0
        whole = np.broadcast_to(value[apart], [sides[axis] for axis in one.axes[-1]])
        found[one.field] = whole if one.axes[-1] else float(value)
    return kind(**found)


def forms(kind: Any) -> dict[str, tuple[str, ...]]:
    """The types under which learned attributes are stored in a model file."""
    return {
        one.name: tuple(
            f"float64[{','.join(axes.replace('e', 'd').replace('j', 'k'))}]" if axes else "float"
            for axes in one.axes
        )
        for one in declared(kind)
    }


def check_finite(parameters: Any) -> None:
    """Raise FloatingPointError if a learned number is not finite.

    What only some features have is NaN for the others.
    """
    for one in declared(parameters):
        value = np.asarray(getattr(parameters, one.field), dtype=float)
        partly = one.otherwise is not None and np.isnan(one.otherwise)
        if not (np.isfinite(value) | (partly & np.isnan(value))).all():
            raise FloatingPointError(f"{one.name} would not be finite")


def name_of(parameters: Any, values: Any) -> str | None:
    """The public name of an array, if it is a field of the parameters."""
    same = (one.name for one in declared(parameters) if getattr(parameters, one.field) is values)
    return next(same, None)


def scales(kind: Any) -> dict[str, Scale]:
    """The scale of each learned attribute that has intervals."""
    return {
        one.name: one.scale._replace(sums_along=0) if one.axes[-1].startswith("l") else one.scale
        for one in declared(kind)
        if one.role.doubted
    }


def two_values(parameters: Any, attributes: Mapping[str, Any]) -> dict[str, Array]:
    """By learned attribute: the lower and the higher value of features that have only two; (2, d).

    NaN for other features.
    """
    names = {one.field: one.name for one in declared(parameters)}
    found = {}
    for one in declared(parameters):
        if one.values:
            every = np.sort(np.vstack([attributes[names[field]] for field in one.values]), axis=0)
            two = np.isfinite(every).sum(axis=0) == 2  # NaN is sorted to the end
            found[one.name] = np.where(two, every[:2], np.nan)
    return found


def n_free(parameters: Any, axes: Mapping[str, str]) -> int:
    """The number of free parameters; probabilities that sum to one have one fewer.

    What some features do not have is NaN there, and does not count.
    """
    total = 0
    for one in declared(parameters):
        if one.role.counts:
            public = axes.get(one.field, one.axes[-1])
            there = np.isfinite(_shared(getattr(parameters, one.field), one.axes[-1], public))
            total += int(there.sum()) - _tied(public, there, one.scale)
            total -= _said_twice(public, there.shape)
    return total


def _tied(axes: str, there: Mask, scale: Scale) -> int:
    """Shares of components sum to one, and so do those of each feature's values."""
    if axes.startswith("l"):
        return int(there.any(axis=0).sum())
    return int(np.prod(there.shape[:-1])) if scale is SHARE else 0


def _said_twice(axes: str, sides: Sequence[int]) -> int:
    """Redundant entries: the lower triangles of covariances, and rotations of factors."""
    if axes.endswith("de"):
        n, d = int(np.prod(sides[:-2])), sides[-1]
        return n * d * (d - 1) // 2
    return sides[-1] * (sides[-1] - 1) // 2 if axes == "dq" else 0


def coordinates_of(matrices: Array) -> Array:
    """Log standard deviations, and below them how each feature leans on those before; (..., d, d).

    With L the Cholesky factor of the correlations these are ``L_ij / L_ii``: any numbers will do,
    and rows of unit length follow from them.
    """
    spread = np.sqrt(np.diagonal(matrices, axis1=-2, axis2=-1))
    factor = np.linalg.cholesky(matrices / (spread[..., :, None] * spread[..., None, :]))
    leaning = np.tril(factor / np.diagonal(factor, axis1=-2, axis2=-1)[..., None], -1)
    places: Array = leaning + np.eye(spread.shape[-1]) * np.log(spread)[..., None]
    return places


def from_coordinates(places: Array) -> Array:
    """The matrices with these coordinates, the reverse of that; (..., d, d)."""
    spread = np.exp(np.diagonal(places, axis1=-2, axis2=-1))
    rows = np.tril(places, -1) + np.eye(places.shape[-1])
    rows = rows * (spread / np.linalg.norm(rows, axis=-1))[..., None]
    matrices: Array = rows @ np.swapaxes(rows, -1, -2)
    return matrices
