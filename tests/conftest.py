"""Tables with gaps, and files of every format that hold them."""

import gzip
import os
import sys
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import settings

settings.register_profile("halfseen", deadline=None)  # how long anything takes is no test
settings.load_profile("halfseen")
collect_ignore = ["loaded_by_workers.py"]  # which looking for examples in it would run


@pytest.fixture(scope="session", autouse=True)
def workers_that_have_everything_loaded():
    """Dask's workers are forks of a process that has loaded what they would each load anew."""
    if "dask" not in sys.modules or not hasattr(os, "fork"):
        return
    import dask
    from distributed.utils import get_mp_context

    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    dask.config.set({"distributed.worker.profile.enabled": False})  # a look a hundredth of a second
    get_mp_context()  # which decides by itself what is loaded, the first time
    get_context("forkserver").set_forkserver_preload(["tests.loaded_by_workers"])


NAMES = ("age", "pulse", "lactate")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((500, 3)) < 0.3, np.nan, rng.standard_normal((500, 3)).round(3))
    return pd.DataFrame(X, columns=NAMES)


def write_feather(frame, path):
    pa.feather.write_feather(frame, path, compression="lz4", chunksize=70)


def write_arrow(frame, path):
    pa.feather.write_feather(frame, path, compression="uncompressed", chunksize=90)


def write_parquet(frame, path):
    frame.to_parquet(path, row_group_size=70)


def write_delimited(frame, path):
    delimiter = "\t" if ".tsv" in path.name else ","
    text = frame.to_csv(index=False, sep=delimiter).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def write_npy(frame, path):
    np.save(path, np.ascontiguousarray(frame))


def write_npz(frame, path):
    np.savez_compressed(path, table=np.ascontiguousarray(frame), labels=np.arange(len(frame)))


WRITERS = {
    ".parquet": write_parquet,
    ".arrow": write_arrow,
    ".feather": write_feather,
    ".csv": write_delimited,
    ".csv.gz": write_delimited,
    ".tsv": write_delimited,
    ".tsv.gz": write_delimited,
    ".npy": write_npy,
    ".npz": write_npz,
}


@pytest.fixture
def write():
    """Write a frame to a file of the format that its name asks for."""

    def chosen_by_name(frame, path):
        ending = "." + path.name.partition(".")[2]
        WRITERS[ending.lower()](frame, path)

    return chosen_by_name


@pytest.fixture
def replace_bytes():
    """Change the content of a file, and not its size nor its time of change."""

    def replace(path, place, content):
        status = path.stat()
        before = path.read_bytes()
        path.write_bytes(before[:place] + content + before[place + len(content) :])
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert path.stat().st_size == status.st_size

    return replace
