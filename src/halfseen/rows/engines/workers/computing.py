"""Asking Dask for results; an error names the partition that is to blame."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from halfseen.rows.errors import DataError

Labelled = tuple[str, Any]
"""What an error calls a partition, and its content, in which something is Delayed."""


RETRIES = 2
"""How often a task that raised is tried again, for disks and networks that falter."""

R = TypeVar("R")


def computed(result: Any, contents: Sequence[Labelled]) -> Any:
    """The value of what is Delayed."""
    return _asked(lambda: result.compute(retries=RETRIES), contents)


def persisted(results: Sequence[Any], contents: Sequence[Labelled]) -> Any:
    """The same, kept by Dask where it was made."""
    from dask import persist

    return _asked(lambda: persist(*results, retries=RETRIES), contents)


@contextmanager
def naming(label: str) -> Iterator[None]:
    """On a worker: what goes wrong is said of the partition."""
    try:
        yield
    except Exception as error:
        raise DataError(f"{label} fails whenever it is tried: {error}") from error


def _asked(ask: Callable[[], R], contents: Sequence[Labelled]) -> R:
    try:
        # BLAS in one thread, as in Dask's own workers, where this process is the worker.
        with threadpool_limits(1):
            return ask()
    except DataError:
        raise
    except Exception as error:
        raise _failure(error, contents) from error


def _failure(error: Exception, partitions: Sequence[Labelled]) -> Exception:
    """The error to raise for one of Dask's: it names the partition if one can be told."""
    if type(error).__name__ == "KilledWorker":
        return _of_killed_workers(error, partitions)
    found = _failing(partitions)
    if found is None:
        return error
    (label, _), reason = found
    return DataError(
        f"{label} cannot be computed, however often it is tried: {type(reason).__name__}: "
        f"{reason}. Mend what Dask computes it from, or leave it out."
    )


def _of_killed_workers(error: Any, partitions: Sequence[Labelled]) -> Exception:
    key = str(error.task)
    ours = re.fullmatch(r"halfseen-[0-9a-f]{32}-(\d+)", key)
    if ours:
        own = [partitions[int(ours[1])][0]]
    else:
        own = [label for label, content in partitions if key in map(str, _keys(content))]
    label = own[0] if own else f"The task {key}"
    told = f"{label}, or one that was on the same workers,"
    if key.startswith("halfseen-pass-"):  # what all share, which was on the workers too
        told = "One of the partitions"
    return DataError(
        f"{told} ended every worker that it was given to, most likely because they ran out of "
        "memory. Make partitions smaller (rechunk, repartition, or smaller row groups), or give "
        "workers more memory."
    )


def _keys(content: Any) -> Any:
    from dask import delayed, optimize

    return optimize(delayed(_forgotten)(content))[0].__dask_graph__()


def _failing(partitions: Sequence[Labelled]) -> tuple[Labelled, Exception] | None:
    """The first partition that cannot be computed, found by halves; None if all can be now."""
    reason = _error_of(partitions)
    if reason is None:
        return None
    while len(partitions) > 1:
        middle = len(partitions) // 2
        first = _error_of(partitions[:middle])
        partitions = partitions[middle:] if first is None else partitions[:middle]
        reason = first or reason
    return partitions[0], _error_of(partitions) or reason


def _error_of(partitions: Sequence[Labelled]) -> Exception | None:
    import dask

    try:
        dask.compute(*(dask.delayed(_forgotten)(content) for _, content in partitions))
    except Exception as error:
        return error
    return None


def _forgotten(content: Any) -> None:
    """So that partitions do not travel."""
