"""How each column of a table became numbers: its kind, its words, and the codes of words."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError, UnseenCategoryWarning, warn
from halfseen.data.formatting import quoted
from halfseen.data.messages import parameter
from halfseen.io.cells.cardinality import MAX_EXACT_INTEGER

UNUSED_KINDS = ("identifier", "ignored")
"""Kinds of columns that a model does not use."""


class RegisteredKind(NamedTuple):
    """The module of a column kind, and what reading needs to know of it."""

    path: str  # module:class of a halfseen.distributions.column_kinds.ColumnKind
    words: bool = False  # whether values may be words; numbers have them too
    whole: bool = False  # whether values are whole numbers, or codes
    nominal: bool = False  # whether values have no order


COLUMN_KINDS = {
    "continuous": RegisteredKind("halfseen.distributions.continuous:Continuous"),
    "count": RegisteredKind("halfseen.distributions.negative_binomial:Count", whole=True),
    "categorical": RegisteredKind(
        "halfseen.distributions.categorical:Categorical", words=True, whole=True, nominal=True
    ),
    "ordinal": RegisteredKind("halfseen.distributions.categorical:Ordinal", words=True, whole=True),
    "binary": RegisteredKind("halfseen.distributions.categorical:Binary", words=True, whole=True),
}
"""The kinds of columns that models use. Model files hold places in this table: append only."""
UNDECLARED = "number"
"""The kind of a column of numbers that nobody declared: what it is its values tell."""


def declarable_kinds() -> tuple[str, ...]:
    """Kinds that users can declare."""
    return (*COLUMN_KINDS, *UNUSED_KINDS)


def holds_words(kind: str) -> bool:
    """Whether columns of a kind may hold words."""
    return kind in COLUMN_KINDS and COLUMN_KINDS[kind].words


@dataclass(frozen=True)
class Coding:
    """How each column of a table became numbers, as a fit found it.

    Attributes
    ----------
    names : tuple of str
        The features of the estimator, in order.
    kinds : tuple of str
        ``"number"`` (nobody declared which), ``"continuous"``, ``"count"``, ``"categorical"``,
        ``"ordinal"``, ``"binary"``, or, if it is not used, ``"identifier"`` or ``"ignored"``.
    labels : tuple of tuples of str
        The words that the codes 0, 1, … of a column stand for; none if it holds numbers.
    sentences : tuple of str
        What people are told of each column; empty if there is nothing to say.

    Examples
    --------
    >>> coding = Coding(("age", "smokes"), ("number", "binary"), ((), ("no", "yes")), ("", ""))
    >>> coding.worded, coding.left_out
    (array([False,  True]), array([False, False]))
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    sentences: tuple[str, ...]

    def __post_init__(self) -> None:
        parts = (self.names, self.kinds, self.labels, self.sentences)
        if not all(isinstance(part, tuple) for part in parts):
            raise ValueError("its coding lacks what it says of each column")
        if len({len(part) for part in parts}) > 1:
            raise ValueError("its coding does not say the same of as many columns as it names")
        if not all(isinstance(word, str) for word in (*self.names, *self.sentences)):
            raise ValueError("its coding has names or sentences that are no text")
        for name, kind, labels in zip(self.names, self.kinds, self.labels, strict=True):
            _check(name, kind, labels)

    @property
    def nominal(self) -> Mask:
        """Which columns are nominal; (d,)."""
        return np.array([k in COLUMN_KINDS and COLUMN_KINDS[k].nominal for k in self.kinds], bool)

    @property
    def worded(self) -> Mask:
        """Which columns hold words; (d,)."""
        return np.array([bool(labels) for labels in self.labels], dtype=bool)

    @property
    def left_out(self) -> Mask:
        """Which columns are not used; (d,)."""
        return np.array([kind in UNUSED_KINDS for kind in self.kinds], dtype=bool)


