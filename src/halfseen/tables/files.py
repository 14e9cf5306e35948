"""A table in a file, or in all files of one kind in a folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halfseen.rows.engines.batch_size import MEMORY
from halfseen.tables.preprocessing import Preprocessing


@dataclass(frozen=True)
class Files:
    """A table in files, for ``fit``, where a path alone does not say enough.

    Columns that hold no numbers, and such as number the rows, are left aside with a warning that
    names them, unless ``columns`` are chosen. Models of mixed kinds of columns take words too, up
    to a hundred different ones a column.

    Parameters
    ----------
    path : str or Path
        A Parquet, Arrow, Feather, CSV, TSV (also gzipped: ``.csv.gz``), ``.npy`` or ``.npz`` file,
        or a folder of files of one kind. Files of a folder have the same columns, in any order. A
        sparse matrix in a file (``.mtx``, or ``.npz`` of SciPy) is read as a whole.
    columns : sequence of str or int, or None, default=None
        Which columns to learn from, in this order; the others are not read. By name, or by number
        in NumPy's files. None takes all that hold numbers.
    drop : sequence of str or int, default=()
        Columns that are not read, whatever they hold.
    vocabulary : str, Path, sequence of str or None, default=None
        What the columns of a sparse matrix are called: a text file of one word a line, or the
        words. None looks beside the matrix, by names such as ``ap_terms.txt``, ``ap.vocab`` or
        ``vocabulary.txt`` beside ``ap.mtx``, or for an array ``vocab`` in an ``.npz``, and takes
        what has as many words as there are columns; ``()`` leaves columns to their numbers.
    show_text : bool, default=False
        Whether what is said of columns may quote cells of text, which may be names of people.
    memory : float, default=256
        MB that the batches of rows in flight may take together, which sets how many rows are read
        at a time. Beside it stand the sums of the fit, and what the format must hold at once: a
        page of each column of a Parquet file, a whole record batch of an Arrow file. More than the
        default is no faster.
    dask : bool, default=False
        Have the rows read and summed by Dask's workers, who must all see the path: those of the
        current ``distributed.Client`` or, without one, threads of this process. Every row group of
        a Parquet file is a partition, every file of another kind is one.
    missing_values : sequence of str, default=()
        Cells that stand for a gap, such as ``["unknown", "-999"]``, beside empty ones, NA, NaN,
        null and the like.
    preprocessing : Preprocessing or None, default=None
        Logarithms, shifts and scales of the columns, which are then those of its ``fitted_names``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from halfseen import Files, GaussianMixture, simulate
    >>> rng = np.random.default_rng(0)
    >>> X, _ = simulate.gaussian_mixture(500, [0.5, 0.5], [[0, 0, 0], [9, 9, 9]], 1.0, rng)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "table.npy", X)
    ...     model = GaussianMixture(2).fit(Files(folder, columns=[0, 2]))
    >>> model.means_.shape
    (2, 2)
    """

    path: str | Path
    columns: Sequence[str | int] | None = None
    memory: float = MEMORY
    dask: bool = False
    missing_values: Sequence[str] = ()
    preprocessing: Preprocessing | None = None
    drop: Sequence[str | int] = ()
    show_text: bool = False
    vocabulary: str | Path | Sequence[str] | None = None


def paths_of(X: Any) -> tuple[str | Path, ...]:
    """The file or folder that a table is in; nothing if it is elsewhere."""
    if isinstance(X, Files):
        return (X.path,)
    return (X,) if isinstance(X, str | Path) else ()
