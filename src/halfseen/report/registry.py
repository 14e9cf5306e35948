"""Registry of portraits, by the type of a model's parameters.

A model that is not registered here is shown as groups of rows with the means of their columns.
"""

from dataclasses import dataclass, replace
from functools import partial, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, xlogy

from halfseen.data.arrays import Array
from halfseen.data.formatting import number
from halfseen.distributions.column_kinds import kind_of, those
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.distributions.outlier_limits import OutlierParameters
from halfseen.inference.fit import Fitted
from halfseen.inference.parameters import reordered, whole
from halfseen.latent.chain import ChainParameters
from halfseen.latent.loadings import LoadingPrior
from halfseen.latent.mutual_information import class_entropy, of_class
from halfseen.report.categories import Categories, numbered
from halfseen.report.classes import Classes
from halfseen.report.groups import Groups
from halfseen.report.hidden_states import States
from halfseen.report.portrait import Portrait
from halfseen.report.separation import Density, Separation
from halfseen.report.topics import Topics

FEW_LEVELS = 4
"""So few values are told one by one, though they have an average."""
BULK = 2.6
"""Spreads about the centre of a component that are drawn."""
PILED_UP = 0.01
"""Of all rows, what would lie beyond an end of the range if a curve went on: the end is no odd row,
and what is drawn says nothing of any."""


def portrait_of(learned: Any) -> Portrait:
    """The portrait of a fitted estimator, or of a ``Fitted``."""
    fitted = learned if isinstance(learned, Fitted) else learned.fitted
    return _portrait(fitted.parameters, fitted)


@singledispatch
def _portrait(parameters: Any, fitted: Fitted[Any]) -> Portrait:
    emission: Any = fitted.model.emission  # type: ignore[attr-defined]
    return Groups.of(fitted, emission.means(parameters), emission.variances(parameters))


@_portrait.register
def _topics(parameters: LoadingPrior, fitted: Fitted[Any]) -> Portrait:
    return Topics.of(fitted)


@_portrait.register
def _hidden_states(parameters: ChainParameters, fitted: Fitted[Any]) -> Portrait:
    classes = _classes(parameters, fitted)
    order = classes.order
    return States.made_of(classes, parameters.start[order], parameters.transition[order][:, order])


@_portrait.register
def _classes(parameters: MixedParameters, fitted: Fitted[Any]) -> Classes:
    emission: Any = fitted.model.emission  # type: ignore[attr-defined]
    kept = fitted.kept
    groups = Groups.of(fitted, emission.means(parameters), emission.variances(parameters))
    shares = fitted.name_of(parameters.weights)
    groups = replace(groups, learned_as=(fitted.name_of(parameters.means), shares))
    columns = np.flatnonzero(kept)  # of the table, for those of the parameters
    here = reordered(parameters, groups.order)
    nominal = np.zeros(len(kept), bool)
    few = here.of_levels & (here.n_values <= FEW_LEVELS)
    nominal[columns] = those(here.kinds, "nominal") | few
    made = Shown(fitted, here, columns)
    two = ~np.isnan(here.other)
    levels = [made.levels(i) for i in np.flatnonzero(here.of_levels)]
    pairs = [made.two_values(i) for i in np.flatnonzero(two)]
    gaps = [made.gaps(i) for i in np.flatnonzero(np.isfinite(here.presence).all(axis=0))]
    densities = [
        *(made.with_shape(i) for i in np.flatnonzero(here.with_shapes)),
        *(made.numbers(i) for i in np.flatnonzero(here.numbers & ~two)),
    ]

    def told(other: MixedParameters) -> Array:
        return whole(of_class(other, parameters), kept, np.nan)

    return Classes.made(
        groups,
        nominal,
        (*levels, *pairs, *gaps),
        tuple(densities),
        Separation(told(parameters), class_entropy(parameters.weights), told),
    )