def unused_names(estimator: Any) -> tuple[str, ...]:
    """Columns that the user leaves out, or was told are left out."""
    coding = getattr(estimator, "coding_", None)
    if coding is None:
        return ()
    return tuple(n for n, k in zip(coding.names, coding.kinds, strict=True) if k in UNUSED_KINDS)


def non_numeric_columns(estimator: Any) -> frozenset[str]:
    """Columns that are not returned as numbers."""
    coding = getattr(estimator, "coding_", None)
    if coding is None:
        return frozenset()
    own = np.flatnonzero(coding.worded | coding.left_out)
    keys = {getattr(estimator, key, None) for key in ("sequence_", "order_")} - {None}
    return frozenset({*(coding.names[place] for place in own), *keys})


def _check(name: str, kind: object, labels: object) -> None:
    if kind != UNDECLARED and kind not in declarable_kinds():
        raise ValueError(f"its coding says that '{name}' is of a kind that there is not")
    if not (isinstance(labels, tuple) and all(isinstance(label, str) for label in labels)):
        raise ValueError(f"its coding has labels of '{name}' that are no text")
    if len(set(labels)) < len(labels):
        raise ValueError(f"its coding has a label of '{name}' twice")
    if labels and not holds_words(str(kind)):
        raise ValueError(f"its coding has labels of '{name}', which holds no words")


def numeric_coding(names: tuple[str, ...], kinds: dict[str, str]) -> Coding:
    """The coding of a numeric table with some declared kinds."""
    found = tuple(kinds.get(name, UNDECLARED) for name in names)
    return Coding(names, found, ((),) * len(names), ("",) * len(names))


