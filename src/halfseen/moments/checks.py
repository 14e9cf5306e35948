"""What the moments must be able to give, and what is said when they cannot."""

from collections.abc import Sequence

import numpy as np

from halfseen.moments.moments import Moments
from halfseen.rows.arrays import Array
from halfseen.rows.errors import DataError
from halfseen.rows.naming import features, quoted


def check_pairs(count: Array, names: Sequence[str]) -> None:
    """Every pair of features needs a row that holds both."""
    apart = np.argwhere(np.triu(count == 0))
    if not len(apart):
        return
    others = f" (nor are {len(apart) - 1} other pairs)" if len(apart) > 1 else ""
    raise DataError(
        f"{features(names, apart[0])} are never observed in the same row, so their covariance "
        f"cannot be estimated{others}. Drop one of them, add rows that hold both, or use "
        "method='partial', which uses the complete features only."
    )


def check_rank(moments: Moments, names: Sequence[str], rank: int, n_components: int) -> None:
    """The features must span as many dimensions as the components need."""
    scale = np.sqrt(np.diag(moments.covariance).clip(min=np.finfo(float).tiny))
    values = np.linalg.eigvalsh(moments.covariance / np.outer(scale, scale))
    available = int(np.count_nonzero(np.abs(values) > 1e-10 * np.abs(values).max(initial=0.0)))
    if available < rank:
        raise DataError(
            f"n_components={n_components} needs features that span at least {rank} dimensions, but "
            f"the {len(names)} used (n_features={len(names)}: {quoted(names, range(len(names)))}) "
            f"span {available}. Use at most {min(n_components - rank + available, len(names))} "
            "components, or add "
            "features that are not sums or copies of others."
        )
