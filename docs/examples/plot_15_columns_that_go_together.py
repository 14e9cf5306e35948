"""
Columns that go along with each other within a group
====================================================

If columns are correlated within groups, a mixture of round clouds needs too many of them. With
``covariance_type="auto"`` held-out rows decide how much shape groups have.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

from halfseen import GaussianMixture

rng = np.random.default_rng(0)
shape = np.array([[1.0, 0.85, 0.6], [0.85, 1.0, 0.6], [0.6, 0.6, 1.0]])
X = np.vstack(
    [
        rng.multivariate_normal([0, 0, 0], shape, 400),
        rng.multivariate_normal([1.5, -1.5, 1.0], shape, 300),
    ]
)
X[rng.random(X.shape) < 0.2] = np.nan

mixture = GaussianMixture(2, covariance_type="auto", random_state=0).fit(X)
print(mixture.covariance_type_)
print(mixture.diagnostics_.covariance_reason)

# %%
# The first two columns, and what was learned of them: ellipses hold 95 % of a group.

covariances = np.broadcast_to(mixture.covariances_, (2, 3, 3))
fig, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
ax.scatter(X[:, 0], X[:, 1], s=6, c=mixture.predict(X), cmap="coolwarm")
for mean, covariance in zip(mixture.means_, covariances, strict=True):
    sizes, axes = np.linalg.eigh(covariance[:2, :2])
    angle = np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    width, height = 2 * np.sqrt(5.99 * sizes[::-1])
    ax.add_patch(Ellipse(mean[:2], width, height, angle=angle, fill=False, linewidth=2))
ax.set_aspect("equal")
