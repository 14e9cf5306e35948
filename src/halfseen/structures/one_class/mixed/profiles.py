"""What columns are like in each class, by their kinds."""

from typing import Any

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.structures.one_class.mixed.kinds import Kind


def profiles(model: Any) -> dict[str, dict[str, Any]]:
    """One entry for each column that is used, with arrays (k,) of what it is like in the classes.

    Continuous columns have ``mean`` and ``std``, counts ``rate`` and ``std``, others
    ``probabilities`` by category.
    """
    names, codes = model.coding_.names, model.kind_codes_
    return {name: _profile(model, d) for d, name in enumerate(names) if not np.isnan(codes[d])}


def _profile(model: Any, d: int) -> dict[str, Any]:
    kind = Kind(int(model.kind_codes_[d]))
    spread = np.sqrt(_variances(model)[:, d])
    if kind is Kind.CONTINUOUS:
        return {"kind": kind.word, "mean": model.means_[:, d], "std": spread}
    if kind is Kind.COUNT:
        return {"kind": kind.word, "rate": model.rates_[:, d], "std": spread}
    shares = model.level_shares_[:, :, d]
    return {
        "kind": kind.word,
        "probabilities": dict(zip(categories(model, d), shares, strict=False)),
    }


def _variances(model: Any) -> Array:
    """Of all columns in each class, for those that are used; (k, d)."""
    fitted = model.fitted
    found = np.full((model.n_components_, len(fitted.kept)), np.nan)
    found[:, fitted.kept] = fitted.model.emission.variances(fitted.parameters)
    return found


def categories(model: Any, d: int) -> list[Any]:
    """The values of a column of few values: words, or numbers."""
    values = model.level_values_[:, d]
    values = values[np.isfinite(values)]
    labels = model.coding_.labels[d]
    if labels:
        return [labels[int(value)] for value in values]
    return [int(value) if value == int(value) else float(value) for value in values]
