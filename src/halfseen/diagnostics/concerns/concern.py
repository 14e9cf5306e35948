"""The contract of a concern: what it says, and what a check receives.

A check is a function from a ConcernContext to its concerns, none if all is well. Checks of every
model are listed in ``halfseen.diagnostics.concerns.SHARED``; a model lists its own in ``checks``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import plural
from halfseen.data.resampling import Bins
from halfseen.data.rows import Rows
from halfseen.data.sampling import Sample, sample_counts, sample_rows
from halfseen.diagnostics.held_out_cells import HiddenValues, hide_and_fill, hide_and_fill_sparse
from halfseen.diagnostics.number_of_components import telling_features
from halfseen.diagnostics.table_comparison import TableShares
from halfseen.diagnostics.topics import LoadingsTogether, loadings_together
from halfseen.inference.fit import Fitted
from halfseen.io.studies import KeptTables
from halfseen.moments.joint_counts import pair_counts
from halfseen.moments.missing_patterns import JointGaps
from halfseen.moments.resampling import BinSums
from halfseen.moments.survey import Survey


class Subject(Enum):
    """What a concern is about, and so in which section of the page it stands."""

    COMPONENTS = "components"
    GAPS = "gaps"
    COLUMNS = "columns"
    VALUES = "values"
    TABLES = "tables"


class Gravity(IntEnum):
    """The severity of a concern."""

    KNOW = 1
    """It is allowed for, or touches little."""
    CARE = 2
    """Numbers may be off."""
    DOUBT = 3
    """The components themselves may be others, or none."""


class _Said(NamedTuple):
    kind: str
    sentence: str


class Concern(_Said):
    """A concern: its kind, and a sentence with the remedy.

    Beside the pair it has what it is ``about``, and how grave it is.
    """

    about: Subject
    gravity: Gravity

    def __new__(
        cls,
        kind: str,
        sentence: str,
        about: Subject = Subject.COMPONENTS,
        gravity: Gravity = Gravity.DOUBT,
    ) -> Self:
        made = super().__new__(cls, kind, sentence)
        made.about, made.gravity = about, gravity
        return made

    def __str__(self) -> str:
        return self.sentence


MOST_FEATURES = 128
"""Checks of pairs of features look at no more, those that say most."""
MAX_SAMPLE_ROWS, MOST_ROWS_OF_TOPICS = 20_000, 1_000
"""Rows that are looked at one by one; of topics fewer, as loadings take a millisecond a row."""
MOST_CELLS = 20_000_000
"""Of rows that are looked at one by one, so that they fit into memory."""
MOST_DRAWN = 1000
"""Rows that are drawn from a model, to be looked at as those of the table are."""
MOST_STORED = 20_000
"""Counts of rows that a model fills in, which takes it a while where it is of topics."""
HIDE = 0.1
"""Of the known values, to see whether the model would fill them in again."""


NO_TABLES = KeptTables.none()


@dataclass(frozen=True)
class ConcernContext:
    """What checks receive; sums over rows are computed on first use."""

    fitted: Fitted[Any]
    rows: Rows
    seen: Survey
    bins: Bins
    called: Callable[[int], str] = "component {}".format  # what a component, by number, is called
    components: str = "components"  # what several are called
    cells_shown: bool = True  # whether sentences may hold the value of a single cell
    tables: KeptTables = NO_TABLES  # that the rows are of, one after another, if several

    @cached_property
    def features(self) -> Mask:
        """The features that checks of pairs use; (d,)."""
        kept = self.seen.kept & self.fitted.kept
        return telling_features(self.rows, self.seen, kept, MOST_FEATURES)

    @cached_property
    def _kept(self) -> Rows:
        return self.rows.select(self.seen.kept & self.fitted.kept)

    @cached_property
    def winsorised(self) -> Rows:
        """The rows with kept features, without the influence of outliers."""
        kept = replace(self.seen, kept=self.seen.kept & self.fitted.kept).of_kept()
        return self.fitted.model.adapted_to(self._kept, kept).winsorised(self._kept, kept)

    @cached_property
    def part(self) -> Rows:
        return self.winsorised.select(self.features[self.seen.kept & self.fitted.kept])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(np.array(self.fitted.own_names, dtype=object)[self.features])

    @cached_property
    def pairs(self) -> BinSums:
        return self.part.accumulate(BinSums.pairs(self._origin, self.bins))

    @property
    def _origin(self) -> Array:
        """The means of those features, as the moments see them: far ones cost digits; (d,)."""
        if self.winsorised is self._kept:
            return self.seen.sums.mean[self.features]
        return np.nan_to_num(self.part.accumulate(FeatureSums.of).mean)

    @cached_property
    def gaps(self) -> JointGaps:
        gappy = self.rows.select(self.features)  # what was left out of the moments is no gap
        return JointGaps(gappy.accumulate(pair_counts), self.seen.sums.n_rows)

    @cached_property
    def n_added(self) -> int:
        """The number of empty rows added to complete a time grid."""
        place = self.rows.place
        return 0 if place is None else int(self.rows.accumulate(len)) - len(place)

    def in_words(self) -> Self:
        """The same fit with components ordered by size, as people see them."""
        noun, number = self.fitted.model.about.noun, np.argsort(self.fitted.order) + 1
        return replace(self, called=lambda i: f"{noun} {number[i]}", components=plural(noun))

    @cached_property
    def sample(self) -> Sample:
        """A random sample of many rows, for slow checks."""
        most = MAX_SAMPLE_ROWS if self.fitted.model.about.labels else MOST_ROWS_OF_TOPICS
        if not self.rows.sparse:
            most = min(most, MOST_CELLS // max(len(self.rows.names), 1))
        return sample_rows(self.rows, max(most, 1))

    @cached_property
    def hidden_values(self) -> HiddenValues | None:
        """Hidden known values of sampled rows and their fills; None if there are too few."""
        try:
            if self.rows.sparse:
                few = sample_counts(self.sample.rows, MOST_STORED)
                return hide_and_fill_sparse(
                    self.fitted, few, self.features, fraction=HIDE, random_state=0
                )
            return hide_and_fill(
                self.fitted,
                self.sample.table,
                fraction=HIDE,
                random_state=0,
                sequences=self.sample.rows.sequences,
            )
        except DataError:
            return None

    @cached_property
    def table_shares(self) -> TableShares | None:
        """Sampled rows by table and component; None with one table."""
        if len(self.tables.names) < 2 or not self.fitted.model.about.labels:
            return None
        return TableShares.of(self.fitted, self.sample, self.tables)

    @cached_property
    def loadings_together(self) -> LoadingsTogether | None:
        """Correlations of loadings in sampled rows beside the model's; None without loadings."""
        if self.fitted.model.about.labels or self.fitted.n_components < 2:
            return None
        return loadings_together(self.fitted, sample_rows(self.sample.rows, MOST_DRAWN).rows)

    @property
    def unseen_pairs(self) -> bool:
        """Whether a pair of features is in no row, so that there are no moments."""
        return bool(np.any(self.gaps.count == 0)) or bool(np.any(self.pairs.whole.pairs.count == 0))
