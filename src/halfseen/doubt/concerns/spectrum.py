"""Concerns about the second moments: how many components they support."""

from collections.abc import Iterator

import numpy as np

from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern
from halfseen.doubt.cross_scores import of_models_not_kept
from halfseen.doubt.rank_test import rank_test

N_REPLICATES = 400


def number_of_components(case: Case) -> Iterator[Concern]:
    """More components than the spectrum supports, or fewer."""
    k = case.fitted.n_components
    model = case.fitted.model
    if not model.abilities.rank_tests or case.unseen_pairs:
        return
    if case.fitted.diagnostics.choice is not None:
        return  # it was chosen on more evidence than this, and said with the reason
    multipliers = np.random.default_rng(0).standard_normal((N_REPLICATES, case.bins.n))
    complete = case.seen.complete[case.features]
    most = _most_tested(case)
    with of_models_not_kept():
        fewer, here = (
            rank_test(case.pairs, model.cumulants, complete, number, multipliers)
            if 1 <= number <= most
            else None
            for number in (k - 1, k)
        )
    if fewer is not None and not fewer.more:
        yield Concern(
            "too_many_components",
            f"{k} {case.components} are more than the second moments support: with {k - 1} the "
            f"largest eigenvalue left, {fewer.eigenvalue:.3g}, is already within the noise, "
            f"{fewer.noise:.3g}. Use fewer, or n_components='auto' to have the number chosen.",
        )
    elif here is not None and here.clearly_more:
        yield Concern(
            "too_few_components",
            f"{k} {case.components} leave an eigenvalue of {here.eigenvalue:.3g} in the second "
            f"moments, above the noise, {here.noise:.3g}. There may be more of them, or columns "
            f"go along with each other within {case.components}, which the model does not "
            "allow for.",
        )


def _most_tested(case: Case) -> int:
    """The largest number of components that leaves dimensions to look for more in."""
    n_features = int(np.count_nonzero(case.features))
    return min(n_features - 1, case.fitted.model.cumulants.most_components(n_features))


def noise_of_spectrum(case: Case) -> float | None:
    """What eigenvalues of ``diagnostics_.spectrum`` stay below if they are only noise.

    None if that cannot be told: too many features, or a model that has no such test.
    """
    model, weights = case.fitted.model, case.fitted.feature_weights[case.features]
    k = case.fitted.n_components
    everything = np.array_equal(case.features, case.fitted.kept) and (weights > 0).all()
    if not (everything and model.abilities.rank_tests) or case.unseen_pairs:
        return None
    if k > _most_tested(case):
        return None
    multipliers = np.random.default_rng(0).standard_normal((N_REPLICATES, case.bins.n))
    complete = case.seen.complete[case.features]
    with of_models_not_kept():
        return rank_test(case.pairs, model.cumulants, complete, k, multipliers, weights).noise
