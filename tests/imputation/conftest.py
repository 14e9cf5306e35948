"""A table of mixed columns that depend on each other, with gaps."""

import numpy as np
import pandas as pd
import pytest


def complete(n, seed):
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    heat = rng.normal(np.where(ill, 39.0, 36.8), 0.5)
    colour = np.where(heat > 38.5, "red", np.where(rng.random(n) < 0.5, "pale", "rosy"))
    return pd.DataFrame(
        {
            "heat": heat,
            "pulse": np.round(60 + 12 * (heat - 36) + rng.normal(size=n) * 4),
            "visits": rng.poisson(np.where(ill, 3.0, 0.5)),
            "cough": np.where(rng.random(n) < np.where(ill, 0.9, 0.2), "yes", "no"),
            "colour": colour,
        }
    )


def with_gaps(frame, share, seed):
    rng = np.random.default_rng(seed)
    frame = frame.astype({"visits": float})
    return frame.mask(rng.random(frame.shape) < share)


@pytest.fixture(scope="session")
def whole():
    return complete(400, 0)


@pytest.fixture(scope="session")
def gappy(whole):
    return with_gaps(whole, 0.15, 1)
