"""Which way to the third moment, by what it costs and by what it assumes."""

from dataclasses import replace

from halfseen.moments.gaps.joint_gaps import INDEPENDENT_BELOW
from halfseen.moments.moments import Moments
from halfseen.moments.thirds.implicit import implicit
from halfseen.moments.thirds.least_squares import least_squares
from halfseen.moments.thirds.third import Probe, ProjectedThird, ThirdMoment, explicit
from halfseen.rows.errors import WeakMomentsWarning, warn
from halfseen.rows.rows import Rows

CHEAP = 1e9
"""So many triple products take a fraction of a second: no reason to assume anything."""

ITERATIONS = 30
"""Least squares goes over the rows about so often, products in three modes counted."""

MOST_EXPLICIT = 1500
"""Features whose triples, two numbers each, still fit in a few gigabytes."""


def automatic(rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
    """The route that assumes least of those that cost little."""
    route, reason = choose(moments, probe)
    return replace(route(rows, moments, probe), reason=reason)


def asked_implicit(rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
    """Never form it, because the user says so: which of the two ways, gaps decide."""
    dependence = moments.gaps.dependence
    if dependence < INDEPENDENT_BELOW:
        return implicit(rows, moments, probe)
    if _solvable(moments, probe):
        return replace(least_squares(rows, moments, probe), reason=_depend(dependence))
    warn(
        "third_moment='implicit' takes features to be missing independently of each other here, "
        f"but they are not (largest deviation {dependence:.1f} of {INDEPENDENT_BELOW:g}). "
        + _remedy(moments),
        WeakMomentsWarning,
    )
    return implicit(rows, moments, probe)


def choose(moments: Moments, probe: Probe) -> tuple[ThirdMoment, str]:
    """The route for a table with these moments, and why."""
    if (moments.observed_fraction == 1).all():
        return implicit, "there are no gaps, and all routes give the same"
    d, r = len(moments.mean), probe.whitening.rank
    products = d**3 / 6
    formable = d <= MOST_EXPLICIT and moments.gaps.all_pairs
    if formable and moments.n_rows * products <= CHEAP:
        return explicit, f"{moments.n_rows * products:.2g} triple products are few"
    dependence = moments.gaps.dependence
    if dependence < INDEPENDENT_BELOW:
        return implicit, (
            f"{moments.n_rows * products:.2g} triple products are many, and gaps look independent "
            f"(largest deviation {dependence:.1f} of {INDEPENDENT_BELOW:g})"
        )
    if _solvable(moments, probe) and (not formable or ITERATIONS * r**4 < products):
        return least_squares, _depend(dependence)
    return (explicit if formable else asked_implicit), _depend(dependence)


def _solvable(moments: Moments, probe: Probe) -> bool:
    """Least squares needs all joint counts, and knows the space of the signal only."""
    return moments.gaps.exact and not probe.beyond.shape[1]


def _depend(dependence: float) -> str:
    return (
        f"gaps depend on each other (largest deviation {dependence:.1f} of {INDEPENDENT_BELOW:g})"
    )


def _remedy(moments: Moments) -> str:
    if moments.gaps.all_pairs and len(moments.mean) <= MOST_EXPLICIT:
        return "Use third_moment='explicit', or 'auto', which chooses."
    return "Keep the features that are missing together in blocks, or drop the most entangled."
