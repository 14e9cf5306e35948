"""Opening a file takes time in proportion to its columns."""

import numpy as np
import pandas as pd

from halfseen import Files
from halfseen.io.open_source import open_source


class CountedName(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other):
        CountedName.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def _compared(n_columns, folder, monkeypatch):
    """How often names are compared when a table of so many columns is opened."""
    from halfseen.io.formats.delimited import Delimited

    path = folder / f"{n_columns}.csv"
    names = [f"v{i}" for i in range(n_columns)]
    pd.DataFrame(np.random.default_rng(0).normal(size=(8, n_columns)), columns=names).to_csv(
        path, index=False
    )
    header = Delimited.header

    def counting(self, file):
        found = header(self, file)
        return found._replace(
            fields=tuple(f._replace(name=CountedName(f.name)) for f in found.fields)
        )

    monkeypatch.setattr(Delimited, "header", counting)
    CountedName.compared = 0
    open_source(Files(path))
    monkeypatch.setattr(Delimited, "header", header)
    return CountedName.compared


def test_names_are_looked_up_and_not_searched_for(tmp_path, monkeypatch):
    assert _compared(400, tmp_path, monkeypatch) < 100 * 400
