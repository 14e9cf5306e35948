"""Tables of categories that latent classes are usually shown on, and others of the kind.

``carcinoma``, ``gss82`` and ``values`` are the published frequency tables that come with the R
package poLCA; the others are files, which :mod:`benchmarks.real_tables` looks for.
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.real_tables import find

Array = np.ndarray[Any, np.dtype[np.float64]]
"""Codes of categories from 0 on, NaN in the gaps; (n, d)."""

CARCINOMA: Mapping[str, int] = {
    "0000000": 34,
    "0000100": 2,
    "0100000": 6,
    "0100001": 1,
    "0100100": 4,
    "0100101": 5,
    "1000000": 2,
    "1010101": 1,
    "1100000": 2,
    "1100001": 1,
    "1100100": 2,
    "1100101": 7,
    "1100111": 1,
    "1101001": 1,
    "1101101": 2,
    "1101111": 3,
    "1110101": 13,
    "1110111": 5,
    "1111101": 10,
    "1111111": 16,
}
"""Which of seven pathologists saw a carcinoma on 118 slides (A. Agresti 2002, table 13.1)."""

GSS82 = (
    *(419, 35, 2, 71, 25, 5, 270, 25, 4, 42, 16, 5),
    *(23, 4, 1, 6, 2, 0, 43, 9, 2, 9, 3, 2),
    *(26, 3, 0, 1, 2, 0, 85, 23, 6, 13, 12, 8),
)
"""Purpose of surveys (3), their accuracy (2), understanding (2), cooperation (3): 1,202 people.

A. McCutcheon 1987, table 3.1; the last question changes fastest.
"""

VALUES = (42, 23, 6, 25, 6, 24, 7, 38, 1, 4, 1, 6, 2, 9, 2, 20)
"""Four questions of 216 students (S. Stouffer, J. Toby 1951); the last changes fastest."""


LEADING_CROWD = (458, 140, 110, 49, 171, 182, 56, 87, 184, 75, 531, 281, 85, 97, 338, 554)
"""Membership and attitude of 3,398 boys at two interviews (J. Coleman 1964)."""

LSAT_6 = (
    *(3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15),
    *(10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298),
)
"""Five questions, 1,000 examinees (R. Bock, M. Lieberman 1970)."""


def carcinoma() -> Array:
    """Seven judgements of each slide."""
    rows = [[float(digit) for digit in pattern] for pattern in CARCINOMA]
    return np.repeat(rows, list(CARCINOMA.values()), axis=0)


def cross_table(counts: tuple[int, ...], *sizes: int) -> Array:
    """The rows that a table of frequencies counts."""
    patterns = np.indices(sizes).reshape(len(sizes), -1).T
    return np.repeat(patterns.astype(float), counts, axis=0)


def columns(file: str, *names: str, rows: str = "") -> Array:
    """Columns of a file, each different entry a category; of the rows that a condition names."""
    pd = import_module("pandas")
    path = find(file)
    if path is None:
        raise FileNotFoundError(f"{file} is not at hand.")
    frame = pd.read_csv(path, na_values=["?"])
    frame = frame.query(rows) if rows else frame
    codes = [pd.factorize(frame[name], sort=True)[0].astype(float) for name in names]
    table: Array = np.column_stack(codes)
    table[table < 0] = np.nan
    known: Array = table[~np.isnan(table).all(axis=1)]
    return known


ELECTION = ("MORAL", "CARES", "KNOW", "LEAD", "DISHON", "INTEL")
TABLES: dict[str, Callable[[], Array]] = {
    "carcinoma": carcinoma,
    "cheating": partial(columns, "cheating.csv", "LIEEXAM", "LIEPAPER", "FRAUD", "COPYEXAM"),
    "election": partial(columns, "election.csv", *(f"{q}{who}" for who in "GB" for q in ELECTION)),
    "gss82": partial(cross_table, GSS82, 3, 2, 2, 3),
    "values": partial(cross_table, VALUES, 2, 2, 2, 2),
    "leading crowd": partial(cross_table, LEADING_CROWD, 2, 2, 2, 2),
    "LSAT 6": partial(cross_table, LSAT_6, 2, 2, 2, 2, 2),
    "BEPS": partial(
        columns,
        "BEPS.csv",
        *("vote", "economic.cond.national", "economic.cond.household", "Blair", "Hague"),
        *("Kennedy", "Europe", "political.knowledge", "gender"),
    ),
    "CES11": partial(
        columns,
        "CES11.csv",
        *("province", "gender", "abortion", "importance", "education", "urban"),
    ),
    "HELPrct": partial(
        columns,
        "HELPrct.csv",
        *("anysub", "sex", "g1b", "homeless", "link", "racegrp", "satreat", "substance", "treat"),
    ),
    "agreeableness": partial(columns, "bfi.csv", *(f"A{i}" for i in range(1, 6))),
    "bfi": partial(columns, "bfi.csv", *(f"{trait}{i}" for trait in "ACENO" for i in range(1, 6))),
    "gss_cat": partial(
        columns,
        "gss_cat.csv",
        "marital",
        "race",
        "rincome",
        "partyid",
        "relig",
        rows="year == 2000",
    ),
    "mammo": partial(columns, "mammo.csv", "BI-RADS", "Shape", "Margin", "Density", "Severity"),
    "medpar": partial(columns, "medpar.csv", "hmo", "white", "died", "age80", "type"),
    "penguins": partial(columns, "penguins.csv", "species", "island", "sex", "year"),
    "thyroid": partial(
        columns,
        "thyroid.csv",
        *("ThryroidClass", "patient_gender", "presc_thyroxine", "sick", "pregnant"),
        *("thyroid_surgery", "query_hypothyroid", "query_hyperthyroid", "goitre", "tumor"),
        *("psych_condition", "TSH_measured", "T3_measured", "T4_measured", "ref_src"),
    ),
    "titanic": partial(columns, "titanic.csv", "PClass", "Sex", "Survived"),
}