def decode(coding: Coding, values: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
    """A table (n, d) of codes as words and numbers, as an object array.

    Codes that fall between two labels are those of the nearer; NaN stays, as None.

    >>> coding = Coding(("age", "smokes"), ("number", "binary"), ((), ("no", "yes")), ("", ""))
    >>> decode(coding, np.array([[61.5, 1.0], [40.0, np.nan]]))
    array([[61.5, 'yes'],
           [40.0, None]], dtype=object)
    """
    table = np.asarray(values, dtype=float).astype(object)
    for place, labels in enumerate(coding.labels):
        if labels:
            table[:, place] = labels_of_codes(labels, np.asarray(values[:, place], dtype=float))
    return table


def labels_of_codes(
    labels: tuple[str, ...], codes: Array
) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
    """The words of codes (n,); None without one."""
    words = np.array([*labels, None], dtype=object)
    nearest = np.clip(np.rint(np.where(np.isnan(codes), 0.0, codes)), 0, len(labels) - 1)
    places = np.where(np.isnan(codes), len(labels), nearest).astype(int)
    return np.asarray(words[places], dtype=object)


MAX_COLUMNS_NAMED = 5
"""Columns that are named."""


def warn_unseen_categories(coding: Coding, counts: Array) -> None:
    """Warn of unseen categories by their number (d,); the words may be names of people."""
    found = np.flatnonzero(counts)
    if not len(found):
        return
    each = [_cells(int(counts[place]), coding.names[place]) for place in found[:MAX_COLUMNS_NAMED]]
    if len(found) > MAX_COLUMNS_NAMED:
        each.append(f"cells of {len(found) - MAX_COLUMNS_NAMED} more columns")
    listed = each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"
    one = counts.sum() == 1
    warn(
        f"{listed} {'holds a category' if one else 'hold categories'} that the fit did not see, "
        f"and {'counts as a gap' if one else 'count as gaps'}. Check the spelling, or fit again "
        "with rows that hold such categories.",
        UnseenCategoryWarning,
    )


def _cells(count: int, name: str) -> str:
    return f"{count:,} cell{'s' * (count > 1)} of '{name}'"


MAX_COLUMNS_LISTED = 12
"""Columns in a sentence that says which there are."""


def takes_kinds(estimator: Any) -> bool:
    """Whether an estimator takes columns of words, and kinds of columns."""
    return bool(getattr(estimator, "takes_kinds", False))


def check_kinds(kinds: Any) -> None:
    """Check a declaration of kinds."""
    if isinstance(kinds, str) and kinds == "auto":
        return
    if not isinstance(kinds, Mapping):
        raise ValueError(
            f"The 'kinds' parameter must be 'auto' or a dict from columns to kinds. Got {kinds!r} "
            "instead."
        )
    for column, kind in kinds.items():
        if kind not in declarable_kinds():
            every = ", ".join(map(repr, declarable_kinds()))
            raise ValueError(
                parameter("kinds")
                + f" says that '{column}' is {kind!r}. A column is one of {every}."
            )


def declared_kinds(kinds: Any, names: Iterable[str]) -> dict[str, str]:
    """Declared kinds by name; columns may be given by number."""
    check_kinds(kinds)
    if isinstance(kinds, str):
        return {}
    declared, known = {str(column): str(kind) for column, kind in kinds.items()}, tuple(names)
    unknown = [column for column in declared if column not in set(known)]
    if unknown:
        raise DataError(
            parameter("kinds") + f" names {quoted(unknown)}, which the table does not have. "
            f"It has {quoted(known, most=MAX_COLUMNS_LISTED)}."
        )
    return declared


UNSEEN_CODE = -1.0
"""The code of a word that is none of the labels."""
BOOLEAN_LABELS = ("False", "True")
_TRUTH_OF = {word: word.lower().capitalize() for word in ("true", "TRUE", "false", "FALSE")}
_TRUTH_OF |= {"0": "False", "1": "True"}
NO_VALUES = ("NAType", "NaTType")  # of pandas, which is not loaded to find out


def text_of(cell: Any, gap_words: frozenset[str]) -> str | None:
    """A cell as the word that a file would hold; None for a gap.

    >>> [text_of(cell, frozenset({"NA"})) for cell in (" red", True, 2.0, 0.5, "NA", None)]
    ['red', 'True', '2', '0.5', None, None]
    """
    if isinstance(cell, str):
        word = cell.strip()
        return None if word in gap_words else word
    if is_missing(cell):
        return None
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    if isinstance(cell, Integral):
        return str(int(cell))
    if isinstance(cell, Real | Decimal):
        number = float(cell)
        whole = abs(number) < MAX_EXACT_INTEGER and number == int(number)
        return str(int(number)) if whole else repr(number)
    return str(cell)


def is_missing(cell: Any) -> bool:
    """Whether a cell is a missing value."""
    if cell is None or type(cell).__name__ in NO_VALUES:
        return True
    return isinstance(cell, float | np.floating) and bool(cell != cell)


def label_encoder(labels: tuple[str, ...]) -> Callable[[str], float]:
    """A function from words to codes.

    >>> code = label_encoder(("False", "True"))
    >>> code("TRUE"), code("0"), code("maybe")
    (1.0, 0.0, -1.0)
    """
    codes = {label: float(code) for code, label in enumerate(labels)}
    if labels == BOOLEAN_LABELS:
        codes |= {word: codes[truth] for word, truth in _TRUTH_OF.items()}
    return lambda word: codes.get(word, UNSEEN_CODE)


def boolean_label(word: str) -> str:
    """The label of a word for true or false; other words are unchanged.

    >>> boolean_label("TRUE"), boolean_label("0"), boolean_label("maybe")
    ('True', 'False', 'maybe')
    """
    return _TRUTH_OF.get(word, word)


def sorted_labels(words: frozenset[str]) -> tuple[str, ...]:
    """Words sorted by a leading number, then alphabetically.

    >>> sorted_labels(frozenset({"10 Most", "2 Quite well", "1 Not at all"}))
    ('1 Not at all', '2 Quite well', '10 Most')
    >>> sorted_labels(frozenset({"b", "C", "a"}))
    ('C', 'a', 'b')
    """
    return tuple(sorted(words, key=_rank))


_LEADING = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)


def _rank(word: str) -> tuple[bool, float, str]:
    begins = _LEADING.match(word)
    return begins is None, float(begins.group()) if begins else 0.0, word
