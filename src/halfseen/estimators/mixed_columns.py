"""What estimators of tables with columns of several kinds share."""

from typing import Any, ClassVar

from halfseen.data.messages import setting
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.mixed import PRIOR_ROWS, Mixed
from halfseen.distributions.mixed_parameters import declared_kinds, kind_words, profiles
from halfseen.distributions.normal import Normal
from halfseen.estimators.estimator import Estimator
from halfseen.estimators.parameter_checks import (
    check_choice,
    check_non_negative,
    check_positive_integer,
)
from halfseen.inference.model import Abilities

ONE_WAY = {
    "method": ("weighted", "full", "partial"),
    "third_moment": ("auto",),
    "moments": ("available",),
    "incomplete_features": ("regress",),
}
"""Parameters of which models of mixed columns know fewer values than others."""


class MixedColumnsEstimator(Estimator):
    """An estimator whose columns may be of any kind, and which learns them by likelihood."""

    takes_kinds: ClassVar[bool] = True

    kinds: Any

    def _check(self) -> None:
        for name, known in ONE_WAY.items():
            check_choice(self, name, known)
        check_non_negative(self, "tol")
        check_positive_integer(self, "max_iter")
        if isinstance(self.feature_weights, str) and self.feature_weights == "signal":
            raise ValueError(
                setting(feature_weights="signal")
                + " is for columns of numbers alone. Use 'sqrt', which is as good for mixed ones."
            )

    def _emission(self, *, informative: bool = False) -> Mixed:
        """How columns arise in a component; gaps may be ``informative`` of it."""
        normal = Normal(SHAPES["diag"], self.outliers is not None, self._prior_strength)
        prior_rows = self._prior_strength * PRIOR_ROWS
        return Mixed(normal, declared_kinds(self), informative, prior_rows=prior_rows)

    def _abilities(self, components: str) -> Abilities:
        """What can be asked of a model that is learned by likelihood alone."""
        with_em = setting(refine="em")
        no_intervals = (
            "Without " + with_em + f" {components.lower()} have no intervals. Use " + with_em + "."
        )
        return Abilities(
            thin_products=False,
            rank_tests=False,
            not_streamed=f"{components} are learned by likelihood, which goes over rows again. Use "
            "fit(), which also takes files and batches that can be read again.",
            no_intervals="" if self.refine else no_intervals,
            no_weights=f"{components} are learned by likelihood, in which weights play no part.",
            refine_candidates=True,
            scored_rows=None,
        )

    @property
    def kinds_(self) -> dict[str, str]:
        """The kind of each column, by name: as found, or as declared."""
        return kind_words(self)

    @property
    def profiles_(self) -> dict[str, dict[str, Any]]:
        """What each column is like in the components, by name: one entry a column that is used."""
        return profiles(self)
