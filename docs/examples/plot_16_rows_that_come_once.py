"""
Rows that come once
===================

Moments are sums, so rows can be counted and forgotten: ``partial_fit`` learns from batches, keeps
no row, and finds what the moments of all rows at once would find.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfseen import GaussianMixture, recovery, simulate

rng = np.random.default_rng(4)
means = rng.normal(0, 3, size=(3, 8))
X, _ = simulate.gaussian_mixture(12_000, [0.5, 0.3, 0.2], means, 1.0, rng)
X = simulate.independent_gaps(X, [1, 1, 1, 1, 1, 0.6, 0.3, 0.2], rng)

stream = GaussianMixture(3)
seen, errors = [], []
for start in range(0, 12_000, 1000):
    stream.partial_fit(X[start : start + 1000])
    seen.append(start + 1000)
    errors.append(recovery.total_angle(stream.means_, means, range(5)))

at_once = GaussianMixture(3, refine=None).fit(X)
refined = GaussianMixture(3).fit(X)

# %%
# The error of the five complete columns falls as rows come. The likelihood, which goes over rows
# again, is nearer still.

fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.plot(seen, errors, "o-", label="partial_fit, a thousand rows at a time")
ax.axhline(
    recovery.total_angle(at_once.means_, means, range(5)),
    color="C1",
    ls="--",
    label="moments at once",
)
ax.axhline(
    recovery.total_angle(refined.means_, means, range(5)), color="C2", ls=":", label="with EM"
)
ax.set_xlabel("rows seen")
ax.set_ylabel("sum of angles to the truth")
ax.set_yscale("log")
ax.legend()

# %%
# Columns with gaps are another matter: of a stream their means are divided by small weights, and of
# rows that can be read again they are found by regression, which is nearer.

for name, fitted in {
    "partial_fit": stream,
    "moments at once": at_once,
    "with EM": refined,
}.items():
    order = recovery.match(fitted.means_, means)
    print(name, np.sqrt(np.mean((fitted.means_[order] - means)[:, 5:] ** 2)).round(3))
