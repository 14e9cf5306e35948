"""Fits on Dask's workers: the rows of the table never reach this process."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

LOOPBACK = "127.0.0.1"
"""Workers take orders from anyone who reaches them, so that nobody else may."""
TIMEOUT = "10s"
"""How long a scheduler may take to answer, which is longer than a busy one needs."""


def check_workers(cluster: str | None, workers: int | None) -> bool:
    """Check the options for Dask's workers."""
    if cluster is not None and workers is not None:
        raise ValueError(
            "--cluster uses workers that are there, --workers starts new ones. Give one of them."
        )
    if workers is not None and workers < 1:
        raise ValueError(f"--workers must be a whole number of at least 1. Got {workers} instead.")
    return cluster is not None or workers is not None


@contextmanager
def dask_client(cluster: str | None, workers: int | None) -> Iterator[None]:
    """A Dask client for the duration of the body."""
    try:
        from distributed import Client, LocalCluster
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "--cluster and --workers need Dask. Install it with: pip install 'halfseen[dask]'"
        ) from missing
    with ExitStack() as open_things:
        if cluster is None:
            local = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host=LOOPBACK,  # whatever Dask's own settings say
                dashboard_address=f"{LOOPBACK}:0",
                silence_logs=logging.CRITICAL,
            )
            open_things.enter_context(Client(open_things.enter_context(local)))
        else:
            open_things.enter_context(_answering(Client, cluster))
        yield


def _answering(client: Any, address: str) -> Any:
    try:
        # A client that fails to connect would stay Dask's default for the rest of the process.
        client(address, timeout=TIMEOUT, set_as_default=False).close()
        return client(address, timeout=TIMEOUT)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {address}. Start one with 'dask scheduler', check the "
            "address that it prints, or use --workers to start workers on this machine."
        ) from error
