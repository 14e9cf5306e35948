"""Where the rows to learn from are: in memory, in files, in batches, or on a cluster."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.utils import get_tags

from halfseen.rows.batch_size import MEMORY
from halfseen.rows.batched import Source, StreamedRows, all_columns
from halfseen.rows.memory import MemoryRows
from halfseen.rows.rows import Rows
from halfseen.rows.sparse.rows import SparseRows
from halfseen.rows.stages import Stages
from halfseen.rows.workers.cluster import ClusterRows
from halfseen.tables.arrays_and_frames import feature_names, read_batch, read_table
from halfseen.tables.batches import is_batches, open_batches
from halfseen.tables.dask_collections import is_dask, parts_of, rows_of_collection, rows_of_files
from halfseen.tables.files import Files, open_files
from halfseen.tables.observed_blocks import (
    ObservedBlocks,
    check_no_blocks,
    check_no_blocks_on_dask,
)
from halfseen.tables.row_weights import read_row_weights
from halfseen.tables.sparse_file import is_sparse_file, read_sparse_file
from halfseen.tables.sparse_matrix import read_sparse


def open_rows(
    estimator: Any, X: Any, sample_weight: Any, observed: ObservedBlocks | None = None
) -> tuple[Rows, Stages]:
    """The rows of an array, a frame, a sparse matrix, files or batches, and their clock.

    Arrays and frames of Dask are summed by Dask, and so are files if they say so.
    """
    threads = effective_n_jobs(estimator.n_jobs)
    takes_sparse = get_tags(estimator).input_tags.sparse
    if takes_sparse and isinstance(X, str | Path) and is_sparse_file(Path(X)):
        X = read_sparse_file(Path(X))
    if takes_sparse and issparse(X):
        return _sparse(estimator, X, sample_weight, observed, threads)
    if is_dask(X):
        check_no_blocks_on_dask(observed)
        return _collection(estimator, X, sample_weight)
    check_no_blocks(observed)
    if isinstance(X, str | Path):
        X = Files(X)
    if isinstance(X, Files) and X.dask:
        return _files_on_cluster(estimator, X, sample_weight)
    if isinstance(X, Files):
        return _streamed(estimator, open_files(X), sample_weight, threads, X.memory)
    if is_batches(X):
        return _streamed(estimator, open_batches(X, read_batch), sample_weight, threads)
    table = read_table(estimator, X)
    weights = read_row_weights(estimator, sample_weight, len(table))
    if weights is not None and not weights.all():
        # Rows are known by their numbers, which must not depend on where blocks are cut.
        table, weights = table[weights > 0], weights[weights > 0]
    stages = Stages(len(table), estimator.verbose)
    return MemoryRows(table, feature_names(estimator), weights, threads, stages.advance), stages


def is_elsewhere(X: Any) -> bool:
    """Whether rows are in files or come in batches, rather than lying in memory."""
    return isinstance(X, str | Path | Files) or is_batches(X)


def _sparse(
    estimator: Any, X: Any, sample_weight: Any, observed: ObservedBlocks | None, threads: int
) -> tuple[SparseRows, Stages]:
    weights = read_row_weights(estimator, sample_weight, X.shape[0])
    n_rows = X.shape[0] if weights is None else int(np.count_nonzero(weights))
    stages = Stages(n_rows, estimator.verbose)
    rows = read_sparse(
        estimator,
        X,
        reset=True,
        observed=observed,
        weights=weights,
        n_threads=threads,
        advance=stages.advance,
    )
    return rows, stages


def _streamed(
    estimator: Any, source: Source, sample_weight: Any, threads: int, memory: float = MEMORY
) -> tuple[StreamedRows, Stages]:
    stages = Stages(0, estimator.verbose)
    _check_unweighted(sample_weight)
    _keep_names(estimator, source)
    return all_columns(source, threads, stages.advance, memory), stages


def _collection(estimator: Any, X: Any, sample_weight: Any) -> tuple[ClusterRows, Stages]:
    parts = parts_of(X)
    # For the names, and to refuse what is refused in memory.
    if get_tags(estimator).input_tags.sparse and issparse(parts.example):
        read_sparse(estimator, parts.example, reset=True)
    else:
        read_table(estimator, parts.example)
    weights = sample_weight if sample_weight is None else np.asarray(sample_weight, dtype=float)
    rows = rows_of_collection(parts, feature_names(estimator), weights)
    read_row_weights(estimator, weights, rows.n_rows)
    return _clocked(rows, estimator)


def _files_on_cluster(
    estimator: Any, files: Files, sample_weight: Any
) -> tuple[ClusterRows, Stages]:
    source = open_files(files)
    _check_unweighted(sample_weight)
    _keep_names(estimator, source)
    try:
        rows = rows_of_files(source, files.memory)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "Files(…, dask=True) needs Dask. Install it with: pip install 'halfseen[dask]'"
        ) from missing
    return _clocked(rows, estimator)


def _clocked(rows: ClusterRows, estimator: Any) -> tuple[ClusterRows, Stages]:
    stages = Stages(rows.n_rows, estimator.verbose)
    return replace(rows, advance=stages.advance), stages


def _check_unweighted(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise ValueError(
            "Rows in files and batches have no sample_weight. Read them into memory to weigh them."
        )


def _keep_names(estimator: Any, source: Source) -> None:
    estimator.n_features_in_ = len(source.names)
    if source.named:
        estimator.feature_names_in_ = np.array(source.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit
