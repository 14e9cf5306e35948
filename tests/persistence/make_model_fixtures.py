"""Writes the models that later versions must be able to load, and what they predict.

Run once for each version of the format: ``python tests/persistence/make_model_fixtures.py 1``.
Files that are there are never replaced, because what they hold is what an older version wrote.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from halfseen import (
    GammaPoisson,
    GaussianMixture,
    HiddenMarkov,
    LatentClass,
    LatentDirichletAllocation,
    simulate,
)
from halfseen.io.preprocessing import Preprocessing

FOLDER = Path(__file__).parent / "fixtures"


def tables():
    rng = np.random.default_rng(11)
    means = [[0, 0, 0, 0], [6, 5, 4, 3]]
    X, _ = simulate.gaussian_mixture(400, [0.6, 0.4], means, 1.0, rng)
    X = simulate.independent_gaps(X, [1, 1, 1, 0.5], rng)
    topics = [[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5]]
    counts, _ = simulate.gamma_poisson(400, topics, [1.0, 1.5], 0.05, rng)
    counts = simulate.independent_gaps(counts, [1, 1, 1, 0.6], rng)
    names = ["âge", "pulse", "lactate (mmol/L)", "crp"]
    return pd.DataFrame(X, columns=names).assign(ward=3.0), counts


def people():
    """Columns of every kind."""
    rng = np.random.default_rng(12)
    ill = rng.integers(2, size=300)
    frame = pd.DataFrame(
        {
            "température": rng.normal(36.8 + 2 * ill, 0.5),
            "visits": rng.poisson(0.5 + 3 * ill).astype(float),
            "town": np.array(["Aachen", "Bonn", "Celle"])[rng.integers(2 + ill, size=300)],
            "smokes": np.where(rng.random(300) < 0.2 + 0.5 * ill, "yes", "no"),
            "pain": 1.0 + np.minimum(rng.poisson(0.5 + 2 * ill), 4),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.2)


def models():
    frame, counts = tables()
    return {
        "mixture": (GaussianMixture(2, covariance_type="diag", random_state=0), frame),
        "topics": (GammaPoisson(2, feature_weights=np.array([1.0, 1.0, 1.0, 0.5])), counts),
        "classes": (LatentClass(2, gaps="informative", random_state=0), people()),
        "markov": (HiddenMarkov(2, random_state=0), people()),
        "allocation": (LatentDirichletAllocation(2, concentration=2.5, random_state=0), counts),
    }


def outputs(model, X):
    """What a model says of a few rows, as lists."""
    if hasattr(model, "transform"):
        return {"transform": model.transform(X).tolist(), "score": model.score(X)}
    return {
        "predict_proba": model.predict_proba(X).tolist(),
        "score_samples": model.score_samples(X).tolist(),
    }


def preprocessed():
    """A model of columns on a log scale, standardised, as the command line fits them."""
    frame = np.exp(tables()[0][["pulse", "crp", "âge"]] / 4)
    done = Preprocessing.learn(
        list(frame), frame.to_numpy(), log=["crp"], standardise=True, missing_values=["-9"]
    )
    table = pd.DataFrame(done.apply(frame.to_numpy()), columns=done.fitted_names)
    model = GaussianMixture(2).fit(table)
    model.preprocessing_ = done
    return model, table


def main(version):
    fitted = {name: (model.fit(table), table) for name, (model, table) in models().items()}
    for name, (model, table) in {**fitted, "preprocessed": preprocessed()}.items():
        if (FOLDER / f"{name}-{version}.halfseen").exists():
            continue
        model.save(FOLDER / f"{name}-{version}.halfseen")
        rows = [[None if pd.isna(x) else x for x in row] for row in np.asarray(table)[:8]]
        content = {"rows": rows, "outputs": outputs(model, table[:8])}
        (FOLDER / f"{name}-{version}.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
