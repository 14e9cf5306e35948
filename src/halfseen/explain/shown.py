"""A learned model as people are shown it: in the table's own units, most common first."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array, Mask
from halfseen.tables.arrays_and_frames import feature_names


@dataclass(frozen=True, eq=False)
class Shown:
    """Groups of a mixture, or topics, numbered from 1 by how common they are."""

    kind: str  # "group" or "topic"
    names: tuple[str, ...]
    order: NDArray[np.intp]  # (k,)  the model's own numbers of the components
    shares: Array  # (k,)  of the rows, or of all that is counted
    centres: Array  # (k, d)  means in own units, or shares of the topic
    average: Array  # (d,)  the same for all rows together
    scores: Array  # (k, d)  deviations from the average in standard ones, or log2 of ratios to it
    geometric: Mask  # (d,)  features whose averages are geometric means

    @property
    def k(self) -> int:
        """How many components there are."""
        return len(self.shares)

    def called(self, component: int) -> str:
        """What the model's own component of a number is called on the page."""
        return f"{self.kind} {int(np.flatnonzero(self.order == component)[0]) + 1}"


def shown(model: Any) -> Shown:
    """What there is to show of a fitted model."""
    return (_topics if hasattr(model, "components_") else _groups)(model)


def own_names(model: Any) -> tuple[str, ...]:
    """The features' names as the user has them, whatever was done to them before the fit."""
    done = model.preprocessing_
    return feature_names(model) if done is None else done.columns


def _groups(model: Any) -> Shown:
    order = np.argsort(-model.weights_, kind="stable")
    shares, means = model.weights_[order], model.means_[order]
    variances = np.atleast_1d(np.asarray(model.covariances_, dtype=float))
    variances = variances[order] if len(variances) == len(order) else variances
    while variances.ndim < 2:
        variances = variances[:, None]
    average = shares @ means
    variance = shares @ (np.broadcast_to(variances, means.shape) + (means - average) ** 2)
    kept = model.kept_features_
    scores = np.zeros(means.shape)
    scores[:, kept] = (means - average)[:, kept] / np.sqrt(variance[kept])
    done = model.preprocessing_
    return Shown(
        kind="group",
        names=own_names(model),
        order=order,
        shares=shares,
        centres=means if done is None else done.undo(means),
        average=average if done is None else done.undo(average[None])[0],
        scores=scores,
        geometric=np.zeros(len(kept), bool) if done is None else done.logged,
    )


def _topics(model: Any) -> Shown:
    shares = model.shapes_ / model.shapes_.sum()
    order = np.argsort(-shares, kind="stable")
    topics = model.components_[order]
    average = shares[order] @ topics
    ratio = np.divide(topics, average, out=np.ones_like(topics), where=average > 0)
    return Shown(
        kind="topic",
        names=own_names(model),
        order=order,
        shares=shares[order],
        centres=topics,
        average=average,
        scores=np.log2(np.maximum(ratio, 2.0**-10)),
        geometric=np.zeros(topics.shape[1], bool),
    )
