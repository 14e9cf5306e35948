"""A learned mixture handed over to scikit-learn's."""

from typing import Any

from halfseen.rows.arrays import Array
from halfseen.rows.errors import DataError
from halfseen.rows.naming import features


def as_sklearn(mixture: Any, variances: Array) -> Any:
    """A fitted ``sklearn.mixture.GaussianMixture`` with the parameters of ours.

    ``variances`` (k, d) are those of all components and features. It knows neither outliers nor
    spikes: its normals have the means and variances that these give.
    """
    from sklearn.mixture import GaussianMixture  # slow to import, and few need it

    dropped = list(mixture.diagnostics_.dropped_features)
    if dropped:
        raise DataError(
            f"{features(dropped, range(len(dropped)))} cannot be part of scikit-learn's mixture, "
            "in which every feature varies. Fit again without."
        )
    kind = "spherical" if (variances == variances[:, :1]).all() else "diag"
    covariances = variances.copy() if kind == "diag" else variances[:, 0].copy()
    other = GaussianMixture(
        mixture.n_components_,
        covariance_type=kind,
        weights_init=mixture.weights_,
        means_init=mixture.means_,
        precisions_init=1 / covariances,
    )
    other.weights_, other.means_, other.covariances_ = mixture.weights_, mixture.means_, covariances
    other.precisions_, other.precisions_cholesky_ = 1 / covariances, covariances**-0.5
    other.converged_, other.n_iter_ = mixture.converged_, mixture.n_iter_
    other.lower_bound_, other.n_features_in_ = mixture.lower_bound_, mixture.n_features_in_
    if hasattr(mixture, "feature_names_in_"):
        other.feature_names_in_ = mixture.feature_names_in_
    return other
