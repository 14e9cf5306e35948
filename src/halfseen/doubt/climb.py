"""States along sequences, from one upwards: numbers that a careful reader would accept.

A state is what reproduces when the rows are halved and both halves are fitted apart, what
predicts rows that were held out, and what stands on enough rows. Likelihood alone counts more of
them the more rows there are, as no table is quite like its model.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from halfseen.doubt.choice import HeldOut
from halfseen.doubt.halves import Trial
from halfseen.rows.errors import DataError

ENOUGH_GAIN = 1.0
"""Standard errors by which held-out rows must be likelier than under the last number accepted."""
STATES_AGREE = 0.6
"""Adjusted Rand index of what two halves make of all rows, in the mean: rows with gaps are told by
their neighbours, so that halves label some of them differently."""
ENOUGH_OVERLAP = 0.65
"""Rows that a component and its match in the other half share, of those that either has: on 64
simulated tables of sequences with gaps that was .65 or more for the true number in all but a few,
and never above .35 for a larger one."""
CLEAR_GAIN, CLEAR_AGREEMENT, CLEAR_OVERLAP = 4.0, 0.95, 0.9
"""What is beyond doubt after one way of halving the rows."""
LEAST_SHARE, LEAST_ROWS = 0.01, 10
PATIENCE, PATIENCE_AT_ONE = 3, 5
"""So many refusals in a row end the climb; more while nothing but one component stands."""


Tried = Callable[[int, Trial | None], Trial]
"""A number of components tried on halves, beside a trial that it has to beat, if any."""


class Climbed(NamedTuple):
    """Every number that was tried, in order, and why no more were; empty if enough were refused."""

    steps: tuple[HeldOut, ...]
    ended: str

    @property
    def chosen(self) -> HeldOut:
        """The last that was accepted."""
        return next(step for step in reversed(self.steps) if step.accepted)

    def without(self, n_components: int, why: str) -> "Climbed":
        """The same, but one of the numbers is refused after all."""
        steps = (
            replace(step, accepted=False, refused=why)
            if step.n_components == n_components
            else step
            for step in self.steps
        )
        return self._replace(steps=tuple(steps))


def settled(trial: Trial, beside: Trial | None, n_ways: int) -> bool:
    """Whether the ways of halving that were not tried yet will hardly change the judgement."""
    if beside is None:
        return False
    gain, error = trial.gain(beside)
    if gain < -ENOUGH_GAIN * error:
        return True
    if trial.agreement is None or trial.overlap is None:
        return False
    done = len(trial.halvings) / n_ways

    def at_best(so_far: float) -> float:
        return done * so_far + 1 - done

    if at_best(trial.agreement) < STATES_AGREE or at_best(trial.overlap) < ENOUGH_OVERLAP:
        return True
    alike = trial.agreement > CLEAR_AGREEMENT and trial.overlap > CLEAR_OVERLAP
    return alike and gain > CLEAR_GAIN * error


def climbed(tried: Tried, n_rows: float, most: int) -> Climbed:
    """Numbers from one on, each beside the last that was accepted."""
    last = tried(1, None)
    steps, refusals = [HeldOut(1, last.log_likelihood, 0.0, 0.0, accepted=True)], 0
    for k in range(2, most + 1):
        try:
            trial = tried(k, last)
        except DataError as error:
            return Climbed(tuple(steps), f"{k} could not be tried: {error}")
        steps.append(judged(trial, last, n_rows))
        if steps[-1].accepted:
            last, refusals = trial, 0
        else:
            refusals += 1
        if refusals >= (PATIENCE_AT_ONE if last.n_components == 1 else PATIENCE):
            return Climbed(tuple(steps), "")
    return Climbed(tuple(steps), f"{most} is the most that was tried.")


def judged(trial: Trial, last: Trial, n_rows: float) -> HeldOut:
    """Whether a number of components is accepted after the last that was, or why not."""
    gain, error = trial.gain(last)
    step = HeldOut(
        trial.n_components,
        trial.log_likelihood,
        gain,
        error,
        last.n_components,
        trial.agreement,
        trial.overlap,
        trial.smallest,
        enough_agreement=STATES_AGREE,
    )
    why = why_not_reproduced(trial, n_rows) or _why_no_gain(step)
    return replace(step, accepted=not why, refused=why)


def why_not_reproduced(trial: Trial, n_rows: float) -> str:
    """Why the components of halves are not to be believed; empty if they are."""
    if trial.agreement is not None and trial.agreement < STATES_AGREE:
        return (
            "halves of the rows disagree on them (agreement "
            f"{_below(trial.agreement, STATES_AGREE):.2f}, of at least {STATES_AGREE:g})"
        )
    if trial.overlap is not None and trial.overlap < ENOUGH_OVERLAP:
        return (
            "one of them is not found again in the other half (overlap "
            f"{_below(trial.overlap, ENOUGH_OVERLAP):.2f}, of at least {ENOUGH_OVERLAP:g})"
        )
    return too_small(trial.smallest, n_rows)


def _below(agreement: float, limit: float) -> float:
    """To two digits, as elsewhere, unless these would be those of the limit.

    >>> _below(0.536, 0.8), _below(0.799, 0.8)
    (0.54, 0.79)
    """
    near = round(agreement, 2)
    return near if near < limit else math.floor(100 * agreement) / 100


def too_small(share: float, n_rows: float) -> str:
    """Why a smallest component of that share is too small; empty if it is not."""
    least = max(LEAST_SHARE, LEAST_ROWS / n_rows)
    return (
        ""
        if share >= least
        else f"the smallest holds {share:.1%} of the rows, of at least {least:.1%}"
    )


def _why_no_gain(step: HeldOut) -> str:
    if step.gain > ENOUGH_GAIN * step.error:
        return ""
    return (
        f"held-out rows are not clearly more likely than under {step.over} "
        f"({step.gain:+.3g} ± {step.error:.2g} a row)"
    )
