"""A mixture of every kind of column, written out, and naive densities of its cells."""

import math

import numpy as np
from scipy.stats import cauchy, nbinom, norm

from halfseen.data.engines.memory import MemoryRows
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.mixed import Mixed
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.distributions.normal import Normal
from halfseen.moments.survey import survey

NAMES = ("number", "spiked", "count", "category", "level", "pair")
DECLARED = {
    "number": "continuous",
    "spiked": "continuous",
    "count": "count",
    "category": "categorical",
    "level": "ordinal",
    "pair": "binary",
}


def table(n=400, seed=0, gaps=0.3, wild=250.0):
    """Rows of two groups, one column of each kind, a wild cell, and gaps."""
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=n)
    X = np.column_stack(
        [
            rng.normal(3.0 * z, 1.0),
            np.where(rng.random(n) < 0.3 + 0.3 * z, 0.0, rng.normal(5.0 + z, 1.0)),
            rng.poisson(rng.gamma(2.0, 1.0 + z)),
            rng.integers(3, size=n) * z + (1 - z) * rng.integers(2, size=n),
            np.array([0.5, 1.0, 4.0])[np.minimum(rng.poisson(0.5 + z), 2)],
            (rng.random(n) < 0.2 + 0.5 * z) * 7.0 + 1.0,
        ]
    ).astype(float)
    X[rng.random(X.shape) < gaps] = np.nan
    X[0, 0] = wild
    return X


def rows_of(X, weights=None):
    rows = MemoryRows(X, NAMES[: X.shape[1]], weights)
    return rows, survey(rows, 0.95)


def emission_for(X, *, outliers=True, informative=False, declared=None):
    rows, seen = rows_of(X)
    normal = Normal(SHAPES["diag"], outliers=outliers)
    mixed = Mixed(normal, DECLARED if declared is None else declared, informative)
    return mixed.for_table(rows, seen.of_kept())


def mixture(emission, k=3, seed=1):
    """Any parameters that suit the emission's table."""
    rng, facts = np.random.default_rng(seed), emission.looked_through
    d = len(facts.kinds)
    of = {name: np.full((k, d), np.nan) for name in ("centres", "variances", "rates", "shapes")}
    shares = np.full((len(facts.level_values), k, d), np.nan)
    for column, kind in enumerate(facts.kinds):
        if kind == 0:
            of["centres"][:, column] = rng.normal(3, 2, size=k)
            of["variances"][:, column] = rng.uniform(0.5, 3, size=k)
        elif kind == 1:
            of["rates"][:, column] = rng.uniform(0.5, 4, size=k)
            of["shapes"][:, column] = rng.uniform(0.7, 20, size=k)
        else:
            n = int(np.isfinite(facts.level_values[:, column]).sum())
            shares[:n, :, column] = rng.dirichlet(np.ones(n), size=k).T
    chance = np.where(emission.informative & (facts.observed < 1), 0.5, np.nan)
    start = MixedParameters(
        weights=rng.dirichlet(np.ones(k)),
        means=of["centres"],
        variances=of["variances"],
        centres=of["centres"],
        rates=of["rates"],
        count_shapes=of["shapes"],
        most_counts=facts.most_counts,
        level_shares=shares,
        level_values=facts.level_values,
        presence=chance * rng.uniform(0.4, 1.6, size=(k, d)),
        kinds=facts.kinds,
    )
    return emission.em_start(start)


def cell_density(p, k, d, x):
    """The density of one observed cell, or 1 if it says nothing."""
    kind = p.kinds[d]
    if kind == 0:
        return _continuous(p, k, d, x)
    if kind == 1:
        if x > p.most_counts[d] or x < 0 or x != int(x):
            return 1.0
        r, mu = p.count_shapes[k, d], p.rates[k, d]
        return nbinom.pmf(x, r, r / (r + mu))
    for value, share in zip(p.level_values[:, d], p.level_shares[:, k, d], strict=True):
        if value == x:
            return share
    return 1.0


def _continuous(p, k, d, x):
    normal = norm.pdf(x, p.centres[k, d], math.sqrt(p.variances[k, d]))
    if p.outlier_share == 0:
        return normal
    wild = cauchy.pdf(x, p.middle[d], 2 * p.spread[d])
    own = (1 - p.outlier_share) * normal + p.outlier_share * wild
    if np.isnan(p.spike[d]):
        return own
    return p.spike_shares[k, d] if x == p.spike[d] else (1 - p.spike_shares[k, d]) * own


def log_density(p, k, row):
    """Of what is observed in a row, and of which columns are."""
    total = 0.0
    for d, x in enumerate(row):
        if not np.isnan(x):
            total += math.log(cell_density(p, k, d, x))
        if np.isfinite(p.presence[k, d]):
            total += math.log(1 - p.presence[k, d] if np.isnan(x) else p.presence[k, d])
    return total
