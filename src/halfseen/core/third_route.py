"""Which way to the third moment, by what it costs and by what it assumes."""

import warnings
from dataclasses import replace

from halfseen.core.arrays import Array
from halfseen.core.errors import WeakMomentsWarning
from halfseen.core.implicit_third import implicit
from halfseen.core.independence import INDEPENDENT_BELOW
from halfseen.core.moments import Moments
from halfseen.core.rows import Rows
from halfseen.core.third_moment import ProjectedThird, ThirdMoment, explicit

CHEAP = 1e9
"""So many triple products take a fraction of a second: no reason to assume anything."""


def automatic(rows: Rows, moments: Moments, basis: Array) -> ProjectedThird:
    """Explicit where that is cheap or gaps are entangled, implicit elsewhere."""
    route, reason = choose(moments)
    return replace(route(rows, moments, basis), reason=reason)


def asked_implicit(rows: Rows, moments: Moments, basis: Array) -> ProjectedThird:
    """Implicit because the user says so; told if the gaps do not bear it out."""
    dependence = moments.gaps.dependence
    if dependence >= INDEPENDENT_BELOW:
        warnings.warn(
            "third_moment='implicit' takes features to be missing independently of each other, but "
            f"they are not (largest deviation {dependence:.1f} of {INDEPENDENT_BELOW:g}). Use "
            "third_moment='explicit', or 'auto', which chooses.",
            WeakMomentsWarning,
            stacklevel=5,
        )
    return implicit(rows, moments, basis)


def choose(moments: Moments) -> tuple[ThirdMoment, str]:
    """The route for a table with these moments, and why."""
    if (moments.observed_fraction == 1).all():
        return implicit, "there are no gaps, and both routes give the same"
    d = len(moments.mean)
    products = moments.n_rows * d**3 / 6
    if products <= CHEAP:
        return explicit, f"{products:.2g} triple products are few"
    dependence = moments.gaps.dependence
    if dependence < INDEPENDENT_BELOW:
        return implicit, (
            f"{products:.2g} triple products are many, and gaps look independent (largest "
            f"deviation {dependence:.1f} of {INDEPENDENT_BELOW:g})"
        )
    return explicit, (
        f"gaps depend on each other (largest deviation {dependence:.1f} of {INDEPENDENT_BELOW:g})"
    )
