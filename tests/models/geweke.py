"""Whether draws given what is known have the law that they should, in the manner of Geweke.

Draw everything from the model. Then by turns forget a part and draw it anew given the rest: if
those draws are right, what comes out has the same law as what went in, however often it is done.
The two are told apart by means of many functions of a row, whose errors are known since rows are
independent.

J. Geweke (2004), Getting it right: joint distribution tests of posterior simulators.
"""

import numpy as np

FAR = 4.5
"""Standard errors that are no chance: one of 150,000."""


def statistics(X, like):
    """Functions of each row, in units of the table ``like``: values, products, and which are high.

    Far values count by their logarithms, or a few of them would decide.
    """
    left, right = np.triu_indices(X.shape[1])
    low, middle, high = np.quantile(like, [0.2, 0.5, 0.8], axis=0)
    near = np.arcsinh((X - middle) / (high - low))
    return np.hstack([near, near[:, left] * near[:, right], high < X, low > X])


def apart(before, after):
    """By how many standard errors the means of functions of rows differ at most."""
    one, other = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    error = np.sqrt(one.var(axis=0) / len(one) + other.var(axis=0) / len(other))
    gap = np.abs(one.mean(axis=0) - other.mean(axis=0))
    return float((gap[error > 0] / error[error > 0]).max())


def forgetting(X, fill, n_turns, rng):
    """``X`` after so many turns in which half of the cells are forgotten and filled again."""
    for _ in range(n_turns):
        X = fill(np.where(rng.random(X.shape) < 0.5, np.nan, X))
    return X
