"""Concerns about topics: duplicates, outlying counts, overdispersion.

A negative binomial count has the variance ``λ + φ λ²`` given its rate λ. Covariances of different
features do not know of it, ``cov(x_i, x_j) = S_ij``, but variances do: ``cov(x_i, x_i) = S_ii +
E x_i + φ_i (S_ii + (E x_i)²)``. S has the rank of the topics, so its diagonal follows from what is
off it (principal axis factoring), and φ from the two.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import quoted
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject
from halfseen.latent.counts import count_limits
from halfseen.moments.resampling import BinSums, OriginSums

EXTRA_DIMENSIONS = 2
"""Dimensions beyond those of the topics that bursts have to outlast: topics may be too few."""
N_JACKKNIFE_PARTS = 20
SIGNIFICANCE = 0.01
MIN_DISPERSION = 0.1
"""A dispersion from which topics are off by more than their usual error."""
MIN_VARIANCE = 1e-200
"""Variances whose products are no numbers."""
MAX_ITERATIONS, TOLERANCE = 200, 1e-5


class Overdispersion(NamedTuple):
    """Dispersions of features given the topics, (d,) each."""

    dispersion: Array  # φ
    error: Array

    @property
    def clear(self) -> Mask:
        """Features that surely come in bursts; (d,)."""
        far = student.isf(SIGNIFICANCE / max(len(self.error), 1), N_JACKKNIFE_PARTS - 1)
        clear: Mask = (self.dispersion > MIN_DISPERSION) & (self.dispersion > far * self.error)
        return clear


def max_identified_rank(n_features: int) -> int:
    """The largest rank of a matrix whose diagonal follows from what is off it (Ledermann)."""
    return int(np.ceil((2 * n_features + 1 - np.sqrt(8 * n_features + 1)) / 2)) - 1


def overdispersion(sums: BinSums, n_topics: int) -> Overdispersion | None:
    """Dispersions with their jackknife errors; None if the features are too few to tell.

    A topic too few would show in the same way. Bursts stay if more dimensions are allowed for,
    though one dimension can take a feature's bursts; a topic does not.
    """
    most = max_identified_rank(len(sums.whole.origin))
    if most < n_topics or sums.n_bins < 2:
        return None
    found = _with_errors(sums, n_topics)
    if not found.clear.any():
        return found
    wider = _with_errors(sums, min(n_topics + EXTRA_DIMENSIONS, most))
    return found if wider.clear.any() else wider


def _with_errors(sums: BinSums, rank: int) -> Overdispersion:
    part = np.arange(sums.n_bins) % N_JACKKNIFE_PARTS
    found, start = _dispersions(sums.reweighted(np.ones(sums.n_bins)), rank, None)
    if np.isnan(start).any():  # a part may leave variances where the whole has none
        return Overdispersion(found, np.full(len(found), np.inf))
    with np.errstate(divide="ignore", invalid="ignore"):  # two features may then never meet
        others = [
            _dispersions(sums.reweighted((part != one).astype(float)), rank, start)[0]
            for one in range(part.max() + 1)
        ]
    n = len(others)
    away = np.array(others) - np.mean(others, axis=0)
    error = np.sqrt((n - 1) / n * np.sum(away**2, axis=0))
    return Overdispersion(found, np.where(np.isnan(error), np.inf, error))


def _dispersions(sums: OriginSums, rank: int, start: Array | None) -> tuple[Array, Array]:
    """φ of each feature, and the shares of variances that others tell, to start from; (d,) each."""
    moments = sums.moments(centred=True)
    variance = np.maximum(np.diagonal(moments.covariance), np.finfo(float).tiny)
    if not (
        np.isfinite(moments.covariance).all()
        and np.diagonal(moments.covariance).min() > MIN_VARIANCE
    ):
        unknown = np.full(len(variance), np.nan)
        return unknown, unknown
    share = communalities(moments.covariance, rank, start)
    signal = share * variance
    squares = np.maximum(signal + moments.mean**2, np.finfo(float).tiny)  # E λ²
    return (variance - moments.mean - signal) / squares, share


def communalities(covariance: Array, rank: int, start: Array | None) -> Array:
    """The shares of variances that a matrix of ``rank`` has, which fits all covariances; (d,)."""
    spread = np.sqrt(np.maximum(np.diagonal(covariance), np.finfo(float).tiny))
    correlation = covariance / np.outer(spread, spread)
    if start is None:  # from below, where no feature is a dimension of its own
        start = ((correlation - np.eye(len(spread))) ** 2).max(axis=1, initial=0.0)
    share = start
    for _ in range(MAX_ITERATIONS):
        np.fill_diagonal(correlation, share)
        values, vectors = np.linalg.eigh(correlation)
        kept = vectors[:, -rank:] ** 2 @ np.maximum(values[-rank:], 0.0)
        before, share = share, np.clip(kept, 0.0, 1.0)
        if np.abs(share - before).max(initial=0.0) < TOLERANCE:
            break
    return share


ALIKE = 0.95
"""The cosine from which two topics are nearly one."""


def alike(case: ConcernContext) -> Iterator[Concern]:
    """Warn of topics that are nearly the same."""
    topics = case.fitted.parameters.topics
    unit = topics / np.linalg.norm(topics, axis=1, keepdims=True)
    cosines = np.triu(unit @ unit.T, 1)
    i, j = map(int, np.unravel_index(cosines.argmax(), cosines.shape))
    if cosines[i, j] > ALIKE:
        yield Concern(
            "overlapping_components",
            f"{case.called(i).capitalize()} and {case.called(j)} are nearly the same (cosine "
            f"{cosines[i, j]:.2f}), so loadings are traded between them. Use fewer topics.",
        )


def bursty(case: ConcernContext) -> Iterator[Concern]:
    """Warn of counts that vary more than Poisson ones given the topics."""
    if case.unseen_pairs:
        return
    found = overdispersion(case.pairs, case.fitted.n_components)
    if found is None or not found.clear.any():
        return
    order = np.argsort(-found.dispersion, kind="stable")
    most = [i for i in order if found.clear[i]]
    middle = float(np.median(found.dispersion[most]))
    yield Concern(
        "bursts",
        f"Counts of {quoted(case.names, most)} vary more than Poisson counts do given the topics, "
        "as if their rates were multiplied by random factors with a standard deviation of "
        f"{np.sqrt(middle):.0%} (dispersion {middle:.2g}). What comes in bursts looks like a topic "
        "of its own: do not trust topics that are mostly one such column, nor likelihoods, and "
        "compare with a fit without these columns.",
    )


def odd_counts(case: ConcernContext) -> Iterator[Concern]:
    """Tell of counts, and lengths of rows, that look like errors."""
    fitted = case.fitted
    kept = case.seen.kept & fitted.kept
    rows, sums = case.rows.select(kept), case.seen.sums.select(kept)
    usual = count_limits(rows, sums)
    if usual.all_usual:
        return
    names = tuple(np.array(fitted.own_names, dtype=object)[kept])
    *wild, n_long = map(int, rows.accumulate(usual.tally))
    if any(wild):
        yield Concern(
            "wild_counts",
            _of_wild(wild, names, usual.most) + _what_of_it(case, sum(wild)),
            Subject.VALUES,
            Gravity.KNOW,
        )
    if n_long:
        are = "row is" if n_long == 1 else "rows are"
        yield Concern(
            "long_rows",
            f"{n_long} {are} far longer than the others: more than {usual.longest:.0f} is counted "
            f"there beside the largest count.{_what_of_it(case, n_long)}",
            Subject.VALUES,
            Gravity.KNOW,
        )


def _of_wild(wild: list[int], names: tuple[str, ...], most: Array) -> str:
    total, worst = sum(wild), int(np.argmax(wild))
    are = "count is" if total == 1 else "counts are"
    where = f"in '{names[worst]}', where it should be at most {most[worst]:.0f}"
    if wild[worst] < total:
        where = f"most in {quoted(names, np.argsort(wild, kind='stable')[::-1][:1])}"
    return f"{total} {are} far beyond what the others of the same column allow: {where}."


def _what_of_it(case: ConcernContext, number: int) -> str:
    they, were = ("It", "was") if number == 1 else ("They", "were")
    errors = "it is an error" if number == 1 else "they are errors"
    if case.fitted.settings.outliers is None:
        return f" {they} may decide the topics. Look whether {errors}, or use outliers='auto'."
    return f" {they} {were} left out of what was learned. Look whether {errors}."
