"""Parameters of imputers that cannot be right, said in scikit-learn's words."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any


def check_flags(imputer: Any, names: Iterable[str]) -> None:
    """Parameters that are yes or no."""
    for name in names:
        if not isinstance(getattr(imputer, name), bool):
            _refuse(imputer, name, "True or False")


def check_seconds(imputer: Any) -> None:
    """None, or a number above zero."""
    value: Any = imputer.max_seconds
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Real) or not float(value) > 0:
        _refuse(imputer, "max_seconds", "a number above 0, or None")


def check_draws(imputer: Any) -> None:
    """None, or how many parameter sets there are to be."""
    value: Any = imputer.draws
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        _refuse(imputer, "draws", "an int of at least 1, or None")


def check_enough(imputer: Any, number: Any) -> int:
    """How many draws are asked for, if the fit learned for as many."""
    learned = 0 if imputer.draws is None else int(imputer.draws)
    if not learned:
        raise ValueError(
            "Draws need parameters that vary, which fit learns if it is told for how many draws. "
            "Use Imputer(draws=20).fit(X)."
        )
    wanted: Any = learned if number is None else number
    right = isinstance(wanted, Integral) and not isinstance(wanted, bool)
    if not (right and 1 <= int(wanted) <= learned):
        raise ValueError(
            f"The imputer was fitted for draws={learned}, so that there may be 1 to {learned}. Got "
            f"{number!r} instead."
        )
    return int(wanted)


def _refuse(imputer: Any, name: str, rule: str) -> None:
    raise ValueError(
        f"The '{name}' parameter of {type(imputer).__name__} must be {rule}. "
        f"Got {getattr(imputer, name)!r} instead."
    )
