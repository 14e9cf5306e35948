"""Tables that are one cloud, tables of known groups, and real ones with labels or a published K."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from scipy.stats import gamma, norm
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from halfseen.data.arrays import Array, Labels

Rng = np.random.Generator
FOLDER = Path(os.environ.get("HALFSEEN_DATA", "../shared/data"))
GAPS = 0.3


class Known(NamedTuple):
    """A table whose answer is known."""

    values: Array  # (n, d)
    labels: Labels | None  # (n,)
    n_groups: int


def _correlated(n: int, d: int, r: float, rng: Rng) -> Array:
    return np.asarray(
        np.sqrt(r) * rng.normal(size=(n, 1)) + np.sqrt(1 - r) * rng.normal(size=(n, d))
    )


def _rotated(table: Array, rng: Rng) -> Array:
    return np.asarray(table @ np.linalg.qr(rng.normal(size=(table.shape[1],) * 2))[0])


def _ball(n: int, d: int, rng: Rng) -> Array:
    direction = rng.normal(size=(n, d))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return direction * rng.random((n, 1)) ** (1 / d)


def _shell(n: int, d: int, noise: float, rng: Rng) -> Array:
    direction = rng.normal(size=(n, d))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return direction + noise * rng.normal(size=(n, d))


def _banana(n: int, rng: Rng) -> Array:
    x = rng.normal(size=(n, 3))
    x[:, 1] += 0.8 * (x[:, 0] ** 2 - 1)
    return x


def _heteroscedastic(n: int, rng: Rng) -> Array:
    x = rng.normal(size=(n, 3))
    x[:, 1:] *= np.exp(0.6 * x[:, :1])
    return x


def _crescent(n: int, rng: Rng) -> Array:
    angle = rng.uniform(0, np.pi, n)
    curve = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.15 * rng.normal(size=(n, 2))
    return np.column_stack([curve, rng.normal(size=n)])


def _growth(n: int, rng: Rng) -> Array:
    t = rng.uniform(-3, 3, n)
    columns = [1 / (1 + np.exp(-t)), t, np.exp(t / 3)]
    return np.column_stack(columns) + 0.15 * rng.normal(size=(n, 3))


def _items(n: int, d: int, levels: int, traits: int, rng: Rng) -> Array:
    """Graded items: cuts of a linear function of traits and noise."""
    theta = rng.normal(size=(n, traits))
    loading = rng.uniform(0.5, 1.5, (traits, d)) * (
        np.arange(d) % traits == np.arange(traits)[:, None]
    )
    latent = theta @ loading + rng.normal(size=(n, d))
    spread = latent.std(axis=0)
    cuts = np.linspace(-1, 1, levels - 1) if levels > 2 else np.zeros(1)
    shift = rng.uniform(-0.4, 0.4, d)
    above = latent[:, :, None] > (cuts + shift[:, None]) * spread[:, None]
    return np.asarray(above.sum(axis=2), dtype=float)


def _nominal(n: int, rng: Rng) -> Array:
    theta = rng.normal(size=(n, 1, 1))
    logits = theta * rng.normal(0, 1.2, (6, 4)) + rng.normal(0, 0.5, (6, 4))
    return np.asarray((logits + rng.gumbel(size=(n, 6, 4))).argmax(axis=2), dtype=float)


def _mixed(latent: Array) -> Array:
    """Three numbers of one skewed margin, two graded columns and a binary one."""
    uniform = norm.cdf(latent)
    numbers = gamma.ppf(uniform[:, :3], 3)
    graded = np.floor(uniform[:, 3:5] * 4)
    return np.column_stack([numbers, graded, uniform[:, 5] > 0.6])


def _zero_inflated(n: int, rng: Rng) -> Array:
    x = np.exp(_correlated(n, 4, 0.4, rng))
    x[:, 0] *= rng.random(n) > 0.3
    return x


def _t_copula(n: int, rng: Rng) -> Array:
    heavy = _correlated(n, 4, 0.5, rng) / np.sqrt(rng.chisquare(4, (n, 1)) / 4)
    return np.exp(0.3 * heavy)


SEEN: dict[str, Callable[[int, Rng], Array]] = {
    "normal": lambda n, rng: rng.normal(size=(n, 5)),
    "normal, 20 columns": lambda n, rng: rng.normal(size=(n, 20)),
    "correlated": lambda n, rng: _correlated(n, 5, 0.7, rng),
    "two factors": lambda n, rng: (
        rng.normal(size=(n, 2)) @ rng.normal(size=(2, 8)) + 0.5 * rng.normal(size=(n, 8))
    ),
    "lognormal, correlated": lambda n, rng: np.exp(0.8 * _correlated(n, 4, 0.6, rng)),
    "exponential": lambda n, rng: rng.exponential(size=(n, 4)),
    "rotated exponential": lambda n, rng: _rotated(rng.exponential(size=(n, 3)), rng),
    "t3": lambda n, rng: _correlated(n, 4, 0.4, rng) / np.sqrt(rng.chisquare(3, (n, 1)) / 3),
    "uniform": lambda n, rng: rng.random((n, 4)),
    "disc": lambda n, rng: _ball(n, 2, rng),
    "ring": lambda n, rng: _shell(n, 2, 0.15, rng),
    "banana": _banana,
    "rotated banana": lambda n, rng: _rotated(_banana(n, rng), rng),
    "heteroscedastic": _heteroscedastic,
    "counts": lambda n, rng: rng.poisson(6 * np.exp(0.4 * _correlated(n, 4, 0.6, rng))).astype(
        float
    ),
    "binary items": lambda n, rng: _items(n, 8, 2, 1, rng),
    "graded items": lambda n, rng: _items(n, 6, 5, 1, rng),
    "mixed, one copula": lambda n, rng: _mixed(_correlated(n, 6, 0.5, rng)),
}
"""Clouds that the rule was made with (other seeds of them confirm it)."""
UNSEEN: dict[str, Callable[[int, Rng], Array]] = {
    "ball, 5 columns": lambda n, rng: _ball(n, 5, rng),
    "shell, 3 columns": lambda n, rng: _shell(n, 3, 0.2, rng),
    "Laplace": lambda n, rng: rng.laplace(size=(n, 4)),
    "cone": lambda n, rng: (1 + 3 * (u := rng.random((n, 1)))) * rng.normal(size=(n, 3)) + 6 * u,
    "crescent": _crescent,
    "simplex": lambda n, rng: rng.dirichlet([1.5, 2, 3, 4], n)[:, :3],
    "triangle": lambda n, rng: rng.dirichlet([1, 1, 1], n)[:, :2],
    "t copula, lognormal": _t_copula,
    "growth curve": _growth,
    "zeros and lognormal": _zero_inflated,
    "items of two traits": lambda n, rng: _items(n, 10, 3, 2, rng),
    "nominal items": _nominal,
    "mixed, factors": lambda n, rng: _mixed(
        _rotated(rng.normal(size=(n, 2)), rng) @ rng.normal(0, 0.5, (2, 6))
        + 0.8 * rng.normal(size=(n, 6))
    ),
}
"""Clouds that were looked at only when the rule was finished."""
CLOUDS = SEEN | UNSEEN
GROUPS = [(k, skewed) for k in (2, 3, 4) for skewed in (False, True)]


def cloud(kind: str, n: int, seed: int, *, gaps: bool) -> Array:
    """One cloud of a kind, with 30 % of the cells missing at random or complete."""
    rng = np.random.default_rng((seed, list(CLOUDS).index(kind), n))
    table = CLOUDS[kind](n, rng)
    return _with_gaps(table, rng) if gaps else table


def groups(k: int, n: int, seed: int, *, skewed: bool, distance: float = 3.5) -> Known:
    """Groups in five columns, the nearest two so many standard deviations apart."""
    rng = np.random.default_rng((seed, k, int(skewed)))
    means = rng.normal(size=(k, 5))
    apart = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(k, 1)].min()
    weights = rng.uniform(0.7, 1.3, k)
    labels = rng.choice(k, n, p=weights / weights.sum())
    noise = (rng.gamma(2, size=(n, 5)) - 2) / np.sqrt(2) if skewed else rng.normal(size=(n, 5))
    return Known(means[labels] * distance / apart + noise, labels, k)


def classes(k: int, n: int, seed: int) -> Known:
    """Latent classes: eight binary items, each class saying yes to its own ones (.85, else .15)."""
    rng = np.random.default_rng((seed, k, 7))
    labels = rng.integers(k, size=n)
    yes = np.array([[(item * k // 8 == one) for item in range(8)] for one in range(k)])
    values = rng.random((n, 8)) < np.where(yes, 0.85, 0.15)[labels]
    return Known(values.astype(float), labels, k)


def _with_gaps(table: Array, rng: Rng) -> Array:
    table = np.where(rng.random(table.shape) < GAPS, np.nan, table)
    return table[~np.isnan(table).all(axis=1)]


LABELLED = ("iris", "crabs", "thyroid", "penguins", "wdbc", "wine", "breast cancer")
PUBLISHED = {"cheating": 2, "election": 3, "BEPS": 2}
"""Classes in the literature: Dayton 1998; Linzer and Lewis 2011; the two large parties."""


def labelled(name: str) -> Known:
    """A real table with labels."""
    if name in ("wine", "breast cancer"):
        found = load_wine() if name == "wine" else load_breast_cancer()
        return Known(found.data, found.target, len(set(found.target)))
    if name == "iris":
        found = load_iris()
        return Known(found.data, found.target, 3)
    if name == "penguins":
        frame = pd.read_csv(FOLDER / "tables" / "penguins.csv")
        frame = frame.dropna(subset=["bill_length_mm"])
        columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
        return Known(frame[columns].to_numpy(float), pd.factorize(frame["species"])[0], 3)
    frame = pd.read_csv(FOLDER / "labelled" / f"{name}.csv")
    labels = pd.factorize(frame.pop("label"))[0]
    return Known(frame.to_numpy(float), labels, labels.max() + 1)


def published(name: str) -> Known:
    """A latent class table of the literature, codes of its items."""
    frame = pd.read_csv(FOLDER / "tables" / f"{name}.csv")
    columns = {
        "cheating": ["LIEEXAM", "LIEPAPER", "FRAUD", "COPYEXAM"],
        "election": [c for c in frame.columns if c.endswith(("G", "B")) and c[0].isupper()],
        "BEPS": [
            c for c in frame.columns if "." in c or c in ("Blair", "Hague", "Kennedy", "Europe")
        ],
    }[name]
    codes = [pd.factorize(frame[c], sort=True)[0].astype(float) for c in columns]
    values = np.column_stack(codes)
    return Known(np.where(values < 0, np.nan, values), None, PUBLISHED[name])
