"""The contract of a model, which is all that anybody may ask of one.

A model says which latent variables are behind a row (one component, loadings, ...) and how columns
arise from them. The pipeline, estimators, diagnostics, the report and the command line know models
only by what is written here.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import plural
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows
from halfseen.inference.parameters import declared
from halfseen.inference.tensor_decomposition import Decomposition
from halfseen.moments.missing_patterns import Gaps
from halfseen.moments.regression import Regression
from halfseen.moments.second_moment import Moments
from halfseen.moments.survey import Survey
from halfseen.moments.third_moment import ProjectedThird
from halfseen.moments.whitening import Signal, Whitening

if TYPE_CHECKING:  # plans know models, and what a start is given is typed all the same
    from halfseen.inference.plan import FitPlan, Routes

P = TypeVar("P")
Q_co = TypeVar("Q_co", covariant=True)


@dataclass(frozen=True)
class About:
    """A model in words, for people."""

    name: str  # by which the command line calls it
    noun: str  # what a component is to people: "group", "topic", "state"
    gives: str  # what it makes of a table, for help
    assumes: str  # a sentence for the page
    weighting: str  # what feature_weights="auto" stands for
    labels: bool  # whether what is hidden is one component a row
    counts: bool  # whether columns hold counts, which have no other scale than their own
    sequences: bool = False  # whether rows follow each other


@dataclass(frozen=True)
class Abilities:
    """What can be asked of a model.

    Nothing has a default: what is not thought of would be a yes, and silently wrong.
    """

    thin_products: bool  # moments can do without an array of all pairs of features
    rank_tests: bool  # all that components leave of the second moments is noise
    not_streamed: str  # why rows that are seen only once are not enough; empty if they are
    no_intervals: str  # why there are no confidence intervals; empty if there are
    no_weights: str  # why weights of features play no part in the end; empty if they do
    refine_candidates: bool  # fits that are only compared are worth refining
    scored_rows: int | None  # rows that are enough to compare likelihoods, if those are slow


@dataclass(frozen=True, eq=False)
class Evidence:
    """The moments, weights and whitened space that a model is read off."""

    n_components: int
    moments: Moments
    signal: Signal
    weights: Array  # (d,)  of the features
    whitening: Whitening
    third: ProjectedThird


@dataclass(frozen=True, eq=False)
class Start:
    """Where components are by the moments, and how good those are."""

    found: Any  # as read off the moments, with incomplete features
    used: Mask  # (kept,)  features that the moments were taken of
    weights: Array  # (used,)
    gaps: Gaps  # of the same
    spectrum: Array  # eigenvalues of the weighted signal, largest first
    n_kept: int  # of them
    decomposition: Decomposition
    route: str  # by which the third moment was had
    reason: str
    n_unseen: int  # triples that no row holds together


MomentStart = Callable[["Model[Any]", Rows, "FitPlan", "Routes", Stages], Start]
"""Finds where components are by the moments of winsorised rows, for a plan and its routes."""

Decompose = Callable[[Array], Decomposition]
"""From a symmetric tensor (k, k, k) to its decomposition."""


class Cumulants(Generic[Q_co]):
    """A model as the method of moments sees it.

    A subclass says what its signal is and how parameters are read; the rest has defaults. What is
    read off the moments may say more than the model's own parameters.
    """

    @property
    def centred(self) -> bool:
        """Whether moments are about the mean rather than about zero."""
        return True

    def rank(self, n_components: int) -> int:
        """The rank of the signal with that many components."""
        return n_components

    def most_components(self, n_features: int) -> int:
        """How many components so many features can tell from noise, which needs a dimension."""
        return max(n_features - 1, 1)

    def signal(self, moments: Moments, complete: Mask, n_components: int) -> Signal:
        """The part of the second moment that the components explain."""
        raise NotImplementedError(f"{type(self).__name__} forms no second moment")

    def beyond(self, signal: Signal) -> Array:
        """Directions (d, m), beyond the whitening, in which the third moment is needed."""
        return signal.null[:, :0]

    def read(self, evidence: Evidence, decompose: Decompose) -> tuple[Q_co, Decomposition]:
        """Parameters for the features in the evidence, and the decomposition they are read off.

        The tensor to decompose is, for the true moments, ``Σ_k λ_k v_k ⊗ v_k ⊗ v_k`` with one
        orthonormal v_k a component. A model with a number to search for may decompose many.
        """
        raise NotImplementedError(f"{type(self).__name__} forms no third moment")


class Convergence(NamedTuple):
    """How the likelihood was maximised."""

    log_likelihood: float | None  # mean of the rows, of what is observed in them; if known
    n_iterations: int  # passes over the rows
    converged: bool
    start: str = "moments"  # the one that led highest
    n_starts: int = 1
    n_agreeing: int = 1  # starts that led to the same place
    work: float = 0.0  # passes over all rows that all starts took together
    n_rows: float = 1.0  # that the mean is of: those of nothing but features left out are none
    gain: float | None = None  # in nats for each item that is counted; if known


class EMResult(NamedTuple, Generic[P]):
    """Parameters of higher likelihood, and how EM got there."""

    parameters: P
    convergence: Convergence


class Cells(NamedTuple):
    """Expected value and variance of every cell given the observed ones, (n, d) each."""

    mean: Array
    variance: Array


Each = Callable[[Callable[[Block], Array]], Array]
"""Applies a function to all rows, a block at a time, and returns what it gives of each row."""


def anything(seen: Survey) -> None:
    """Accept all values: the check of models without restrictions."""


class Likelihood(ABC, Generic[P]):
    """What a model says of rows, given its parameters."""

    @abstractmethod
    def log_likelihood(self, block: Block, parameters: P) -> Array:
        """Log-likelihood of the observed cells of each row; shape (n,)."""

    @abstractmethod
    def expected_latent(self, block: Block, parameters: P) -> Array:
        """Posterior probabilities of components, or expected loadings, of each row; (n, k)."""

    @abstractmethod
    def cells(self, block: Block, parameters: P) -> Cells:
        """Expected value and variance of every cell, given what is observed in its row."""

    @abstractmethod
    def fill(self, each: Each, parameters: P, number: int, random: Any) -> list[Array]:
        """Draw ``number`` complete tables (n, d), given what is observed in each row."""

    @abstractmethod
    def draw(self, parameters: P, n_rows: int, random: Any) -> tuple[Array, np.ndarray[Any, Any]]:
        """Draw rows without gaps (n, d), and the latent variables behind them."""

    def fills(self, block: Block, parameters: P) -> Cells:
        """What a gap would be filled with in every cell, and how uncertain that is."""
        return self.cells(block, parameters)

    def unusual(self, block: Block, parameters: P) -> Array:
        """How unlike the rows learned from each row is, from 0 to 1; shape (n,)."""
        return np.zeros(len(block))

    def limits(self, kept: Survey) -> Array:
        """The lowest and the highest value of each feature that is no outlier; (2, d)."""
        return np.array([kept.sums.minimum, kept.sums.maximum])


class MomentReading(Generic[P]):
    """How a model is read off the moments of rows."""

    @property
    def uses_row_numbers(self) -> bool:
        """Whether something is known of rows by their numbers, so that they stay in their order."""
        return False

    def adapted_to(self, rows: Rows, kept: Survey) -> Self:
        """The same model with limits that suit a table."""
        return self

    def winsorised(self, rows: Rows, kept: Survey) -> Rows:
        """The rows as moments should see them, without the influence of outliers."""
        return rows

    def regression(self, kept: Survey) -> Regression[Any] | None:
        """How incomplete features are found from complete ones; None if moments tell them all."""
        return None

    def from_moments(self, read: Any) -> P:
        """The model's own parameters, from what was read off the moments."""
        parameters: P = read
        return parameters


