"""The one seam: what a model says of itself, and all that anybody may ask of it.

A model says what is hidden (one component a row, loadings, ...) and how columns arise from it. The
method, the estimators' verbs, the doubts, the page and the command line know models only by what
is written here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows
from halfseen.inference.tensor_decomposition import Decomposition
from halfseen.moments.missing_patterns import Gaps
from halfseen.moments.regression import Regression
from halfseen.moments.second_moment import Moments
from halfseen.moments.survey import Survey
from halfseen.moments.third_moment import ProjectedThird
from halfseen.moments.whitening import Signal, Whitening

P = TypeVar("P")
Q_co = TypeVar("Q_co", covariant=True)


@dataclass(frozen=True)
class About:
    """A model in words."""

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
    """What the data said: everything that a model is read off."""

    n_components: int
    moments: Moments
    signal: Signal
    weights: Array  # (d,)  of the features
    whitening: Whitening
    third: ProjectedThird


@dataclass(frozen=True, eq=False)
class Start:
    """Where components are by the moments, and what those were like."""

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


Decompose = Callable[[Array], Decomposition]
"""From a symmetric tensor (k, k, k) to its decomposition."""


class Cumulants(Protocol[Q_co]):
    """A model as the method of moments sees it.

    What is read off the moments may say more than the model's own parameters.
    """

    @property
    def centred(self) -> bool:
        """Whether moments are taken about the mean rather than about zero."""

    def rank(self, n_components: int) -> int:
        """The rank of the signal with that many components."""

    def most_components(self, n_features: int) -> int:
        """How many components so many features can tell from noise."""

    def signal(self, moments: Moments, complete: Mask, n_components: int) -> Signal:
        """The part of the second moment that the components explain."""

    def beyond(self, signal: Signal) -> Array:
        """Directions (d, m), beyond the whitening, in which the third moment is needed."""

    def read(self, evidence: Evidence, decompose: Decompose) -> tuple[Q_co, Decomposition]:
        """Parameters for the features in the evidence, and the decomposition they are read off.

        The tensor to decompose is, for the true moments, ``Σ_k λ_k v_k ⊗ v_k ⊗ v_k`` with one
        orthonormal v_k a component. A model with a number to search for may decompose many.
        """


class Convergence(NamedTuple):
    """How a likelihood was climbed."""

    log_likelihood: float | None  # mean of the rows, of what is observed in them; if known
    n_iterations: int  # passes over the rows
    converged: bool
    start: str = "moments"  # the one that led highest
    n_starts: int = 1
    n_agreeing: int = 1  # starts that led to the same place
    work: float = 0.0  # passes over all rows that all starts took together
    n_rows: float = 1.0  # that the mean is of: those of nothing but features left out are none
    gain: float | None = None  # in nats for each item that is counted; if known


class EMResult(NamedTuple):
    """Parameters of higher likelihood, and how they were reached."""

    parameters: Any
    convergence: Convergence


class Cells(NamedTuple):
    """What is expected in every cell of some rows given what is observed in each, (n, d) each."""

    mean: Array
    variance: Array


Each = Callable[[Callable[[Block], Array]], Array]
"""Applies a function to all rows, a block at a time."""


class Model(Protocol[P]):
    """A latent-variable model: one file, or one folder, and one line in the registry."""

    @property
    def about(self) -> About:
        """In words."""

    @property
    def abilities(self) -> Abilities:
        """What can be asked of it."""

    @property
    def starts(self) -> bool:
        """Whether refinement finds components that the moments do not know of."""

    @property
    def numbered(self) -> bool:
        """Whether something is known of rows by their numbers, so that they stay in their order."""

    @property
    def axes(self) -> Mapping[str, str]:
        """Of fields that may be shared: the axes that they have."""

    @property
    def cumulants(self) -> Cumulants[Any]:
        """How it shows in moments."""

    @property
    def checks(self) -> Sequence[Callable[[Any], Iterator[Any]]]:
        """What else may speak against it: functions from a case to concerns."""

    def check(self, seen: Survey) -> None:
        """Refuse values that it cannot have."""

    def caution(self, seen: Survey) -> None:
        """Warn of a table that it does not suit."""

    def start(self, winsorised: Rows, plan: Any, routes: Any, stages: Stages) -> Start:
        """Where components are by the moments of ``winsorised`` rows, for a plan and its routes."""

    def regression(self, kept: Survey) -> Regression[Any]:
        """How incomplete features are found from complete ones, in what moments are read as."""

    def from_moments(self, read: Any) -> P:
        """Its own parameters, from what was read off the moments."""

    def adapted_to(self, rows: Rows, kept: Survey) -> "Model[P]":
        """The same with limits that suit a table."""

    def winsorised(self, rows: Rows, kept: Survey) -> Rows:
        """The rows as moments should see them: outliers do not decide those."""

    def should_refine(self, kept: Survey) -> tuple[bool, str]:
        """Whether to maximise the likelihood if that is left open, and why in a sentence."""

    def refine(
        self, rows: Rows, start: P, n_components: int, kept: Survey, seed: Callable[[], int]
    ) -> EMResult:
        """Climb from ``start`` to higher likelihood; ``seed`` gives one if chance is needed.

        A start may have fewer components, if moments could not tell more of them apart.
        """

    def step(self, rows: Rows, parameters: P) -> EMResult:
        """One step up the likelihood by one sum over the rows; refused if that is not enough.

        The EM run has the mean log-likelihood before the step.
        """

    def log_likelihood(self, block: Block, parameters: P) -> Array:
        """Of what is observed in each row; (n,)."""

    def expected_latent(self, block: Block, parameters: P) -> Array:
        """What is expected to be hidden behind each row: probabilities or loadings; (n, k)."""

    def cells(self, block: Block, parameters: P) -> Cells:
        """What is expected in every cell."""

    def fills(self, block: Block, parameters: P) -> Cells:
        """What a gap would be filled with in every cell, and how uncertain that is."""

    def unusual(self, block: Block, parameters: P) -> Array:
        """How unlike all that was learned each row is, from 0 to 1; (n,)."""

    def limits(self, kept: Survey) -> Array:
        """The lowest and the highest value of each feature that is no outlier; (2, d)."""

    def fill(self, each: Each, parameters: P, number: int, random: Any) -> list[Array]:
        """As many tables (n, d) as asked for, drawn given what is observed in each row."""

    def draw(self, parameters: P, n_rows: int, random: Any) -> tuple[Array, np.ndarray[Any, Any]]:
        """Rows without gaps (n, d), and what is hidden behind them."""

    def shares(self, parameters: P) -> Array:
        """How common the components are; (k,)."""

    def places(self, parameters: P, home: P) -> Array:
        """Where components are, in units of ``home``, to tell which is which; (k, d)."""

    def replicated(self, rows: Rows, parameters: P, bins: Bins, weights: Array) -> list[P]:
        """What refined parameters would be with bins counting ``weights`` (b, g) times."""
