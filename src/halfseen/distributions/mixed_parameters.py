"""Parameters of mixtures of mixed columns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.block import made_once
from halfseen.distributions.column_kinds import Kind, of_counts, of_levels, of_numbers
from halfseen.distributions.normal_parameters import MixtureParameters
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
)

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
        return of_numbers(self.kinds)

    @property
    def counts(self) -> Mask:
        """Columns that count; (d,)."""
        return of_counts(self.kinds)

    @property
    def of_levels(self) -> Mask:
        """Columns of which each value has a probability; (d,)."""
        return of_levels(self.kinds)

    @made_once
    def all_numbers(self) -> bool:
        """Whether there are no other columns, and gaps tell nothing."""
        return bool(self.numbers.all()) and not self.informative

    @made_once
    def informative(self) -> bool:
        """Whether gaps tell of the component."""
        return bool(np.isfinite(self.presence).any())

    @made_once
    def of_numbers(self) -> MixtureParameters:
        """The same mixture, seen through its continuous columns."""
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
        """The same with its continuous columns as ``part`` has them."""
        changed = {}
        for name in ("means", "centres", "variances", "spike_shares"):
            every = getattr(self, name).copy()
            every[:, self.numbers] = getattr(part, name)
            changed[name] = every
        return replace(self, outlier_share=part.outlier_share, **changed)


def profiles(model: Any) -> dict[str, dict[str, Any]]:
    """One entry for each column that is used, with arrays (k,) of what it is like in the classes.

    Continuous columns have ``mean`` and ``std``, counts ``rate`` and ``std``, others
    ``probabilities`` by category.
    """
    names, codes = model.coding_.names, model.kind_codes_
    return {name: _profile(model, d) for d, name in enumerate(names) if not np.isnan(codes[d])}


def _profile(model: Any, d: int) -> dict[str, Any]:
    kind = Kind(int(model.kind_codes_[d]))
    spread = np.sqrt(_variances(model)[:, d])
    if kind is Kind.CONTINUOUS:
        return {"kind": kind.word, "mean": model.means_[:, d], "std": spread}
    if kind is Kind.COUNT:
        return {"kind": kind.word, "rate": model.rates_[:, d], "std": spread}
    shares = model.level_shares_[:, :, d]
    return {
        "kind": kind.word,
        "probabilities": dict(zip(categories(model, d), shares, strict=False)),
    }


def _variances(model: Any) -> Array:
    """Of all columns in each class, for those that are used; (k, d)."""
    fitted = model.fitted
    found = np.full((model.n_components_, len(fitted.kept)), np.nan)
    found[:, fitted.kept] = fitted.model.emission.variances(fitted.parameters)
    return found


def categories(model: Any, d: int) -> list[Any]:
    """The values of a column of few values: words, or numbers."""
    values = model.level_values_[:, d]
    values = values[np.isfinite(values)]
    labels = model.coding_.labels[d]
    if labels:
        return [labels[int(value)] for value in values]
    return [int(value) if value == int(value) else float(value) for value in values]
