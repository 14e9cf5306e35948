"""
Latent classes of a survey
==========================

Answers in words, counts and measurements in one table, each with gaps. Kinds of columns are found
from the data.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from halfseen import LatentClass

rng = np.random.default_rng(0)
rural = rng.random(1500) < 0.35
survey = pd.DataFrame(
    {
        "commute (km)": rng.gamma(4, np.where(rural, 6.0, 1.5)).round(1),
        "cars": rng.poisson(np.where(rural, 1.8, 0.6)),
        "goes by": np.where(
            rng.random(1500) < np.where(rural, 0.85, 0.3),
            "car",
            rng.choice(["train", "bicycle"], 1500),
        ),
        "garden": np.where(rng.random(1500) < np.where(rural, 0.9, 0.25), "yes", "no"),
        "blood group": rng.choice(["A", "B", "0"], 1500),
    }
)
survey = survey.mask(rng.random(survey.shape) < 0.25)

model = LatentClass(2, random_state=0).fit(survey)
print(model.kinds_)

# %%
# What each class is like, and which columns tell the classes apart, in words:

print(model.explain())

# %%
# Of each answer, how likely it is in each class:

shares = pd.DataFrame(model.profiles_["goes by"]["probabilities"])
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
shares.index = [f"class {k + 1} ({w:.0%})" for k, w in enumerate(model.weights_)]
shares.plot.barh(stacked=True, ax=ax)
ax.set_xlabel("probability")
ax.legend(title="goes by", loc="center left", bbox_to_anchor=(1, 0.5))
