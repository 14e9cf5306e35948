"""The hidden Markov model: emissions and transitions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows, gathered
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity
from halfseen.distributions.column_kinds import kind_of
from halfseen.distributions.emission import posterior
from halfseen.inference.fit import Fitted
from halfseen.inference.model import About
from halfseen.inference.parameters import whole
from halfseen.latent.chain import CHAIN
from halfseen.latent.forward_backward import begins_of, filtered_states, smoothed

ABOUT = About(
    name="markov",
    noun="state",
    gives="states of rows that follow each other, such as visits of patients",
    assumes="The next state depends on the present one only, and within a state columns are "
    "independent of each other and of the rows before.",
    weighting="sqrt",
    labels=True,
    counts=False,
    sequences=True,
)


FEWEST = 10.0
"""Rows in a state, or sequences, below which nothing is said of it."""
LEFT = 0.5
"""Times that a state is left, by all rows, below which it is never left."""
THRESHOLD, DRIFT = 5.0, 0.05
"""Standard errors, and shares of rows, beyond which a change is told."""
SHORTEST = 4
"""Rows of sequences that have halves to compare."""
ALIKE = 0.02
"""Nats a row that knowing the row before must bring, for rows to need neighbours."""


def never_left(case: ConcernContext) -> Iterator[Concern]:
    """Warn of absorbing states."""
    if not _suits(case):
        return
    moves = _moved(case)[0]
    for i in np.flatnonzero(moves.sum(axis=1) >= FEWEST):
        left = float(moves[i].sum() - moves[i, i])
        if left < LEFT:
            yield Concern(
                "never_left",
                f"{case.called(int(i)).capitalize()} is never left once it is entered "
                f"({moves[i].sum():,.0f} steps from it). It may be an end, such as death or "
                "discharge, or a kind of sequence rather than a state that passes: look at who is "
                "in it.",
                gravity=Gravity.KNOW,
            )


def not_stationary(case: ConcernContext) -> Iterator[Concern]:
    """Warn if sequences change over time more than the chain predicts."""
    if not _suits(case):
        return
    _, halves, squares, n = _moved(case)
    if n < FEWEST:
        return
    mean = halves / n
    variance = np.maximum(squares / n - mean**2, 1e-12) / n
    away = mean / np.sqrt(variance)
    worst = int(np.abs(away).argmax())
    if abs(away[worst]) > THRESHOLD and abs(mean[worst]) > DRIFT:
        yield Concern(
            "not_stationary",
            f"Sequences change beyond what the model has: {case.called(worst)} is "
            f"{abs(mean[worst]):.0%} of rows {'more' if mean[worst] > 0 else 'less'} common half "
            "way through them than its transitions say. How states follow each other may depend "
            "on time: learn early and late rows apart, or add time as a column.",
            gravity=Gravity.CARE,
        )


def rows_alone(case: ConcernContext) -> Iterator[Concern]:
    """Warn if the order of rows adds nothing."""
    fitted = case.fitted
    if fitted.n_components < 2 or not case.rows.sequenced:
        return
    gain, error = _gain(case)
    if gain < ALIKE and gain < 5 * error:
        yield Concern(
            "rows_alone",
            f"The order of rows tells next to nothing: knowing the rows before one makes it "
            f"{max(gain, 0.0):.3f} nats likelier. A model of rows alone, LatentClass, says the "
            "same more simply.",
            gravity=Gravity.KNOW,
        )


def _suits(case: ConcernContext) -> bool:
    return case.fitted.n_components > 1 and case.rows.sequenced


def _moved(case: ConcernContext) -> tuple[Array, Array, Array, float]:
    """Transitions (k, k), and unexpected shares of states at the middle of sequences.

    Expected is what transitions make of the state of the first row.
    """
    emission: Any = case.fitted.model.emission  # type: ignore[attr-defined]
    parameters, k = case.fitted.parameters, case.fitted.n_components

    def summarise(block: Block) -> Array:
        _, shares, _, moves = smoothed(block, emission, parameters)
        begins = begins_of(block.sequence, len(block))
        drifts = [np.zeros((0, k))]
        for first, last in pairwise(begins):
            if last - first >= SHORTEST:
                # The middle, as far as possible from both ends, shows a drift best.
                middle = (first + last) // 2
                ahead = np.linalg.matrix_power(parameters.transition, int(middle - first))
                drifts.append((shares[middle] - shares[first] @ ahead)[None])
        drift = np.vstack(drifts)
        parts = moves.ravel(), drift.sum(axis=0), (drift**2).sum(axis=0), [len(drift)]
        return np.concatenate(parts)

    found = case.rows.select(case.fitted.kept).accumulate(summarise)
    moves, total, square, n = np.split(found, np.cumsum([k * k, k, k]))
    return moves.reshape(k, k), total, square, float(n[0])


def _gain(case: ConcernContext) -> tuple[float, float]:
    """The gain a row of the chain over independent rows, in nats, and its standard error."""
    emission: Any = case.fitted.model.emission  # type: ignore[attr-defined]
    parameters = case.fitted.parameters

    def summarise(block: Block) -> Array:
        height = CHAIN.posterior(block, emission, parameters).log_likelihood
        more = height - posterior(block, emission, parameters).log_likelihood
        return np.array([len(block), more.sum(), (more**2).sum()])

    n, total, square = case.rows.select(case.fitted.kept).accumulate(summarise)
    gain = total / max(n, 1.0)
    return float(gain), float(np.sqrt(max(square / max(n, 1.0) - gain**2, 0.0) / max(n, 1.0)))


CHECKS: tuple[Callable[[Any], Iterator[Any]], ...] = (never_left, not_stationary, rows_alone)


@dataclass(frozen=True, eq=False)
class Forecast:
    """Forecast states and columns."""

    states: Array  # (s, steps, k)  probabilities
    means: Array  # (s, steps, d)   of the columns; NaN for categories in no order
    stds: Array  # (s, steps, d)


def forecast_of(fitted: Fitted[Any], rows: Rows, steps: int) -> Forecast:
    """``φ A``, ``φ A²``, … from the filtered probabilities φ of each last row."""
    emission, parameters = fitted.model.emission, fitted.parameters  # type: ignore[attr-defined]

    def last(block: Block) -> Array:
        ends = begins_of(block.sequence, len(block))[1:] - 1
        return filtered_states(block, emission, parameters)[ends]

    law, states = gathered(rows, last), []
    for _ in range(steps):
        law = law @ parameters.transition
        states.append(law)
    every = np.stack(states, axis=1)
    means, variances = emission.means(parameters), emission.variances(parameters)
    mean = every @ means
    variance = np.maximum(every @ (variances + means**2) - mean**2, 0.0)
    nominal = fitted.nominal[fitted.kept]
    mean, variance = (np.where(nominal, np.nan, part) for part in (mean, variance))
    no_spread = np.where(np.isnan(fitted.constants), np.nan, 0.0)
    return Forecast(
        every,
        whole(mean, fitted.kept, fitted.constants),
        np.sqrt(whole(variance, fitted.kept, no_spread)),
    )


def to_hmmlearn(model: Any) -> Any:
    """One of hmmlearn's models with the same parameters, where it has such."""
    fitted = model.fitted
    kinds = {kind_of(code).word for code in fitted.parameters.kinds}
    continuous = bool(fitted.parameters.numbers.all())
    one_of_levels = len(fitted.parameters.kinds) == 1 and bool(fitted.parameters.of_levels.all())
    if not continuous and not one_of_levels:
        raise ValueError(
            "hmmlearn has models of continuous columns, or of one column of categories, and none "
            f"of {', '.join(sorted(kinds))} columns together."
        )
    if continuous and (fitted.parameters.spiked or fitted.parameters.outlier_share > 0):
        raise ValueError(
            "hmmlearn's states have no outliers and no spikes. Fit with outliers=None to compare."
        )
    try:
        from hmmlearn import hmm
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "to_hmmlearn() needs hmmlearn. Install it with: pip install hmmlearn"
        ) from missing
    parameters, k = fitted.parameters, fitted.n_components
    if continuous:
        made = hmm.GaussianHMM(k, covariance_type="diag")
        made.n_features = parameters.centres.shape[1]
        made.means_, made.covars_ = parameters.centres, np.asarray(parameters.variances)
    else:
        made = hmm.CategoricalHMM(k)
        made.emissionprob_ = parameters.level_shares[:, :, 0].T
        made.n_features = made.emissionprob_.shape[1]
    made.startprob_, made.transmat_ = parameters.start, parameters.transition
    return made
