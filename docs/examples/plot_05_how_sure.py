"""
How sure are the means?
=======================

Every learned number has a confidence interval. Columns with many gaps have wide ones, and so have
rare groups.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfseen import GaussianMixture, simulate

rng = np.random.default_rng(1)
group = np.repeat(rng.random(400) < 0.15, 4)  # 400 patients, four visits each
X = rng.normal(size=(1600, 6)) + 3.0 * group[:, None]
observed = [1, 1, 1, 0.5, 0.2, 0.05]
X = simulate.independent_gaps(X, observed, rng)

mixture = GaussianMixture(2).fit(X)
sure = mixture.intervals(X, level=0.95)["means_"]

# %%
# Both true means are whole numbers, 0 and 3.

fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
for group in range(2):
    place = np.arange(6) + 0.12 * group
    middle = mixture.means_[group]
    ends = [middle - sure.low[group], sure.high[group] - middle]
    ax.errorbar(
        place, middle, ends, fmt="o", capsize=3, label=f"{mixture.weights_[group]:.0%} of rows"
    )
ax.axhline(0, color="0.7", zorder=0)
ax.axhline(3, color="0.7", zorder=0)
ax.set_xticks(range(6), [f"known for\n{share:.0%}" for share in observed])
ax.set_ylabel("mean, 95 % interval")
ax.legend()

# %%
# Visits of one patient are of one group, so 1,600 rows say less than they seem to of how common
# groups are. Bootstrapped by patient, that interval is wider; those of means, whose noise differs
# from visit to visit, are not:

patient = np.repeat(np.arange(400), 4)
by_row, by_patient = mixture.intervals(X), mixture.intervals(X, groups=patient)
for name in ["weights_", "means_"]:
    print(name, (by_patient[name].std / by_row[name].std).mean().round(1))
