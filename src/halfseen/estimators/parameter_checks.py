"""Check constructor parameters."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from sklearn.utils import check_random_state

from halfseen.data.messages import parameter, setting
from halfseen.inference.plan import THIRD_MOMENTS
from halfseen.inference.tensor_decomposition import DECOMPOSERS

MOST_SWEEPS = 1_000_000  # nobody waits for more


def refuse(estimator: object, name: str, rule: str) -> None:
    """Say what a parameter must be, and what it is."""
    raise ValueError(
        parameter(name, f"The '{name}' parameter of {type(estimator).__name__}")
        + f" must be {rule}. Got {getattr(estimator, name)!r} instead."
    )


def check_choice(estimator: object, name: str, choices: Iterable[str | None]) -> None:
    """Check a parameter that is one of a few words, or None if allowed."""
    value, none = getattr(estimator, name), None in choices
    words = sorted(choice for choice in choices if choice is not None)
    if not (isinstance(value, str) and value in words) and not (none and value is None):
        *others, last = [repr(word) for word in words] + ["None"] * none
        refuse(estimator, name, f"{', '.join(others)} or {last}" if others else last)


def check_non_negative(estimator: object, name: str) -> None:
    """Check a parameter that is a non-negative number."""
    value: Any = getattr(estimator, name)
    if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0:
        refuse(estimator, name, "a number of at least 0")


def check_within_or_auto(estimator: object, name: str, least: float, most: float) -> None:
    """Check a parameter that is a number in a range, or "auto"."""
    value: Any = getattr(estimator, name)
    number = not isinstance(value, bool) and isinstance(value, Real)
    if not (isinstance(value, str) and value == "auto") and not (
        number and least <= float(value) <= most
    ):
        refuse(estimator, name, f"a number from {least:g} to {most:g}, or 'auto'")


def check_positive_integer(estimator: object, name: str) -> None:
    """Check a parameter that is a positive integer."""
    if not _is_positive_integer(getattr(estimator, name)):
        refuse(estimator, name, "an int of at least 1")


def check_sweeps(estimator: object) -> None:
    """Check a number of sweeps, which has an upper limit."""
    value: Any = getattr(estimator, "n_sweeps", None)
    if not _is_positive_integer(value) or value > MOST_SWEEPS:
        refuse(estimator, "n_sweeps", f"an int from 1 to {MOST_SWEEPS:,}")


def check_integer_or_auto(estimator: object, name: str) -> None:
    """Check a parameter that is an integer, or "auto"."""
    value: Any = getattr(estimator, name)
    if not (isinstance(value, str) and value == "auto") and not _is_positive_integer(value):
        refuse(estimator, name, "an int of at least 1, or 'auto'")


def _is_positive_integer(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= 1


def check_count(name: str, value: Any, fewest: int, why: str = "") -> None:
    """Check a number of items."""
    if not _is_positive_integer(value) or value < fewest:
        raise ValueError(f"{name} must be an int of at least {fewest}{why}. Got {value!r} instead.")


def check_fraction(estimator: object, name: str) -> None:
    """Check a parameter in (0, 1]."""
    value: Any = getattr(estimator, name)
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        refuse(estimator, name, "a number above 0 and at most 1")


def check_threads(estimator: object, name: str) -> None:
    """Check a number of threads as joblib counts them, or None."""
    value: Any = getattr(estimator, name)
    if value is not None and (not isinstance(value, Integral) or int(value) == 0):
        refuse(estimator, name, "an int other than 0 (-1 for all cores), or None")


def check_seed(estimator: object, name: str) -> None:
    """Check a random seed."""
    value: Any = getattr(estimator, name)
    try:
        check_random_state(value)
    except ValueError:
        refuse(
            estimator, name, f"an int from 0 to {2**32 - 1}, a numpy.random.RandomState, or None"
        )


STRONGEST_PRIOR = 1e6  # stronger ones leave nothing to the data


def check_prior(estimator: object) -> None:
    """Check the strength of the priors, or None."""
    value: Any = getattr(estimator, "prior", None)
    if value is None:
        return
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 <= float(value) <= STRONGEST_PRIOR:
        refuse(estimator, "prior", f"a number from 0 to {STRONGEST_PRIOR:,.0f}, or None")


METHODS = ("weighted", "full", "partial")
MOMENTS = ("available", "adjusted")
INCOMPLETE = ("regress", "divide")
OUTLIERS = ("auto",)


def check_parameters(estimator: Any) -> None:
    """Check the parameters that all estimators share."""
    check_integer_or_auto(estimator, "n_components")
    check_fraction(estimator, "complete_above")
    check_choice(estimator, "method", METHODS)
    check_choice(estimator, "decomposer", DECOMPOSERS)
    check_choice(estimator, "third_moment", THIRD_MOMENTS)
    check_choice(estimator, "moments", MOMENTS)
    check_choice(estimator, "incomplete_features", INCOMPLETE)
    check_choice(estimator, "outliers", (*OUTLIERS, None))
    check_prior(estimator)
    check_choice(estimator, "refine", (*estimator.refinements, None))
    check_threads(estimator, "n_jobs")
    check_seed(estimator, "random_state")
    if estimator.method == "partial" and estimator.incomplete_features == "divide":
        raise ValueError(
            setting(method="partial")
            + " has no weights to divide by. Use incomplete_features='regress'."
        )
