"""
How many groups?
================

A number of groups is worth having if halves of the rows, fitted apart, find the same groups, and if
rows that were held out are more likely under them.
"""

import numpy as np

from halfseen import choose_components, simulate

rng = np.random.default_rng(3)
means = rng.normal(0, 3, size=(3, 6))
X, _ = simulate.gaussian_mixture(1200, [0.5, 0.3, 0.2], means, 1.0, rng)
X = simulate.independent_gaps(X, [1, 1, 1, 0.8, 0.5, 0.3], rng)

choice = choose_components(X, "gaussian")
print(choice.n_components)
print(choice.reason)

# %%
# What spoke for that number, and against others:

choice.plot()
