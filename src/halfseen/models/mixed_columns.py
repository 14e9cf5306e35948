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
from halfseen.inference.model import Abilities, Cumulants

ONE_WAY = {
    "method": ("weighted", "full", "partial"),
    "third_moment": ("auto",),
    "moments": ("available",),
    "incomplete_features": ("regress",),
}
"""Parameters of which models of mixed columns know fewer values than others."""
MOST_COMPONENTS = 8
"""That are tried where their number is to be chosen."""


class MixedColumnMoments(Cumulants[Any]):
    """The moments of mixed columns, which have a start of their own."""

    def rank(self, n_components: int) -> int:
        return n_components - 1

    def most_components(self, n_features: int) -> int:
        return MOST_COMPONENTS  # components that moments do not tell apart, likelihood may


class MixedColumnsEstimator(Estimator):
    """Base class of estimators of mixed columns.

    Parameters
    ----------
    kinds : "auto" or dict, default="auto"
        Kinds of columns by name (or number): ``"continuous"``, ``"count"``, ``"categorical"``,
        ``"ordinal"``, ``"binary"`` or ``"ignored"``. Those of other columns are found from the
        data: text and categories are categorical, numbers of few different values ordinal, which
        is learned as categorical and may be declared continuous instead.
    feature_weights : {"auto", "observed", "sqrt", "none"} or array, default="auto"
        The weights of columns in the moments. ``"auto"`` is ``"sqrt"``: the root of the fraction
        of rows in which a column is observed.
    third_moment : {"auto"}, default="auto"
        Third moments of distinct columns are never formed.
    moments : {"available"}, default="available"
        Moments are taken from the rows that hold what each needs.
    incomplete_features : {"regress"}, default="regress"
        Moments of distinct columns tell of all of them.

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
        How common each component is.
    means_ : ndarray of shape (k, d)
        Means of the columns that have one, in each component; NaN for columns of several
        categories.
    covariances_ : ndarray of shape (k, d)
        Variances of continuous columns in each component, NaN for others.
    centres_ : ndarray of shape (k, d)
        Where the normal of each component is: its means without spikes and skew. NaN for other
        columns.
    rates_ : ndarray of shape (k, d)
        Mean counts, NaN for columns that do not count.
    count_shapes_ : ndarray of shape (k, d)
        Shapes r of the counts' negative binomials, whose variance is ``μ + μ²/r``; NaN for columns
        that do not count.
    most_counts_ : ndarray of shape (d,)
        The highest count that is not taken for an error; NaN for columns that do not count.
    level_shares_ : ndarray of shape (l, k, d)
        How likely each component has each value of columns of few values; NaN beyond the last.
    level_values_ : ndarray of shape (l, d)
        What those values are: codes of ``coding_.labels``, or numbers; NaN beyond the last.
    presence_ : ndarray of shape (k, d)
        How likely each column is observed in each component, if gaps are informative; NaN if not.
    kind_codes_ : ndarray of shape (d,)
        The kinds of columns as numbers; ``kinds_`` has them by name, and in words.
    coding_ : Coding
        How text became numbers: the labels of each column.
    outlier_share_ : float
        How many of the observed continuous cells are outliers: of no component.
    spike_values_ : ndarray of shape (d,)
        The value that many cells of a continuous column hold exactly; NaN if there is none.
    second_values_ : ndarray of shape (d,)
        The other value of continuous columns that hold two; NaN for others.
    spike_shares_ : ndarray of shape (k, d)
        How often each component holds the column's spike; NaN for columns without one.
    typical_values_ : ndarray of shape (d,)
        The middle of each continuous column, from which outliers are far; NaN for others.
    typical_spreads_ : ndarray of shape (d,)
        How far the bulk of its values is from there; NaN for others.
    """

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
        """The emission; gaps may be ``informative``."""
        normal = Normal(SHAPES["diag"], self.outliers is not None, self.prior or 0.0)
        prior_rows = (self.prior or 0.0) * PRIOR_ROWS
        return Mixed(normal, declared_kinds(self), informative, prior_rows=prior_rows)

    def _abilities(self, components: str) -> Abilities:
        """The abilities of models that are learned by likelihood."""
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
        """A description of each used column in each component, by name."""
        return profiles(self)
