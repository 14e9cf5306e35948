"""Rows in partitions, summed by Dask's workers."""
