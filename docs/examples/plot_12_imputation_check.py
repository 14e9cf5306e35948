"""
Are filled gaps any good?
=========================

Hide values that are known, fill them again, and compare. If the cloud lies along the line, columns
tell of each other; if it is a band across it they do not, and filled values are hardly more than
means.
"""

import pandas as pd

from halfseen import GaussianMixture, plots
from halfseen.datasets import load_clinic

clinic = load_clinic()
patients = pd.DataFrame(clinic.scores, columns=clinic.names)
mixture = GaussianMixture(4, random_state=0).fit(patients)
plots.imputation_check(mixture, patients)

# %%
# Every filled value comes with how far off it may be:

filled, spread = mixture.impute(patients, return_std=True)
print(filled.head(3).round(2))
print(pd.DataFrame(spread, columns=clinic.names).head(3).round(2))

# %%
# And of every patient, how sure the group is:

plots.posterior_uncertainty(mixture, patients)
