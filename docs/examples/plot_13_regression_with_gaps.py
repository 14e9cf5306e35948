"""
A regression when half of a predictor is missing
================================================

Rows are dropped, gaps are filled once, or gaps are filled several times by lot and what each table
says is pooled. Here a value is missing more often where the outcome is high, so that complete rows
are not like the others.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from halfseen import Imputer, pool

rng = np.random.default_rng(5)
n, slope = 400, 1.0
dose = rng.normal(size=n)
marker = 0.8 * dose + rng.normal(0, 0.6, size=n)
outcome = slope * dose + rng.normal(size=n)
table = pd.DataFrame({"dose": dose, "marker": marker, "outcome": outcome})
table.loc[rng.random(n) < 1 / (1 + np.exp(-1.5 * outcome)), "dose"] = np.nan


def fit(rows):
    """Slope of the outcome on the dose, and its variance."""
    design = np.column_stack([np.ones(len(rows)), rows["dose"]])
    inverse = np.linalg.inv(design.T @ design)
    found = inverse @ design.T @ rows["outcome"].to_numpy()
    noise = ((rows["outcome"] - design @ found) ** 2).sum() / (len(rows) - 2)
    return found[1], noise * inverse[1, 1]


# %%
# Twenty completed tables, each with parameters of its own, so that what the gaps leave unsure shows
# in how the tables differ.

tables = Imputer(draws=20, random_state=0).fit(table).draw(table)
estimates, variances = zip(*map(fit, tables), strict=True)
pooled = pool(estimates, variances, df=n - 2)
print(pooled)

# %%
# The true slope is 1.

ways = {
    "no gaps": fit(pd.DataFrame({"dose": dose, "outcome": outcome})),
    "complete rows": fit(table.dropna()),
    "means": fit(table.fillna(table.mean())),
}
fig, ax = plt.subplots(figsize=(6.5, 2.8), layout="constrained")
for place, (estimate, variance) in enumerate(ways.values()):
    ax.errorbar(estimate, place, xerr=1.96 * variance**0.5, fmt="o", capsize=3)
middle = pooled.estimate[0]
ax.errorbar(middle, 3, xerr=pooled.high[0] - middle, fmt="o", capsize=3)
ax.set_yticks(range(4), [*ways, "20 draws, pooled"])
ax.axvline(slope, color="0.6")
ax.set_xlabel("slope, 95 % interval")
