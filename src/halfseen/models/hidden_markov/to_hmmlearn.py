"""The same model in hmmlearn."""

from typing import Any

import numpy as np

from halfseen.distributions.column_kinds import Kind


def to_hmmlearn(model: Any) -> Any:
    """One of hmmlearn's models with the same parameters, where it has such."""
    fitted = model.fitted
    kinds = {Kind(int(code)) for code in fitted.parameters.kinds}
    continuous = kinds == {Kind.CONTINUOUS}
    one_of_levels = len(fitted.parameters.kinds) == 1 and bool(fitted.parameters.of_levels.all())
    if not continuous and not one_of_levels:
        raise ValueError(
            "hmmlearn has models of continuous columns, or of one column of categories, and none "
            f"of {', '.join(sorted(kind.word for kind in kinds))} columns together."
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
