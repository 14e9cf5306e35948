"""Parameters of mixtures of mixed columns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.block import made_once
from halfseen.distributions.column_kinds import by_kind, kind_of, those
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.inference.parameters import (
    ANY,
    BEHIND,
    BESIDE,
    FRACTION,
    GIVEN,
    POSITIVE,
    SHARE,
    SHOWN,
    learned,
    whole,
)
from halfseen.io.coding import COLUMN_KINDS

NOT_GIVEN: Any = None


@dataclass(frozen=True, eq=False)
class MixedParameters(MixtureParameters):
    """``x_d | component k`` by the kind of column d, independently of the other columns.

    Continuous columns are normal, as in :class:`MixtureParameters`; counts are negative binomial
    with rate μ_kd and shape r_kd, variance ``μ + μ²/r``; in other columns value l has probability
    θ_lkd. What a column's kind has no use for is NaN.
    """

    weights: Array = learned("weights_", "k", SHARE)  # π
    means: Array = learned(
        "means_", "kd", ANY, np.nan, SHOWN, values=("level_values", "spike", "other")
    )
    variances: Array = learned("covariances_", "kd", POSITIVE, np.nan)  # σ²
    centres: Array = learned("centres_", "kd", ANY, np.nan, BEHIND, default=NOT_GIVEN)
    rates: Array = learned("rates_", "kd", POSITIVE, np.nan, default=NOT_GIVEN)  # μ
    count_shapes: Array = learned("count_shapes_", "kd", POSITIVE, np.nan, BESIDE, default=None)
    most_counts: Array = learned("most_counts_", "d", ANY, np.nan, GIVEN, default=NOT_GIVEN)
    level_shares: Array = learned("level_shares_", "lkd", FRACTION, np.nan, default=None)  # θ
    level_values: Array = learned("level_values_", "ld", ANY, np.nan, GIVEN, default=NOT_GIVEN)
    presence: Array = learned("presence_", "kd", FRACTION, np.nan, default=NOT_GIVEN)
    kinds: Array = learned("kind_codes_", "d", ANY, np.nan, GIVEN, default=NOT_GIVEN)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kinds is not NOT_GIVEN:
            return
        nothing: Any = np.full(self.means.shape, np.nan)
        usual = dict.fromkeys(("rates", "count_shapes", "presence"), nothing)
        usual |= {"most_counts": nothing[0], "kinds": np.zeros(nothing.shape[1])}
        usual |= {"level_shares": nothing[None][:0], "level_values": nothing[:0]}
        for name, value in usual.items():
            object.__setattr__(self, name, value)

    @made_once
    def numbers(self) -> Mask:
        """Columns that are normal within a component; (d,)."""
        return those(self.kinds, "normal")

    @made_once
    def of_levels(self) -> Mask:
        """Columns with one probability per value; (d,)."""
        return those(self.kinds, "has_values")

    @made_once
    def tabulated(self) -> Mask:
        """Columns with densities in a lookup table; (d,)."""
        return those(self.kinds, "tabulated")

    @made_once
    def with_shapes(self) -> Mask:
        """Columns with a mean and a shape, such as counts; (d,)."""
        return ~(self.numbers | self.of_levels)

    @made_once
    def n_values(self) -> NDArray[np.intp]:
        """The number of values of categorical columns; (d,)."""
        return np.asarray(np.isfinite(self.level_values).sum(axis=0))

    @made_once
    def all_numbers(self) -> bool:
        """Whether all columns are continuous, without informative gaps."""
        return bool(self.numbers.all()) and not self.informative

    @made_once
    def informative(self) -> bool:
        """Whether gaps are informative."""
        return bool(np.isfinite(self.presence).any())

    @made_once
    def of_numbers(self) -> MixtureParameters:
        """The mixture of the continuous columns alone."""
        own = self.numbers
        return MixtureParameters(
            self.weights,
            self.means[:, own],
            self.variances[:, own],
            self.centres[:, own],
            self.spike_shares[:, own],
            self.outlier_share,
            self.middle[own],
            self.spread[own],
            self.spike[own],
            self.other[own],
        )

    def with_numbers(self, part: MixtureParameters) -> "MixedParameters":
        """The same with the continuous columns of ``part``."""
        changed = {}
        for name in ("means", "centres", "variances", "spike_shares"):
            every = getattr(self, name).copy()
            every[:, self.numbers] = getattr(part, name)
            changed[name] = every
        return replace(self, outlier_share=part.outlier_share, **changed)


def means_of(parameters: MixedParameters) -> Array:
    """Means of all columns in each component, categories as their numbers; (k, d)."""
    found = np.empty(parameters.means.shape)
    for kind, columns in by_kind(parameters.kinds):
        found[:, columns] = kind.means(parameters, columns)
    return found


def variances_of(parameters: MixedParameters) -> Array:
    """Variances of all columns in each component; (k, d)."""
    found = np.empty(parameters.means.shape)
    for kind, columns in by_kind(parameters.kinds):
        found[:, columns] = kind.variances(parameters, columns)
    return found


def profiles(model: Any) -> dict[str, dict[str, Any]]:
    """A description of each used column, with arrays (k,) over classes.

    Continuous columns have ``mean`` and ``std``, counts ``rate`` and ``std``, others
    ``probabilities`` by category.
    """
    fitted, codes = model.fitted, model.kind_codes_
    spread = whole(np.sqrt(variances_of(fitted.parameters)), fitted.kept, np.nan)
    return {
        name: kind_of(codes[d]).profile(spread[:, d], model, d)
        for d, name in enumerate(model.coding_.names)
        if not np.isnan(codes[d])
    }


def kind_words(model: Any) -> dict[str, str]:
    """The kind of each column of a fitted model, by name."""
    every = zip(model.coding_.names, model.coding_.kinds, model.kind_codes_, strict=True)
    return {name: said if np.isnan(code) else kind_of(code).word for name, said, code in every}


def declared_kinds(model: Any) -> dict[str, str]:
    """Declared kinds that models can use, by column."""
    coding = getattr(model, "coding_", None)
    if coding is None:
        return {}
    pairs = zip(coding.names, coding.kinds, strict=True)
    return {name: kind for name, kind in pairs if kind in COLUMN_KINDS}
