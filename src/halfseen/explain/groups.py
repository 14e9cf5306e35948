"""Groups of a mixture, shown to people."""

from typing import Any

import numpy as np

from halfseen.explain.shown import Shown
from halfseen.method.fitted import Fitted


def Groups(fitted: Fitted[Any]) -> Shown:
    model, parameters = fitted.model, fitted.parameters
    all_shares = model.shares(parameters)
    order = np.argsort(-all_shares, kind="stable")
    attributes = fitted.attributes(parameters)
    shares, means = all_shares[order], attributes["means_"][order]
    variances = np.zeros(means.shape)
    variances[:, fitted.kept] = parameters.variances[order]
    average = shares @ means
    variance = shares @ (variances + (means - average) ** 2)
    scores = np.zeros(means.shape)
    scores[:, fitted.kept] = (means - average)[:, fitted.kept] / np.sqrt(variance[fitted.kept])
    done = fitted.preprocessing
    return Shown(
        kind="group",
        names=fitted.own_names,
        order=order,
        shares=shares,
        centres=means if done is None else done.undo(means),
        average=average if done is None else done.undo(average[None])[0],
        scores=scores,
        geometric=np.zeros(len(fitted.kept), bool) if done is None else done.logged,
    )
