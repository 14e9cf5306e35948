"""Which kind of covariance, and how many factors, a table asks for."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from halfseen.doubt.choice import Choice
from halfseen.doubt.cross_scores import of_models_not_kept
from halfseen.doubt.number_of_components import choose
from halfseen.doubt.preferred import Candidate, preferred
from halfseen.method.plan import Settings
from halfseen.models.gaussian_mixture.covariance_types import CORRELATED
from halfseen.moments.recorded import recorded
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Mask
from halfseen.rows.rows import Rows

KINDS = ("tied_diag", "diag", "factor", "tied", "full")
NUMBERS_OF_FACTORS, A_FEW_NUMBERS = (1, 2, 4, 8, 16), (2, 4, 8)
"""That are tried where factors are asked for, and where they are one kind of several."""
MOST_FEATURES = 200
"""Tables of more have factors, and no array of all pairs of features for each component."""


class Option(NamedTuple):
    """A kind of covariance, with so many factors if it has any."""

    kind: str
    n_factors: int | None

    @property
    def name(self) -> str:
        """As users would ask for it."""
        factors = "" if self.n_factors is None else f", n_factors={self.n_factors}"
        return f"covariance_type='{self.kind}'{factors}"

    def n_free(self, k: int, d: int) -> int:
        """How many numbers it has to learn."""
        pairs, q = d * (d + 1) // 2, self.n_factors or 0
        of_covariances = {
            "tied_diag": d,
            "diag": k * d,
            "factor": k * d + d * q,
            "tied": pairs,
            "full": k * pairs,
        }
        return k * (d + 1) + of_covariances[self.kind]


class Decided(NamedTuple):
    """What a fit is to be."""

    option: Option
    n_components: int
    choice: Choice | None  # how the number of components was, if it was open
    reason: str


def options_for(covariance_type: str, n_factors: int | str, n_features: int) -> list[Option]:
    """What there is to choose from."""
    kinds = KINDS if covariance_type == "auto" else (covariance_type,)
    wide = n_features > MOST_FEATURES
    found = []
    for kind in kinds:
        if kind == "factor":
            found += [Option(kind, q) for q in _numbers(n_factors, n_features, len(kinds) > 1)]
        elif not (wide and kind in CORRELATED and covariance_type == "auto"):
            found.append(Option(kind, None))
    return found


def _numbers(n_factors: int | str, n_features: int, of_several: bool) -> list[int]:
    if not isinstance(n_factors, str):
        return [max(1, min(int(n_factors), n_features - 1))]
    if of_several:  # factors that say less than covariances do are fewer by far than columns
        return [q for q in A_FEW_NUMBERS if q <= n_features // 4]
    return [q for q in NUMBERS_OF_FACTORS if q == 1 or q <= n_features // 3]


def _first_alike(options: list[Option], option: Option) -> Option:
    """The kind that the number of components is chosen for.

    Covariances that differ by component have their own; others have that of independent columns,
    or of covariances that are shared.
    """
    if option.kind == "full":
        return option
    alike = [o for o in options if (o.kind in CORRELATED) == (option.kind in CORRELATED)]
    return next((o for o in alike if o.kind == "tied"), alike[0])


def decide(estimator: Any, settings: Settings, rows: Rows, seen: Survey) -> Decided:
    """By how likely held-out rows are; each kind with the number of components that it supports."""
    n_features = int(np.count_nonzero(seen.kept))
    options = options_for(estimator.covariance_type, estimator.n_factors, n_features)
    # Fits that are compared differ in their kind and rows, not in their luck.
    steady = replace(
        settings, random_state=0 if settings.random_state is None else settings.random_state
    )
    choices: dict[Option, Choice] = {}

    def number(option: Option) -> int:
        """Of components."""
        if settings.n_components != "auto":
            return int(settings.n_components)
        first = _first_alike(options, option)
        if first not in choices:
            like = _like(estimator, first)
            choices[first] = choose(settings, like._model(), rows, seen, candidate=like.candidate())
        return choices[first].n_components

    with of_models_not_kept():
        numbers = {one: number(one) for one in options}
        simplest_first = sorted(options, key=lambda one: one.n_free(numbers[one], n_features))
        candidates = [
            Candidate(one.name, _like(estimator, one).candidate(), numbers[one])
            for one in simplest_first
        ]
        place, reason = preferred(candidates, steady, rows, _measured(rows, seen))
    chosen = simplest_first[place]
    choice = choices.get(_first_alike(options, chosen))
    return Decided(chosen, numbers[chosen], choice, reason)


def _like(estimator: Any, option: Option) -> Any:
    """The same estimator of one kind."""
    like = clone(estimator).set_params(covariance_type=option.kind)
    return like if option.n_factors is None else like.set_params(n_factors=option.n_factors)


def _measured(rows: Rows, seen: Survey) -> Mask:
    """Features without spikes: the probability of a spike is no density to compare with."""
    found = recorded(rows.select(seen.kept), seen.of_kept().sums)
    measured = np.zeros(len(seen.kept), bool)
    measured[seen.kept] = np.isnan(found.spike)
    return measured
