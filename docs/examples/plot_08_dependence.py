"""
Which columns tell of which, and which cells surprise
=====================================================

The classes say how columns go together: mutual information for each pair, and for every cell how
unlikely it is given the rest of its row.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from halfseen import LatentClass

rng = np.random.default_rng(0)
child = rng.random(1200) < 0.4
table = pd.DataFrame(
    {
        "height": rng.normal(np.where(child, 125, 172), 9).round(),
        "school": np.where(rng.random(1200) < np.where(child, 0.97, 0.03), "pupil", "none"),
        "works": np.where(rng.random(1200) < np.where(child, 0.01, 0.75), "yes", "no"),
        "left-handed": rng.choice(["yes", "no"], 1200, p=[0.1, 0.9]),
    }
)
table = table.mask(rng.random(table.shape) < 0.2)
table.loc[0] = [181.0, "pupil", "yes", "no"]

model = LatentClass(2, random_state=0).fit(table)
found = model.dependence()
fig, ax = plt.subplots(figsize=(4.8, 3.8), layout="constrained")
image = ax.imshow(found.values, cmap="Blues", vmin=0)
ax.set_xticks(range(4), found.names, rotation=30, ha="right")
ax.set_yticks(range(4), found.names)
fig.colorbar(image, label="mutual information (nats)")

# %%
# The first row is a tall, working pupil. Of the words, that one is odd; a height's number is of a
# density per centimetre, to be compared with other heights only.

print(model.surprisal(table).loc[0].round(2))
