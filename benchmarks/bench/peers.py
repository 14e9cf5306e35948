"""Who may take part: what has to be installed for it, and which version there is."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from shutil import which

from benchmarks.bench.case import OURS


@dataclass(frozen=True)
class Peer:
    """A library of Python, or of R."""

    package: str
    language: str = "python"

    @property
    def remedy(self) -> str:
        """How to get it."""
        if self.language == "R":
            return f"not installed: R with install.packages('{self.package}')"
        return f"not installed: pip install {self.package}"


PEERS: Mapping[str, Peer] = {
    OURS: Peer("halfseen"),
    "numpy": Peer("numpy"),
    "pyarrow": Peer("pyarrow"),
    "dask": Peer("distributed"),
    "scikit-learn": Peer("scikit-learn"),
    "stepmix": Peer("stepmix"),
    "pomegranate": Peer("pomegranate"),
    "lace": Peer("pylace"),
    "hmmlearn": Peer("hmmlearn"),
    "tomotopy": Peer("tomotopy"),
    "gensim": Peer("gensim"),
    "miceforest": Peer("miceforest"),
    "mice": Peer("mice", "R"),
    "mclust": Peer("mclust", "R"),
}


@cache
def found(name: str) -> str | None:
    """The version of a peer, or none if it is not there."""
    peer = PEERS[name]
    if peer.language == "R":
        return _of_r(peer.package)
    try:
        return version(peer.package)
    except PackageNotFoundError:
        return None


def _of_r(package: str) -> str | None:
    if which("Rscript") is None:
        return None
    asked = f'cat(as.character(packageVersion("{package}")))'
    told = subprocess.run(["Rscript", "-e", asked], capture_output=True, text=True, check=False)
    return told.stdout.strip() if told.returncode == 0 else None
