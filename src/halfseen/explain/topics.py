"""Topics, shown to people."""

from typing import Any

import numpy as np

from halfseen.explain.shown import Shown
from halfseen.method.fitted import Fitted


def Topics(fitted: Fitted[Any]) -> Shown:
    shares = fitted.model.shares(fitted.parameters)
    order = np.argsort(-shares, kind="stable")
    topics = fitted.attributes(fitted.parameters)["components_"][order]
    average = shares[order] @ topics
    ratio = np.divide(topics, average, out=np.ones_like(topics), where=average > 0)
    return Shown(
        kind="topic",
        names=fitted.own_names,
        order=order,
        shares=shares[order],
        centres=topics,
        average=average,
        scores=np.log2(np.maximum(ratio, 2.0**-10)),
        geometric=np.zeros(topics.shape[1], bool),
    )
