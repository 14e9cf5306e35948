"""Bytes that Dask sends to the client in each stage of a fit, measured at its sockets."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from benchmarks.stage_watch import watched


@contextmanager
def measured(scheduler_address: str) -> Iterator[Counter[str]]:
    """Bytes by stage, of fits in this process.

    Of all that the process reads from the network, what comes from the scheduler's port goes to the
    client; a scheduler that runs in the same process reads from other ports.
    """
    from tornado.iostream import IOStream

    port = int(scheduler_address.rpartition(":")[2])
    total: Counter[str] = Counter()
    stage = ""

    def hear(name: str) -> None:
        nonlocal stage
        stage = name

    def counting(read: Callable[..., Any], size: Callable[[Any], int]) -> Callable[..., Any]:
        def counted(self: Any, what: Any, *args: Any, **options: Any) -> Any:
            if stage and _port(self) == port:
                total[stage] += size(what)
            return read(self, what, *args, **options)

        return counted

    with (
        mock.patch.object(IOStream, "read_bytes", counting(IOStream.read_bytes, int)),
        mock.patch.object(
            IOStream, "read_into", counting(IOStream.read_into, lambda buffer: buffer.nbytes)
        ),
        watched(hear),
    ):
        yield total


def _port(stream: Any) -> int:
    try:
        return int(stream.socket.getpeername()[1])
    except (OSError, AttributeError):  # closed meanwhile
        return 0