@dataclass(frozen=True, eq=False)
class Shown:
    """Columns of a mixture, with components in the order shown.

    The parameters may be others that have what is asked for: normal ones have numbers.
    """

    fitted: Fitted[Any]
    parameters: Any
    columns: NDArray[np.intp]  # of the table, for each of the parameters

    def _name(self, i: np.intp) -> str:
        return str(self.fitted.own_names[self.columns[i]])

    def _own(self, i: np.intp, value: float) -> float:
        done, d = self.fitted.preprocessing, self.columns[i]
        row = np.zeros((1, len(self.fitted.kept)))
        row[0, d] = value
        return value if done is None else float(done.undo(row)[0, d])

    def _called(self, i: np.intp, values: Array) -> tuple[str, ...]:
        """Names of values: words, or numbers."""
        coding, d = self.fitted.coding, self.columns[i]
        if coding is not None and coding.labels[d]:
            return tuple(coding.labels[d][int(value)] for value in values)
        own = (self._own(i, float(value)) for value in values)
        return tuple(f"{value:.0f}" if value == int(value) else number(value) for value in own)

    def levels(self, i: np.intp) -> Categories:
        n = self.parameters.n_values[i]
        values, shares = self.parameters.level_values[:n, i], self.parameters.level_shares[:n, :, i]
        found = self._categories(i, values, shares)
        ordered = kind_of(self.parameters.kinds[i]).ordered or numbered(found.labels)
        return replace(found, ordered=bool(ordered))

    def two_values(self, i: np.intp) -> Categories:
        """A continuous column with two values."""
        p = self.parameters
        values, share = np.array([p.spike[i], p.other[i]]), p.spike_shares[:, i]
        return self._categories(i, values, np.array([share, 1 - share]))

    def _categories(self, i: np.intp, values: Array, shares: Array) -> Categories:
        column, weights = int(self.columns[i]), self.parameters.weights
        called = self._called(i, values)
        return Categories.of(column, self._name(i), called, values, shares, weights)

    def gaps(self, i: np.intp) -> Categories:
        chance, weights = self.parameters.presence[:, i], self.parameters.weights
        return Categories.missing(int(self.columns[i]), self._name(i), chance, weights)

    def with_shape(self, i: np.intp) -> Density:
        """A column with a mean and a shape, such as counts."""
        mean, shape = self.parameters.rates[:, i], self.parameters.count_shapes[:, i]
        kind: Any = kind_of(self.parameters.kinds[i])

        def below(x: Array) -> Array:
            return np.asarray(kind.below(x[:, None], mean, shape))

        low, high = kind.pictured(mean, shape)
        return self._density(i, low, high, below, counts=kind.whole)

    def numbers(self, i: np.intp) -> Density:
        p = self.parameters
        centre, spread = p.centres[:, i], np.sqrt(p.variances[:, i])
        low, high = centre - BULK * spread, centre + BULK * spread
        if np.isnan(p.spike[i]):
            return self._density(i, low, high, lambda x: ndtr((x[:, None] - centre) / spread))
        share = p.spike_shares[:, i]

        def beside(x: Array) -> Any:
            return (1 - share) * ndtr((x[:, None] - centre) / spread)

        density = self._density(i, low, high, beside)
        return density._replace(spike=float(p.spike[i]), at_spike=share)

    def _density(
        self, i: np.intp, low: Array, high: Array, below: Any, counts: bool = False
    ) -> Density:
        column, own = int(self.columns[i]), partial(self._own, i)
        floor, ceiling = (-np.inf, np.inf) if counts else self._ends(column, below)
        return Density(column, low, high, below, own, counts, floor=floor, ceiling=ceiling)

    def _ends(self, column: int, below: Any) -> tuple[float, float]:
        """Ends of density curves: zero, or an end of the range where values pile up."""
        low, high = self.fitted.possible.low[column], self.fitted.possible.high[column]
        least = 0.0 if low >= 0 else -np.inf
        under, until, every = below(np.array([low, high, np.inf])) @ self.parameters.weights
        floor = low if under > PILED_UP else least
        return float(floor), float(high if every - until > PILED_UP else np.inf)


MOST_CUTS, FEWEST_CUTS, REACH = 400, 16, 6.0
"""Where numbers are cut, to see what they tell: in so many places, so many spreads out."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Normal columns, some of them with a spike."""

    weights: Array  # (k,)
    centres: Array  # (k, d)  beside the spike
    variances: Array  # (k, d)
    spike: Array  # (d,)  NaN if there is none
    other: Array  # (d,)  the only other value, if there are two
    spike_shares: Array  # (k, d)

    @classmethod
    def of(cls, parameters: Any) -> "Numbers":
        centres = getattr(parameters, "centres", parameters.means)
        none = np.full(centres.shape, np.nan)
        variances = np.broadcast_to(parameters.variances, centres.shape)
        return cls(
            parameters.weights,
            centres,
            np.maximum(variances, np.finfo(float).tiny),
            getattr(parameters, "spike", none[0]),
            getattr(parameters, "other", none[0]),
            np.nan_to_num(getattr(parameters, "spike_shares", none)),
        )

    def ordered(self, order: Any) -> "Numbers":
        """The same with components in another order."""
        own = {name: getattr(self, name)[order] for name in ("weights", "centres", "variances")}
        return replace(self, **own, spike_shares=self.spike_shares[order])


def of_component(numbers: Numbers, home: Numbers) -> Array:
    """Mutual information of each column with the component, in nats; (d,).

    ``I(x; z) = Σ_x Σ_k π_k p_k(x) log(p_k(x) / p(x))`` over intervals, and the spike beside them.
    """
    weights, share = numbers.weights, numbers.spike_shares
    n_cuts = max(MOST_CUTS // len(weights), FEWEST_CUTS)
    away = np.linspace(-REACH, REACH, n_cuts)[:, None, None]
    # Cutting where the home parameters would keeps replicates of a bootstrap comparable.
    cuts = np.sort((home.centres + away * np.sqrt(home.variances)).reshape(-1, share.shape[1]), 0)
    below = ndtr((cuts[:, None] - numbers.centres) / np.sqrt(numbers.variances))  # (m, k, d)
    beside = np.diff(below, axis=0, prepend=0.0, append=1.0)
    beside = np.where(np.isnan(numbers.other), beside, 1 / len(beside))
    masses = np.concatenate([(1 - share) * beside, share[None]])
    together = np.einsum("k,mkd->md", weights, masses)
    nats = np.einsum("k,mkd->d", weights, xlogy(masses, masses)) - xlogy(together, together).sum(0)
    return np.asarray(np.maximum(nats, 0.0))


@_portrait.register(MixtureParameters)
@_portrait.register(OutlierParameters)
def _normal_groups(parameters: Any, fitted: Fitted[Any]) -> Portrait:
    emission: Any = fitted.model.emission  # type: ignore[attr-defined]
    kept = fitted.kept
    groups = Groups.of(fitted, emission.means(parameters), emission.variances(parameters))
    home = Numbers.of(parameters)
    shown = Shown(fitted, home.ordered(groups.order), np.flatnonzero(kept))
    two = ~np.isnan(home.other)

    def told(other: Any) -> Array:
        return whole(of_component(Numbers.of(other), home), kept, np.nan)

    return replace(
        groups,
        categories=tuple(shown.two_values(i) for i in np.flatnonzero(two)),
        densities=tuple(shown.numbers(i) for i in np.flatnonzero(~two)),
        separation=Separation(told(parameters), class_entropy(home.weights), told),
    )
