"""Tables made comparable: what a fit finds of several, and by how much it moves each."""

from dataclasses import replace

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.column_moments import TableSums
from halfseen.data.engines.batched import all_columns
from halfseen.data.errors import TablesWarning, warn
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import quoted
from halfseen.data.messages import setting
from halfseen.io.coding import COLUMN_KINDS
from halfseen.io.file_source import FileSource
from halfseen.io.studies import KeptTables, Studies

FAMILYWISE_LEVEL = 0.05
"""That some column is moved although tables are alike."""
MIN_SHARED_COLUMNS, MOST_COLUMNS_FRACTION = 4, 0.5
"""Shared columns of which as many differ: it is rather people that do than instruments."""
MAX_CODE_RANGE = 20
"""Whole numbers between closer ends are codes or counts, and no measurements."""


def harmonise_tables(studies: Studies, source: FileSource) -> KeptTables:
    """What a fit keeps of tables: as they are, or made comparable, if that is asked for."""
    lengths = np.array(source.table_lengths, dtype=float)
    kept = KeptTables.unadjusted(source.table_names, lengths, source.names, source.table_holds)
    if studies.kept is not None:
        return _as_before(kept, studies.kept)
    if studies.adjust is None:
        return kept
    rows = all_columns(source, memory=studies.memory)
    seen = rows.accumulate(FeatureSums.of)
    codes = _declared_codes(source) | (seen.whole & (seen.maximum - seen.minimum < MAX_CODE_RANGE))
    sums = rows.accumulate(TableSums.about(np.nan_to_num(seen.mean), kept.starts[:-1]))
    return _harmonised(kept, sums, ~codes)


def _as_before(tables: KeptTables, before: KeptTables) -> KeptTables:
    """Tables moved as those of the same names were in a fit."""
    new = [name for name in tables.names if name not in before.names]
    if new and before.adjusted:
        known = quoted(before.names, range(len(before.names)))
        warn(
            f"{quoted(new, range(len(new)))} {'is' if len(new) == 1 else 'are'} none of the tables "
            f"that were made comparable ({known}): numbers are taken as they are. Call a table by "
            "the name of its study, with names=.",
            TablesWarning,
        )
    factor, shift = np.ones(tables.holds.shape), np.zeros(tables.holds.shape)
    for own, name in enumerate(tables.names):
        for place, column in enumerate(tables.columns):
            if name in before.names and column in before.columns:
                there = before.names.index(name), before.columns.index(column)
                factor[own, place], shift[own, place] = before.factor[there], before.shift[there]
    return replace(tables, factor=factor, shift=shift)


def _declared_codes(source: FileSource) -> Mask:
    """Columns of words, or declared to be counts or codes; (d,)."""
    if source.coding is None:
        return np.zeros(len(source.names), dtype=bool)
    whole = [kind for kind, known in COLUMN_KINDS.items() if known.whole]
    return np.array([kind in whole for kind in source.coding.kinds])


def _harmonised(kept: KeptTables, sums: TableSums, measured: Mask) -> KeptTables:
    """``x' = m + (x - m_t) s / s_t`` in the columns in which tables differ.

    m and s are of the first table that has the column: it stays as it is. Where no difference of
    means, or of spreads, is found there is none to remove, and moving would only add noise.
    """
    there = sums.enough & measured
    level = FAMILYWISE_LEVEL / max(2 * int(np.count_nonzero(there.any(axis=0))), 1)
    shifted = sums.of_means.chance < level
    stretched = sums.of_spreads.chance < level
    compared = np.asarray(there.any(axis=0))
    _warn_of_most(shifted & compared, compared)
    first = there.argmax(axis=0)
    scale = np.where(there & stretched, _of(sums.spread, first) / _safe(sums.spread, there), 1.0)
    moved = there & (shifted | stretched)
    centre = np.where(shifted, _of(sums.mean, first), sums.mean)
    return replace(kept, factor=scale, shift=np.where(moved, centre - scale * sums.mean, 0.0))


def _warn_of_most(shifted: Mask, compared: Mask) -> None:
    """Where most columns differ it is people that do: instruments rarely do."""
    n_shifted, n = int(np.count_nonzero(shifted)), int(np.count_nonzero(compared))
    if n < MIN_SHARED_COLUMNS or n_shifted < MOST_COLUMNS_FRACTION * n:
        return
    warn(
        f"Tables differ in {n_shifted} of the {n} columns that they share, which is rather because "
        "they are of different people than because they measured differently: "
        + setting(adjust="location")
        + " takes such a difference out as well. Compare with a fit without it.",
        TablesWarning,
    )


def _of(values: Array, table: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Array:
    """The values (t, d) of one table for each column; (d,)."""
    return np.asarray(values[table, np.arange(len(table))])


def _safe(values: Array, there: Mask) -> Array:
    return np.where(there, values, 1.0)
