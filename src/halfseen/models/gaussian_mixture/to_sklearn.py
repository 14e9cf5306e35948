"""A learned mixture handed over to scikit-learn's."""

from typing import Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.errors import DataError
from halfseen.data.formatting import features


def as_sklearn(mixture: Any, variances: Array) -> Any:
    """A fitted ``sklearn.mixture.GaussianMixture`` with the parameters of ours.

    ``variances`` (k, d) are those of all components and features. It knows neither outliers nor
    spikes: its normals have the means and variances that these give.
    """
    kind = "spherical" if (variances == variances[:, :1]).all() else "diag"
    covariances = variances.copy() if kind == "diag" else variances[:, 0].copy()
    return _as_sklearn(mixture, kind, covariances, 1 / covariances, covariances**-0.5)


def as_correlated_sklearn(mixture: Any, covariances: Array) -> Any:
    """The same of mixtures with ``covariances`` (k, d, d), which may be all alike."""
    tied = bool((covariances == covariances[:1]).all()) and mixture.covariance_type_ != "full"
    some = covariances[0] if tied else covariances
    root = np.linalg.inv(np.linalg.cholesky(some)).swapaxes(-1, -2)
    precisions = root @ root.swapaxes(-1, -2)
    return _as_sklearn(mixture, "tied" if tied else "full", some.copy(), precisions, root)


def _as_sklearn(mixture: Any, kind: str, covariances: Array, precisions: Array, root: Array) -> Any:
    from sklearn.mixture import GaussianMixture  # slow to import, and few need it

    dropped = list(mixture.diagnostics_.dropped_features)
    if dropped:
        raise DataError(
            f"{features(dropped, range(len(dropped)))} cannot be part of scikit-learn's mixture, "
            "in which every feature varies. Fit again without."
        )
    other = GaussianMixture(
        mixture.n_components_,
        covariance_type=kind,
        weights_init=mixture.weights_,
        means_init=mixture.means_,
        precisions_init=precisions,
    )
    other.weights_, other.means_, other.covariances_ = mixture.weights_, mixture.means_, covariances
    other.precisions_, other.precisions_cholesky_ = precisions, root
    other.converged_, other.n_iter_ = mixture.converged_, mixture.n_iter_
    other.lower_bound_, other.n_features_in_ = mixture.lower_bound_, mixture.n_features_in_
    if hasattr(mixture, "feature_names_in_"):
        other.feature_names_in_ = mixture.feature_names_in_
    return other
