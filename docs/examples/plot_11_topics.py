"""
Topics of counts that were partly not recorded
==============================================

A zero is a count of zero; ``NaN`` is a count that nobody made. Filling the second with the first
makes topics of who counted what.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from halfseen import GammaPoisson, plots, recovery, simulate

rng = np.random.default_rng(1)
topics = rng.dirichlet(np.full(12, 0.3), size=3)
counts, _ = simulate.gamma_poisson(4000, topics, [0.5, 0.5, 0.5], 0.03, rng)
gappy = simulate.block_gaps(counts, [0] * 7 + [1] * 5, [1.0, 0.3], rng)
drugs = ["insulin", "metformin", "statin", "aspirin", "heparin", "warfarin", "morphine"]
tests = ["culture", "sodium", "lactate", "troponin", "biopsy"]  # looked up for some patients only
table = pd.DataFrame(gappy, columns=drugs + tests)

model = GammaPoisson(3).fit(table)
plots.components(model)

# %%
# Angles between true and learned topics, if gaps are gaps and if they are zeros:

filled = GammaPoisson(3).fit(np.nan_to_num(gappy))
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
for place, fitted in enumerate([model, filled]):
    angles = recovery.angles(fitted.components_, topics)
    ax.barh(np.arange(3) + 0.35 * place, angles, 0.3, label=["gaps", "zeros"][place])
ax.set_yticks(np.arange(3) + 0.17, ["topic 1", "topic 2", "topic 3"])
ax.set_xlabel("angle to the true topic (radians)")
ax.legend()
