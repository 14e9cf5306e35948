"""What is observed in a table, at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.formatting import percent, quoted
from halfseen.data.rows import Rows, gathered
from halfseen.io.source import open_table
from halfseen.io.table import Reading
from halfseen.io.validation import non_numeric_names
from halfseen.plots.canvas import axes, height_for, labels, name_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BANDS = 500  # of neighbouring rows that are drawn as one, as a picture has few more pixels


def missingness_map(X: Any, *, sort_rows: bool = False, ax: Axes | None = None) -> Axes:
    """Which cells of ``X`` (n, d) are observed: a line a feature, the rows from left to right.

    Of a long table neighbouring rows are drawn as one, shaded by the fraction of them observed.

    Parameters
    ----------
    X : array or data frame of shape (n, d), or anything else that ``fit`` takes
        The table; NaN or null marks the gaps.
    sort_rows : bool, default=False
        Put rows with the same gaps side by side, the most common pattern first, and so show which
        features are missing together. Otherwise rows stay in their order, which shows gaps that
        come and go.
    ax : matplotlib Axes or None, default=None
        Where to draw.

    Examples
    --------
    >>> import numpy as np
    >>> from halfseen import plots
    >>> X = np.array([[1.0, np.nan], [2.0, 3.0]])
    >>> plots.missingness_map(X).get_xlabel()
    'row of the table'
    """
    rows = _rows_of(X)
    observed: Mask = gathered(rows, lambda block: block.observed)
    n_rows, n_features = observed.shape
    if sort_rows:
        observed = observed[_by_pattern(observed)]
    ax = axes(ax, 7.0, height_for(n_features))
    image = ax.imshow(
        _bands(observed).T,
        aspect="auto",
        interpolation="nearest",
        cmap="Blues",
        vmin=0.0,
        vmax=1.0,
        extent=(0.0, n_rows, n_features - 0.5, -0.5),
    )
    shares = zip(labels(rows.names), observed.mean(axis=0), strict=True)
    name_rows(ax, [f"{name}  {percent(share).replace('%', ' %')}" for name, share in shares])
    ax.set_xlabel("rows, those with the same gaps together" if sort_rows else "row of the table")
    ax.set_ylabel("feature, and rows observed")
    bar = ax.figure.colorbar(image, ax=ax, ticks=[0, 0.5, 1], fraction=0.03, pad=0.02)
    bar.ax.set_yticklabels(["missing", "half", "observed"])
    return ax


def _rows_of(X: Any) -> Rows:
    """The rows of anything that ``fit`` takes."""
    try:
        return open_table(X, Reading(takes_sparse=True)).rows
    except (TypeError, ValueError) as error:
        names = non_numeric_names(X)
        if not names:
            raise
        raise DataError(
            f"{quoted(names)} cannot be drawn as numbers. Leave out columns of "
            "text and dates, or code them as numbers."
        ) from error


def _by_pattern(observed: Mask) -> Any:
    """An order in which rows with the same gaps are neighbours, the most common first."""
    _, pattern, count = np.unique(observed, axis=0, return_inverse=True, return_counts=True)
    pattern = pattern.reshape(-1)
    return np.lexsort((pattern, -count[pattern]))


def _bands(observed: Mask) -> Array:
    """Fractions of the rows of each band that are observed; (bands, d)."""
    edges = np.linspace(0, len(observed), min(len(observed), MOST_BANDS) + 1).astype(int)
    sums = np.add.reduceat(observed.astype(float), edges[:-1], axis=0)
    bands: Array = sums / np.diff(edges)[:, None]
    return bands
