"""What each of Dask's workers would load anew: libraries, and functions that are compiled."""

import warnings

import dask.array
import dask.dataframe
import distributed
import numpy as np
import pandas as pd
import pyarrow.parquet
from scipy.sparse import csr_array

import halfseen.cli.fit
from halfseen import GammaPoisson, GaussianMixture

__all__ = ["dask", "distributed", "halfseen", "pd", "pyarrow"]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.poisson([[2.0, 9.0, 4.0], [9.0, 2.0, 5.0]] * 50).astype(float)
    X[::7, 0] = np.nan
    GaussianMixture(2).fit(X)
    GammaPoisson(2, refine="saem", n_sweeps=2).fit(csr_array(X))
