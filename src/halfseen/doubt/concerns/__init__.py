"""What speaks against taking a model at its word, in sentences."""

from collections.abc import Callable, Iterator

from halfseen.doubt.concerns import counts, gaps, mixture, spectrum
from halfseen.doubt.concerns.case import Case, case_of
from halfseen.doubt.concerns.concern import Concern

Check = Callable[[Case], Iterator[Concern]]
SHARED: tuple[Check, ...] = (
    gaps.depend_on_values,
    gaps.in_blocks,
    gaps.few_together,
    spectrum.unrelated_features,
    spectrum.number_of_components,
)
CHECKS: dict[str, tuple[Check, ...]] = {
    "GaussianMixture": (*SHARED, mixture.overlap, mixture.noise),
    "GammaPoisson": (*SHARED, counts.alike, counts.dispersion, counts.routes),
}
"""The checks of each estimator."""


def concerns_of(this: Case) -> list[Concern]:
    """All concerns about a fitted model and the table it was learned from."""
    checks = CHECKS[type(this.model).__name__]
    return [concern for check in checks for concern in check(this)]


__all__ = ["CHECKS", "Case", "Check", "Concern", "case_of", "concerns_of"]
