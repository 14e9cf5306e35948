"""
States that patients pass through
=================================

Days of patients follow each other. A chain of hidden states uses what the days before and after
say, also for days of which nothing is known.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from halfseen import HiddenMarkov

rng = np.random.default_rng(0)
ill = np.zeros((80, 30), dtype=bool)
for day in range(1, 30):
    ill[:, day] = rng.random(80) < np.where(ill[:, day - 1], 0.85, 0.08)
visits = pd.DataFrame(
    {
        "patient": np.repeat(np.arange(80), 30),
        "day": np.tile(np.arange(30), 80),
        "temperature": rng.normal(np.where(ill, 38.6, 36.9).ravel(), 0.6),
        "cough": np.where(rng.random(2400) < np.where(ill, 0.8, 0.2).ravel(), "yes", "no"),
    }
)
visits.loc[rng.random(2400) < 0.5, "temperature"] = None
visits.loc[rng.random(2400) < 0.4, "cough"] = None

model = HiddenMarkov(2, random_state=0).fit(visits, sequence="patient", order="day")
print(model.transition_.round(2))

# %%
# One patient: what was measured, what was true, and what the chain makes of it.

sick = int(np.nanargmax(model.means_[:, 0]))
patient = int(np.abs(np.diff(ill, axis=1)).sum(axis=1).argmax())
days = visits[visits.patient == patient]
probability = model.predict_proba(days)[:, sick]

fig, (above, below) = plt.subplots(2, 1, figsize=(7, 4), sharex=True, layout="constrained")
above.plot(days.day, days.temperature, "o")
above.set_ylabel("temperature (°C)")
below.fill_between(days.day, ill[patient], step="mid", alpha=0.3, label="truly ill")
below.plot(days.day, probability, "k.-", label="probability of the ill state")
below.set_xlabel("day")
below.legend(loc="upper right")
