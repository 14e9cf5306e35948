"""
Groups of patients, a third of whose values are missing
=======================================================

Vital signs are there for every patient, blood tests for some. A mixture is learned from whatever is
observed, without filling a gap first.
"""

import pandas as pd

from halfseen import GaussianMixture, plots
from halfseen.datasets import load_clinic

clinic = load_clinic()
patients = pd.DataFrame(clinic.values, columns=clinic.names)
print(f"{patients.shape[0]} patients, {patients.isna().to_numpy().mean():.0%} of cells are empty")

# %%
# Columns are in different units, so each has a variance of its own that all groups share.

mixture = GaussianMixture(4, covariance_type="tied_diag", random_state=0).fit(patients)
print("How common the groups are:", mixture.weights_.round(2))
plots.components(mixture)

# %%
# Of each patient we know the probability of each group, from what is observed of that patient.
# Who has few values is less sure.

probabilities = pd.DataFrame(mixture.predict_proba(patients)).round(3)
print(probabilities.assign(known=patients.notna().sum(axis=1)).head())
