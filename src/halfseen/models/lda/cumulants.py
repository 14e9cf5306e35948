"""Cumulants of latent Dirichlet allocation.

With shares ``y = c/l - μ`` of a row's l items, whose shares given the row's topics are φ, and
``S = cov(φ)``, ``T`` the third central moment of φ,

    E[y⊗y]   = (1 - 1/l) S + 1/l (diag μ - μ⊗μ),
    E[y⊗y⊗y] = (1 - 1/l)(1 - 2/l) T + 1/l (1 - 1/l) (δ_ij S_ik - 2 S_ij μ_k, in three places)
               + 1/l² (δ_ijk μ_i - δ_ij μ_i μ_k in three places + 2 μ⊗μ⊗μ),

so that S and T follow from moments of rows however these are weighted. Third moments are taken in
directions in which μ has no part (it is none of those that topics differ in), so that terms with μ
alone vanish. Topics then are as in a mixture about its mean, with ``κ = 2√(α₀+1)/(α₀+2)`` in the
places of the constant: ``v_k0² = α_k/α₀`` and ``a_k = μ + √(α₀+1) B v_k/v_k0``.

References
----------
A. Anandkumar, D. Foster, D. Hsu, S. Kakade, Y. Liu (2012), A spectral algorithm for latent
Dirichlet allocation.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.messages import setting
from halfseen.data.progress import Stages
from halfseen.data.rows import Block, Rows
from halfseen.inference.method_of_moments import by_cumulants
from halfseen.inference.model import Cumulants, Decompose, Evidence, Start
from halfseen.inference.plan import (
    MOST_EXPLICIT,
    FitPlan,
    Routes,
    as_if_independent,
    check_used,
    choose,
)
from halfseen.inference.plan import routes as routes_of
from halfseen.inference.tensor_decomposition import Decomposition
from halfseen.latent.importance_sampling import importance_sample
from halfseen.latent.loadings import normalised_topics
from halfseen.models.lda.parameters import (
    SHORTEST,
    LdaParameters,
    LengthLaw,
    Lengths,
    LengthSums,
    ReadTopics,
    found_lengths,
    length_sums,
)
from halfseen.moments.second_moment import Moments, SecondMoment
from halfseen.moments.symmetric_tensors import bordered
from halfseen.moments.third_moment import Probe, ProjectedThird, explicit, implicit
from halfseen.moments.whitening import Signal, Whitening

GRID = np.geomspace(0.1, 30.0, 16)
COARSE = np.geomspace(0.1, 30.0, 9)
"""Concentrations that are tried, if none is given."""
LEAST_SHARE = 1e-3
"""Of a topic: it would be read off nothing but noise otherwise."""


@dataclass(frozen=True, eq=False)
class OfShares:
    """The operator ``(C - κ (diag μ - μ⊗μ)) / (1 - κ)``."""

    second: Any  # (d, d)
    mean: Array  # (d,)
    inverse: float  # κ, the mean of 1/l

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.mean), len(self.mean)

    def __matmul__(self, vectors: Array) -> Array:
        of_items = self.mean[:, None] * (vectors - self.mean @ vectors)
        found: Array = (self.second @ vectors - self.inverse * of_items) / (1 - self.inverse)
        return found

    def diagonal(self) -> Array:
        """Variances of expected shares of features; (d,)."""
        of_items = self.mean * (1 - self.mean)
        found: Array = (self.second.diagonal() - self.inverse * of_items) / (1 - self.inverse)
        return found


class CountCumulants(Cumulants[Any]):
    """The factorial moments of counts, whose rank is the number of topics.

    ``E[x⊗x] - diag(E x) = E[l(l-1)] E[φ⊗φ]``, however lengths vary.
    """

    def signal(self, moments: Moments, complete: Mask, n_components: int) -> Signal:
        """The factorial moment."""
        d, mean = len(moments.mean), moments.mean
        matrix = moments.second - moments.diagonal(mean) + np.outer(mean, mean)
        return Signal(matrix, noise=mean, null=np.empty((d, 0)), unit=np.ones(d))


@dataclass(frozen=True, eq=False)
class ShareCumulants(Cumulants[ReadTopics]):
    """Moments of rows as shares of their lengths."""

    lengths: LengthSums
    concentration: float | None  # α₀, if it is given
    likelihood: Callable[[ReadTopics], float]  # of some rows

    def rank(self, n_components: int) -> int:
        return n_components - 1

    def signal(self, moments: Moments, complete: Mask, n_components: int) -> Signal:
        """The covariance of shares without multinomial noise."""
        d, inverse = len(moments.mean), self.lengths.inverse
        thin = OfShares(moments.second, moments.mean, inverse)
        matrix: Any = thin @ np.eye(d) if moments.gaps.all_pairs else thin
        noise = inverse / (1 - inverse) * moments.mean
        return Signal(matrix, noise=noise, null=np.empty((d, 0)), unit=np.ones(d))

    def turned(self, whitening: Whitening, moments: Moments) -> Whitening:
        """The whitened space rotated so that the mean is one direction.

        What is taken off is what no topic differs from another in, by the features' weights.
        """
        weight, back, mean = whitening.weights[:, None] ** 2, whitening.back, moments.mean
        within = np.linalg.lstsq(back.T @ (weight * back), back.T @ (weight[:, 0] * mean))[0]
        apart = weight[:, 0] * (mean - back @ within)
        size = apart @ mean
        if not size > np.finfo(float).eps * (weight[:, 0] * mean) @ mean:
            return whitening
        along = mean @ whitening.forward / size
        return replace(whitening, forward=whitening.forward - np.outer(apart, along))

    def read(self, evidence: Evidence, decompose: Decompose) -> tuple[ReadTopics, Decomposition]:
        """Topics, at the concentration that fits the tensor best.

        Of two topics any concentration explains all of it: the likelihood of some rows decides.
        """
        third, k = self.third(evidence), evidence.n_components
        grid = np.ones(1) if k == 1 else COARSE if k == 2 else GRID
        if self.concentration is not None:
            grid = np.array([self.concentration])
        found = [(float(one), decompose(bordered(third, _constant(float(one))))) for one in grid]
        if len(found) > 1 and k == 2:
            read = [(self.topics(evidence, tensor, one), tensor) for one, tensor in found]
            return max(read, key=lambda pair: self.likelihood(pair[0]))
        concentration, best = min(found, key=lambda pair: pair[1].off_diagonal)
        return self.topics(evidence, best, concentration), best

    def third(self, evidence: Evidence) -> Array:
        """The whitened third central moment of expected shares; (k - 1, k - 1, k - 1)."""
        once, twice = self.lengths.inverse, self.lengths.inverse_square
        pairs, triples = once - twice, twice
        alike = evidence.third.alike(
            evidence.signal.matrix, triples / pairs * evidence.moments.mean
        )
        found: Array = (evidence.third.tensor - pairs * alike) / (1 - 3 * once + 2 * twice)
        return found

    def topics(
        self, evidence: Evidence, decomposition: Decomposition, concentration: float
    ) -> ReadTopics:
        """Topics and their shares, from the bordered tensor's components."""
        vectors = decomposition.vectors * np.where(decomposition.vectors[0] < 0, -1.0, 1.0)
        first = np.maximum(vectors[0], np.sqrt(LEAST_SHARE))
        places = evidence.whitening.back @ (vectors[1:] / first)  # (d, k)
        mean = evidence.moments.mean
        topics = normalised_topics(mean[:, None] + np.sqrt(concentration + 1) * places, mean)
        shares = first**2 / (first**2).sum()
        return ReadTopics.of(topics.T, shares, concentration, self.lengths.law)


