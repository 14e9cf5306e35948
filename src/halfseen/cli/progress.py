"""Progress over the rows of a table."""

from collections.abc import Callable
from typing import Any

import numpy as np

from halfseen.cli.fitted import CHUNK, Fitting
from halfseen.cli.voice import Voice
from halfseen.rows.arrays import Array


def over_rows(voice: Voice, words: str, fitting: Fitting, function: Callable[[Any], Any]) -> Array:
    """``function`` of all rows, some at a time, with a bar if somebody watches."""
    from rich.console import Console
    from rich.progress import track

    starts = range(0, max(fitting.table.n_rows, 1), CHUNK)
    bar = track(
        starts,
        words,
        console=Console(stderr=True),
        disable=not voice.shows_progress,
        transient=True,
    )
    return np.concatenate([np.asarray(function(fitting.chunk(start))) for start in bar])
