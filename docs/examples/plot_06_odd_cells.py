"""
Typing errors, and rows unlike all others
=========================================

A pulse of 700 is a slip, and should not become a group of its own. Cells may be outliers in the
model, so that a few wild ones do not decide; ``unusual`` then says which rows to look at.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from halfseen import GaussianMixture, simulate

rng = np.random.default_rng(0)
means = rng.normal(0, 3, size=(3, 5))
X, group = simulate.gaussian_mixture(900, [0.4, 0.3, 0.3], means, 1.0, rng)
slips = rng.random(X.shape) < 0.005
X[slips] *= 100
X[rng.random(X.shape) < 0.2] = np.nan
slips &= ~np.isnan(X)

for outliers in ["auto", None]:
    mixture = GaussianMixture(3, covariance_type="tied_diag", outliers=outliers, random_state=0)
    found = adjusted_rand_score(group, mixture.fit(X).predict(X))
    print(f"outliers={outliers!r}: agreement with the true groups {found:.2f}")

# %%
# Rows in which something was multiplied by a hundred, beside the rest:

mixture = GaussianMixture(3, covariance_type="tied_diag", random_state=0).fit(X)
print(f"{mixture.outlier_share_:.2%} of cells are of no group; {slips.mean():.2%} were spoilt")
odd = mixture.unusual(X)
bad = slips.any(axis=1)
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.plot(np.flatnonzero(~bad), odd[~bad], ".", color="0.7", label="as they were")
ax.plot(np.flatnonzero(bad), odd[bad], "o", color="C3", label="with a spoilt cell")
ax.set_xlabel("row")
ax.set_ylabel("unusual(X)")
ax.legend()
