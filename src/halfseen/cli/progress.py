"""Progress over the rows of a table."""

from collections.abc import Iterator

from halfseen.cli.reading.beside import CHUNK
from halfseen.cli.reading.fitting import Chunk, Fitting
from halfseen.cli.voice import Voice


def over_rows(
    voice: Voice, words: str, fitting: Fitting, *, dense: bool = False
) -> Iterator[Chunk]:
    """All rows, some at a time, with a bar if somebody watches."""
    if not voice.shows_progress:
        yield from fitting.chunks(dense=dense)
        return
    from rich.console import Console
    from rich.progress import track

    n_rows = fitting.source.n_rows
    yield from track(
        fitting.chunks(dense=dense),
        words,
        total=None if n_rows is None else max(-(-n_rows // CHUNK), 1),
        console=Console(stderr=True),
        transient=True,
    )
