"""
Topics of documents that are all of one length
==============================================

A gamma-Poisson model learns from how the lengths of rows vary. Where they do not, latent Dirichlet
allocation is the model: only shares of topics differ from row to row. With gaps, a row's length is
not what was recorded of it; it helps much to know it, or to refine.
"""

import matplotlib.pyplot as plt
import numpy as np

from halfseen import LatentDirichletAllocation, recovery

rng = np.random.default_rng(0)
topics = rng.dirichlet(np.full(15, 0.3), size=3)
shares = rng.dirichlet(np.full(3, 0.4), size=2000)
complete = rng.multinomial(50, shares @ topics).astype(float)
counts = complete.copy()
counts[:, 10:][rng.random((2000, 5)) < 0.6] = np.nan  # five columns, seldom recorded

ways = {
    "moments, lengths found": LatentDirichletAllocation(3, refine=None).fit(counts),
    "moments, lengths given": LatentDirichletAllocation(3, refine=None).fit(
        counts, totals=np.full(2000, 50)
    ),
    "refined, lengths found": LatentDirichletAllocation(3, refine="saem", random_state=0).fit(
        counts
    ),
}

# %%
# Every word of every topic, true and learned; rings are of the columns with gaps.

fig, axes = plt.subplots(1, 3, figsize=(9, 3.3), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, ways.items(), strict=True):
    learned = model.components_[recovery.match(model.components_, topics)]
    ax.plot(topics[:, :10].ravel(), learned[:, :10].ravel(), "o", label="complete")
    ax.plot(topics[:, 10:].ravel(), learned[:, 10:].ravel(), "o", mfc="none", label="60 % gaps")
    ax.plot([0, 0.6], [0, 0.6], color="0.7", zorder=0)
    ax.set_title(name, fontsize=10)
    ax.set_xlabel("true share in the topic")
    print(name, recovery.angles(model.components_, topics).round(3))
axes[0].set_ylabel("learned")
axes[0].legend()

# %%
# Shares of topics in each row are less sure where words are not recorded: the third topic is mostly
# one such word, and without it nobody can tell how much of the topic a row has.

order = recovery.match(model.components_, topics)
for name, rows in {"as recorded": counts, "if all were": complete}.items():
    found = model.transform(rows)[:, order]
    print(f"mean error of a share, {name}: {np.abs(found - shares).mean():.3f}")
