"""Plots of tables with gaps and of models (extra ``plots``).

Every function draws on the axes given as ``ax``, or on new ones as large as the picture needs, and
returns them. Colours can be told apart by the colour-blind and in print.
"""

from halfseen.plots.imputation import imputation_check
from halfseen.plots.missingness import missingness_map
from halfseen.plots.model import components, feature_weights, posterior_uncertainty, spectrum
from halfseen.plots.number_of_components import components_curve

__all__ = [
    "components",
    "components_curve",
    "feature_weights",
    "imputation_check",
    "missingness_map",
    "posterior_uncertainty",
    "spectrum",
]
