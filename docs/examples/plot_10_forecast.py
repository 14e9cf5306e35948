"""
What comes next
===============

From the last day of each patient the chain can be followed on: the probabilities of states, and
what is expected of each column.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfseen import HiddenMarkov

rng = np.random.default_rng(2)
states = np.zeros((60, 40), dtype=int)
chances = np.array([[0.9, 0.1, 0.0], [0.0, 0.8, 0.2], [0.1, 0.0, 0.9]])
for step in range(1, 40):
    draws = rng.random(60)[:, None]
    states[:, step] = (draws > chances[states[:, step - 1]].cumsum(axis=1)).sum(axis=1)
X = rng.normal(np.array([0.0, 4.0, 8.0])[states].reshape(-1, 1), 1.0, size=(2400, 2))
X[rng.random(X.shape) < 0.4] = np.nan

model = HiddenMarkov(3, random_state=0).fit(X, lengths=[40] * 60)
ahead = model.forecast(X[:40], steps=25)

# %%
# The forecast goes from what is known of the last day to what is known of any day.

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
steps = np.arange(40, 65)
middle, spread = ahead.means[0, :, 0], ahead.stds[0, :, 0]
ax.plot(np.arange(40), X[:40, 0], "o", markersize=4, label="observed")
ax.plot(steps, middle, "k", label="expected")
ax.fill_between(steps, middle - 2 * spread, middle + 2 * spread, alpha=0.2, label="± 2 std")
ax.set_xlabel("step")
ax.legend(loc="upper left")
