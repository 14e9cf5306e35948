"""Fit models to sums of rows that may not leave their place."""

import os
from pathlib import Path
from typing import Any

from halfseen.data.errors import DataError
from halfseen.federated.plan import Plan
from halfseen.federated.rounds import sum_rows
from halfseen.federated.sums import Stream
from halfseen.models import MODELS
from halfseen.models.load import load
from halfseen.persistence.container import word_of


def summed(
    X: Any,
    plan: Any,
    at: Any = None,
    *,
    leave_out: bool = False,
    epsilon: float | None = None,
    random_state: Any = None,
) -> Stream:
    """The sums of the rows of ``X`` that a model is learned from, by an agreed plan.

    Sums of several places add, and ``fit`` of an estimator takes them in place of rows. They hold
    no row, no smallest and no largest value; sums of fewer rows than the plan's ``least_rows`` are
    refused.

    Parameters
    ----------
    X : array, data frame, path, Files, batches or Dask collection
        The rows of one place, whatever ``fit`` takes. Columns of the plan that it lacks are gaps.
    plan : Plan or path of one
        What all places agreed on.
    at : Stream, estimator, path or None, default=None
        What the sums of the last round led to. A model: the sums of one step of EM from it. Sums of
        all places, if these were not enough for a model yet: those that are asked for next.
    leave_out : bool, default=False
        Leave rows out that could be told, as fewer than ``least_rows`` hold the same of two or
        three columns, or the same category, in place of refusing: ``n_left_out`` says how many.
    epsilon : float or None, default=None
        A smaller budget for noise than the plan's, if this place wants to tell less.
    random_state : int, Generator or None, default=None
        Seeds the noise, if the plan has some: for tests only, as noise that can be drawn again
        hides nothing.

    Returns
    -------
    Stream
        Which adds with ``+``, and has ``save`` and ``load``.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import GaussianMixture, Plan, summed
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(900, 4)) + 6 * rng.integers(2, size=(900, 1))
    >>> here, there = X[:400], X[400:]
    >>> plan = Plan.of(here, GaussianMixture(2))
    >>> model = GaussianMixture(2).fit(summed(here, plan) + summed(there, plan))
    >>> for _ in range(3):
    ...     sums = summed(here, plan, at=model) + summed(there, plan, at=model)
    ...     model = GaussianMixture(2).fit(sums)
    >>> model.n_iter_
    3
    """
    agreed = plan if isinstance(plan, Plan) else Plan.load(plan)
    before = led_to(at) if isinstance(at, str | os.PathLike) else at
    return sum_rows(
        made(agreed),
        X,
        agreed,
        before,
        leave_out=leave_out,
        epsilon=epsilon,
        random=random_state,
    )


def led_to(path: str | os.PathLike[str]) -> Any:
    """The result of the last round in a file: a model, or sums."""
    with Path(path).open("rb") as file:
        start = file.read(256)
    return Stream.load(path) if word_of(start) == "sums" else load(path)


def made(plan: Plan) -> Any:
    """The estimator of a plan."""
    if plan.model not in MODELS:
        raise DataError(
            f"The plan is for a model '{plan.model}', and there are {', '.join(MODELS)}. Correct "
            "its model."
        )
    kind = MODELS[plan.model]
    try:
        estimator = kind(**plan.parameters)
        estimator.checked()
    except (TypeError, ValueError) as error:
        raise DataError(
            f"The parameters of the plan do not make a {kind.__name__}: {error}"
        ) from error
    return estimator
