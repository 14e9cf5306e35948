"""Where real data are kept, if anywhere.

In the folder named by ``HALFSEEN_DATA``, then in ``../shared/data``. Nothing is bundled.
"""

import os
from pathlib import Path

SOURCES = {
    "sepsis_icu.parquet": "Get training set A of the PhysioNet/CinC Challenge 2019",
    "newsgroups4.npz": (
        "Count the words of four groups of 20 Newsgroups with scikit-learn's fetch_20newsgroups "
        "and CountVectorizer(min_df=0.05)"
    ),
    "diagnoses.npz": (
        "Count the diagnoses in the table Diabetes 130-US hospitals of the UCI repository "
        "(number 296)"
    ),
}
"""Where each file comes from."""


def find(file: str) -> Path | None:
    """The path of a data file, if it is at hand."""
    folders = [os.environ.get("HALFSEEN_DATA", ""), "../shared/data"]
    paths = [Path(folder) / file for folder in folders if folder]
    return next((path for path in paths if path.exists()), None)


def how_to_get(file: str) -> str:
    """What to do about a file that is not at hand."""
    return (
        f"{file} is not at hand. {SOURCES[file]}, and set HALFSEEN_DATA to the folder that "
        "holds it."
    )


def require(file: str) -> Path:
    """The path of a data file; raises if it is not at hand."""
    path = find(file)
    if path is None:
        raise FileNotFoundError(how_to_get(file))
    return path
