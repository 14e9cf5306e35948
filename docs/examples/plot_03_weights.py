"""
How much a column counts
========================

A column that is known for one row in ten says little, and says it with much noise. Weighted
moments let it count for what it is worth; leaving it out, or taking it for as good as the others,
costs accuracy in the columns that are complete.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfseen import GaussianMixture, plots, recovery, simulate

observed = [1, 1, 1, 1, 1, 1, 0.3, 0.2, 0.1, 0.1]
errors = {"full": [], "partial": [], "weighted": []}
for seed in range(6):
    rng = np.random.default_rng(seed)
    means = rng.normal(0, 2, size=(3, 10))
    X, _ = simulate.gaussian_mixture(4000, [0.4, 0.35, 0.25], means, 1.0, rng)
    X = simulate.independent_gaps(X, observed, rng)
    for method, found in errors.items():
        mixture = GaussianMixture(3, method=method, refine=None).fit(X)
        found.append(recovery.total_angle(mixture.means_, means, range(6)))

# %%
# The angle between true and learned means of the six complete columns, by the moments alone, on six
# tables.

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for place, found in enumerate(errors.values()):
    ax.plot(found, np.full(6, place) + np.linspace(-0.15, 0.15, 6), "o", alpha=0.6)
    ax.plot(np.median(found), place, "k|", markersize=22)
ax.set_yticks(range(3), errors)
ax.set_xlabel("sum of angles to the true means (radians); | is the median")

# %%
# What was used in the last fit:

plots.feature_weights(mixture)
