"""Dates as days since 1970: how they are written, and which day each is.

``03/04/2020`` is a day in March or in April; which, a column tells that also holds days after the
twelfth. One that does not is not guessed at.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import types

from halfseen.data.arrays import Array
from halfseen.data.messages import setting

_YEAR, _MONTH = r"(?P<year>\d{4})", r"(?P<month>0?[1-9]|1[0-2])"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_NAMED = r"(?P<name>(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))[A-Za-z]*\.?"
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = (
    r"([ T](?P<hour>\d{1,2}):(?P<minute>\d{2})(:(?P<second>\d{2}(\.\d+)?))?"
    r" ?(?P<half>[AaPp][Mm])?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
)


class DateOrder(Enum):
    """The order of day, month and year; a file may have typed dates."""

    YEAR_FIRST = "year first"
    DAY_FIRST = "day first"
    MONTH_FIRST = "month first"
    NAMED_MONTH = "a month in letters"
    TYPED = "typed"


_PATTERNS = {
    DateOrder.YEAR_FIRST: rf"^{_YEAR}[-/.]{_MONTH}[-/.]{_DAY}{_TIME}$",
    DateOrder.DAY_FIRST: rf"^{_DAY}[-/.]{_MONTH}[-/.]{_YEAR}{_TIME}$",
    DateOrder.MONTH_FIRST: rf"^{_MONTH}[-/.]{_DAY}[-/.]{_YEAR}{_TIME}$",
    DateOrder.NAMED_MONTH: rf"^{_DAY}[ -]{_NAMED}[ -]{_YEAR}{_TIME}$",
    None: rf"^{_NAMED} {_DAY},? {_YEAR}{_TIME}$",  # a month in letters, too
}
_COMPILED = {order: re.compile(pattern, re.ASCII) for order, pattern in _PATTERNS.items()}
SECONDS = 86_400.0
EPOCH = datetime(1970, 1, 1)


class Dates(NamedTuple):
    """How the dates of a column are read."""

    order: DateOrder
    origin: float  # the day that is 0, in days from 1970 on


def days_of(word: str, order: DateOrder) -> float | None:
    """Days since 1970 of a date and time; None if it is not written in this order.

    >>> days_of("1970-01-02 12:00", DateOrder.YEAR_FIRST)
    1.5
    >>> [days_of(day, DateOrder.NAMED_MONTH) for day in ("2 Jan 1970", "January 2, 1970")]
    [1.0, 1.0]
    >>> days_of("03/04/1970", DateOrder.DAY_FIRST), days_of("03/04/1970", DateOrder.MONTH_FIRST)
    (92.0, 62.0)
    >>> days_of("31/02/1970", DateOrder.DAY_FIRST) is None
    True
    """
    found = _COMPILED[order].match(word) if order in _COMPILED else None
    if found is None and order is DateOrder.NAMED_MONTH:
        found = _COMPILED[None].match(word)
    if found is None:
        return None
    part = found.groupdict()
    month = part.get("month") or _NAMES.index(part["name"].lower()) + 1
    try:
        moment = datetime(int(part["year"]), int(month), int(part["day"]), *_time(part))
    except ValueError:  # the 31st of February
        return None
    seconds = (moment - EPOCH).total_seconds() + float(part["second"] or 0) - _ahead(part["zone"])
    return seconds / SECONDS


def _time(part: dict[str, Any]) -> tuple[int, int]:
    """Hours and minutes as a fraction of a day."""
    if part["hour"] is None:
        return 0, 0
    hour, half = int(part["hour"]), (part["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + 12 * (half == "pm")
    return hour, int(part["minute"])


def _ahead(zone: str | None) -> float:
    """The offset from UTC in seconds."""
    if zone in (None, "Z"):
        return 0.0
    digits = str(zone)[1:].replace(":", "")
    sign = -1 if str(zone).startswith("-") else 1
    return sign * (3600.0 * int(digits[:2]) + 60.0 * int(digits[2:]))


def orders_of(words: Sequence[str]) -> frozenset[DateOrder]:
    """The orders in which all words are valid dates.

    >>> sorted(order.value for order in orders_of(["03/04/2020", "05/12/2020"]))
    ['day first', 'month first']
    >>> sorted(order.value for order in orders_of(["03/04/2020", "25/12/2020"]))
    ['day first']
    """
    written = (order for order in DateOrder if order is not DateOrder.TYPED)
    fitting = (o for o in written if all(days_of(word, o) is not None for word in words))
    return frozenset(fitting) if words else frozenset()


def day_of(origin: str) -> float:
    """The origin of dates, as days since 1970."""
    try:
        return float((date.fromisoformat(origin) - EPOCH.date()).days)
    except (TypeError, ValueError):
        raise ValueError(
            setting(dates=origin) + " is no day to count from. Give one such as '2000-01-01'."
        ) from None


def days_in(column: Any, dates: Dates) -> Array:
    """An Arrow column of dates as days since the origin, NaN in the gaps."""
    if types.is_temporal(column.type):
        moments = column.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)
        seconds = (moments - np.datetime64(EPOCH)) / np.timedelta64(1, "s")
        return np.asarray(seconds / SECONDS - dates.origin)
    encoded = column.dictionary_encode()
    days = [days_of(word, dates.order) for word in encoded.dictionary.to_pylist()]
    values = np.array([*(np.nan if day is None else day for day in days), np.nan]) - dates.origin
    places = encoded.indices.cast("int64").fill_null(len(days))
    found: Array = values[places.to_numpy(zero_copy_only=False)]
    return found


def as_dates(values: Array, origin: float) -> Any:
    """Days since the origin as dates, or as times if they have fractions."""
    known = np.isfinite(values)
    moments = np.where(known, np.round((values + origin) * SECONDS), 0).astype("datetime64[s]")
    whole = (moments == moments.astype("datetime64[D]")).all()
    return pa.array(moments.astype("datetime64[D]") if whole else moments, mask=~known)
