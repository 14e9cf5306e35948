"""Which partition it was that Dask could not give."""

from collections.abc import Sequence
from typing import Any

from halfseen.core.errors import DataError

Labelled = tuple[str, Any]
"""What an error calls a partition, and its content, in which something is Delayed."""


def failure(error: Exception, partitions: Sequence[Labelled]) -> Exception:
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
    if key.startswith("halfseen-sums-"):
        own = [partitions[int(key.rpartition("-")[2])][0]]
    else:
        own = [label for label, content in partitions if key in map(str, _keys(content))]
    label = own[0] if own else f"The task {key}"
    return DataError(
        f"{label} ended every worker that tried it, most likely because they ran out of memory. "
        "Make partitions smaller (rechunk, repartition, or smaller row groups), or give workers "
        "more memory."
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
