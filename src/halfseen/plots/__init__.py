"""Pictures of tables with gaps and of what was learned from them (extra ``plots``).

Every function draws on the axes given as ``ax``, or on new ones as large as the picture needs, and
returns them. Colours can be told apart by the colour-blind and in print.
"""

from halfseen.plots.certainty import posterior_uncertainty
from halfseen.plots.eigenvalues import spectrum
from halfseen.plots.heat_map import components
from halfseen.plots.held_out import imputation_check
from halfseen.plots.missing import missingness_map
from halfseen.plots.number import components_curve
from halfseen.plots.weights import feature_weights

__all__ = [
    "components",
    "components_curve",
    "feature_weights",
    "imputation_check",
    "missingness_map",
    "posterior_uncertainty",
    "spectrum",
]