@dataclass(frozen=True, eq=False, kw_only=True)
class Refinement(Generic[P]):
    """How parameters come to higher likelihood, and what can be asked of them then."""

    about: About
    abilities: Abilities

    refinement_adds_components: ClassVar[bool] = False
    """Whether EM finds components that the moments do not know of."""

    def should_refine(self, kept: Survey) -> tuple[bool, str]:
        """Whether to maximise the likelihood if that is left open, and why in a sentence."""
        return True, ""

    def refine(
        self, rows: Rows, start: P, n_components: int, kept: Survey, seed: Callable[[], int]
    ) -> EMResult[P]:
        """Parameters of higher likelihood than ``start``; ``seed`` gives one if chance is needed.

        A start may have fewer components, if moments could not tell more of them apart.
        """
        return EMResult(start, Convergence(None, 0, True))

    def step(self, rows: Rows, parameters: P) -> EMResult[P]:
        """One step of EM by one sum over the rows, with the mean log-likelihood before it."""
        raise ValueError(
            f"{plural(self.about.noun).capitalize()} are refined by draws for every row, which "
            "sums do not hold. Stay with what the moments say."
        )

    def replicated(self, rows: Rows, parameters: P, bins: Bins, weights: Array) -> list[P]:
        """What refined parameters would be with bins counting ``weights`` (b, g) times."""
        raise ValueError(self.abilities.no_intervals)


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(Refinement[P], MomentReading[P], Likelihood[P]):
    """A latent-variable model: one file, or one folder, and one line in the registry.

    Required are three declarations (``about``, ``abilities``, ``cumulants``) and five functions of
    parameters: ``log_likelihood``, ``expected_latent``, ``cells``, ``fill`` and ``draw``. All other
    members have defaults, which a model overrides where it knows better.
    """

    cumulants: Cumulants[Any]
    axes: Mapping[str, str] = field(default_factory=dict)  # of fields that may be shared
    check: Callable[[Survey], None] = anything  # refuses values that the model cannot have
    caution: Callable[[Survey], None] = anything  # warns of a table that does not suit the model
    moment_start: MomentStart | None = None  # another way to begin than by the cumulants

    @property
    def checks(self) -> Sequence[Callable[[Any], Iterator[Any]]]:
        """Concerns of this model only: functions from a ``ConcernContext`` to concerns."""
        return ()

    def shares(self, parameters: Any) -> Array:
        """How common the components are; shape (k,)."""
        weights: Array = parameters.weights
        return weights

    def places(self, parameters: P, home: P) -> Array:
        """Where components are, in units of ``home``, to match those of two fits; (k, d)."""
        ways = (one for one in declared(parameters) if one.axes[-1] == "kd")
        return np.hstack([getattr(parameters, one.field) for one in ways])