def _constant(concentration: float) -> float:
    """The border of the tensor, which depends on the concentration."""
    return float(2 * np.sqrt(concentration + 1) / (concentration + 2))


N_SCORED = 200
"""Rows whose likelihood tells concentrations apart."""
FEWEST = 2.0
"""Rows in which a feature is observed, by weight, for moments of it."""


def by_shares(
    model: Any,
    winsorised: Rows,
    plan: FitPlan,
    routes: Routes,
    stages: Stages,
    totals: Array | None,
    concentration: float | None,
) -> Start:
    """Read topics off the moments of ``winsorised`` rows."""
    with stages("lengths of rows"):
        complete = bool((plan.winsorised.observed_fraction == 1).all())
        lengths = found_lengths(winsorised, plan.winsorised.mean, complete, totals)
        known = length_sums(winsorised, lengths)
        if plan.n_components == 1:
            return _single(
                winsorised, plan, routes.second, lengths, known.law, concentration or 1.0
            )
        _check_long(known)
        shares = winsorised.map(lengths.shared_out)
        sums = shares.accumulate(FeatureSums.of)
        # Features that vary in short rows only are found from the others.
        varied = (sums.count >= FEWEST) & (sums.minimum < sums.maximum)
        plan = replace(plan, winsorised=sums, used=plan.used & varied)
        check_used(plan.settings, plan.used)
    second, third = routes_of(plan, model, shares)
    if plan.n_components == 2:  # whose concentration rows decide, of the features that meet
        used = plan.used.copy()
        used[used] = second.meeting(shares.select(used), plan.winsorised.select(used))
        plan = replace(plan, used=used)
    stride = max(1, int(plan.kept.sums.n_rows // N_SCORED))

    def likelihood(read: ReadTopics) -> float:
        rows = winsorised.select(plan.used) if read.topics.shape[1] < len(plan.used) else winsorised
        return float(rows.accumulate(_likelihood(read.parameters(), stride)))

    cumulants = ShareCumulants(known, concentration, likelihood)
    reading = replace(model, cumulants=cumulants)
    way = Routes(second, automatic if plan.settings.third_moment == "auto" else third)
    return by_cumulants(
        reading, shares, plan, way, stages, turned=cumulants.turned, counted=winsorised
    )


def _check_long(known: LengthSums) -> None:
    if known.weight <= 0:
        raise DataError(
            f"No row counts {SHORTEST} items or more, and topics are told apart by what comes "
            "together in a row. Give rows that count more, such as whole documents, or use "
            + setting(n_components=1)
            + "."
        )


def _single(
    winsorised: Rows,
    plan: FitPlan,
    second: SecondMoment,
    lengths: Lengths,
    law: LengthLaw,
    concentration: float,
) -> Start:
    """One topic: overall shares of the features."""
    ones = np.ones(1)
    return Start(
        found=ReadTopics.of(lengths.share[None], ones, concentration, law),
        used=np.ones(len(plan.kept.names), dtype=bool),
        weights=np.ones(len(plan.kept.names)),
        gaps=second.gaps(winsorised, plan.winsorised),
        spectrum=np.zeros(0),
        n_kept=0,
        decomposition=Decomposition(ones, ones[:, None], 0.0),
        route="none",
        reason="one topic needs none",
        n_unseen=0,
    )


def automatic(rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
    """Choose between explicit triples and independent gaps."""
    route, reason = choose(moments, probe)
    if route not in (implicit, explicit):
        if not (moments.gaps.all_pairs and len(moments.mean) <= MOST_EXPLICIT):
            return as_if_independent(rows, moments, probe)
        route = explicit
    return replace(route(rows, moments, probe), reason=reason)


def _likelihood(parameters: LdaParameters, stride: int) -> Callable[[Block], Array]:
    """A summarise function of log-likelihoods of some of a block's rows."""

    def summarise(block: Block) -> Array:
        chosen = np.flatnonzero((block.start + np.arange(len(block))) % stride == 0)
        sample = importance_sample(block.rows(chosen), parameters, 0)
        return np.asarray(sample.log_likelihood.sum())

    return summarise
