"""
What is missing, and with what
==============================

Before a model is learned it helps to see the gaps: whether they come in blocks, and which columns
are hardly ever seen together.
"""

import numpy as np
import pandas as pd

from halfseen import plots, simulate

rng = np.random.default_rng(0)
names = ["pulse", "pressure", "temperature", "sodium", "potassium", "lactate", "culture"]
X = rng.normal(size=(600, 7))
X = simulate.block_gaps(X, [0, 0, 0, 1, 1, 2, 3], [1.0, 0.6, 0.4, 0.1], rng)
table = pd.DataFrame(X, columns=names)

# %%
# Sodium and potassium are of one blood test: they are there together or not at all. Rows are put in
# the order of their patterns.

plots.missingness_map(table, sort_rows=True)

# %%
# How many rows hold both of two columns is how well their covariance can be known.

seen = table.notna().to_numpy(float)
print(pd.DataFrame((seen.T @ seen).astype(int), index=names, columns=names))
