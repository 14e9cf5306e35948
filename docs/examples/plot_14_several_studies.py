"""
Two studies that measured different things
==========================================

A small study measured everything, a large one half of it. Stacked, they are one table with a block
of gaps: no row and no column has to be left out.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfseen import GaussianMixture, recovery, simulate

errors = {"small study alone": [], "both": []}
for seed in range(8):
    rng = np.random.default_rng(seed)
    means = rng.normal(0, 0.8, size=(3, 10))
    X, _ = simulate.gaussian_mixture(4400, [0.4, 0.3, 0.3], means, 1.0, rng)
    X[400:, 5:] = np.nan
    for name, rows in zip(errors, [X[:400], X], strict=True):
        mixture = GaussianMixture(3, random_state=0).fit(rows)
        order = recovery.match(mixture.means_, means)
        found = np.sqrt(np.mean((mixture.means_[order] - means) ** 2, axis=0))
        errors[name].append([found[:5].mean(), found[5:].mean()])

# %%
# The error of means. Columns that both studies have gain much. Those of the small study only gain
# nothing, and lose nothing: how well they are known depends on the rows that hold them.

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for place, (name, found) in enumerate(errors.items()):
    ax.bar(np.arange(2) + 0.35 * place, np.mean(found, axis=0), 0.3, label=name)
ax.set_xticks([0.17, 1.17], ["in both studies", "in the small one only"])
ax.set_ylabel("error of means")
ax.legend()
