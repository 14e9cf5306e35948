"""Mixed columns: normal, count and categorical distributions side by side."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.rows import Block, Rows
from halfseen.distributions import categorical as tables
from halfseen.distributions import mean_and_shape, missingness, normal_em
from halfseen.distributions.categorical import Levels, histograms, looked_up
from halfseen.distributions.column_kinds import kind_of, those
from halfseen.distributions.column_summary import ColumnSummary, summarise_columns
from halfseen.distributions.emission import Emission, Step, posterior
from halfseen.distributions.mixed_free_parameters import FreeMixed
from halfseen.distributions.mixed_parameters import MixedParameters, means_of, variances_of
from halfseen.distributions.normal import Normal
from halfseen.inference.model import Cells
from halfseen.moments.survey import Survey

PRIOR_ROWS = 0.001
"""Of the Dirichlet prior on probabilities of values, in rows of each component that are distributed
like all rows of the table."""
OWN = 0.5
"""What a component that begins at one row has of that row's values; the rest is the table's."""


@dataclass(frozen=True, eq=False)
class Mixed(Emission[MixedParameters]):
    """Independent columns of several kinds.

    Continuous columns are those of :class:`Normal`, with its outliers and spikes. Of all others
    every value has a probability in each component, so that one look into a table gives a density
    and one histogram all that is learned. Gaps say nothing or, if they are ``informative``, are
    themselves a column of two values for each column that has some.
    """

    normal: Normal
    declared: Mapping[str, str] = field(default_factory=dict)  # kinds of columns by name
    informative: bool = False
    facts: ColumnSummary | None = None
    prior_rows: float = PRIOR_ROWS  # of each component, distributed like all rows

    # What the table says.

    def for_table(self, rows: Rows, kept: Survey) -> Self:
        """The same with the kinds, values and outlier limits of a table."""
        if self.facts is not None and set(kept.names) <= set(self.facts.names):
            facts = self.facts.select(kept.names)  # a part of the table has the same columns
        else:
            facts = summarise_columns(rows, kept, self.declared)
        numbers, normal = those(facts.kinds, "normal"), self.normal
        if numbers.any():
            normal = normal.for_table(rows.select(numbers), part_of(kept, numbers))
        return replace(self, facts=facts, normal=normal)

    def winsorised(self, rows: Rows, kept: Survey) -> Rows:
        """Rows clipped to the outlier limits of continuous columns, if values are far beyond."""
        numbers = those(self.looked_through.kinds, "normal")
        if not numbers.any() or self.normal.without_outliers(part_of(kept, numbers)):
            return rows
        low, high = self._usual_range()
        return rows.map(lambda block: block.clipped(low, high))

    @property
    def looked_through(self) -> ColumnSummary:
        """The summary of the table."""
        if self.facts is None:
            raise AssertionError("the table was not looked through")
        return self.facts

    def _usual_range(self) -> tuple[Array, Array]:
        """Limits (d,) of what is normal, none for other columns."""
        numbers = those(self.looked_through.kinds, "normal")
        low, high = np.full((2, len(numbers)), [[-np.inf], [np.inf]])
        low[numbers], high[numbers] = self.normal.low, self.normal.high
        return low, high

    def limits(self, kept: Survey) -> Array:
        """Outlier limits of continuous columns, and the ranges of others."""
        found = np.array([kept.sums.minimum, kept.sums.maximum])
        numbers = those(self.looked_through.kinds, "normal")
        if numbers.any():
            found[:, numbers] = self.normal.limits(part_of(kept, numbers))
        counts = ~np.isnan(self.looked_through.most_counts)
        found[1, counts] = self.looked_through.most_counts[counts]
        return found

    # The same mixture elsewhere.

    def origin(self, parameters: MixedParameters) -> Array:
        zero = np.zeros(len(parameters.kinds))
        if parameters.numbers.any():
            zero[parameters.numbers] = self.normal.origin(parameters.of_numbers)
        return zero

    def moved(self, parameters: MixedParameters, by: Array) -> MixedParameters:
        return self.normal.moved(parameters, by)  # type: ignore[return-value]

    def within(self, parameters: MixedParameters) -> MixedParameters:
        if parameters.numbers.any():
            part = self.normal.within(parameters.of_numbers)
            parameters = parameters.with_numbers(part)
        parameters = mean_and_shape.within(tables.within(parameters))
        return missingness.within(parameters) if parameters.informative else parameters

    def units(self, parameters: MixedParameters) -> Mapping[str, Array]:
        return self.normal.units(parameters)

    # Densities and the two steps.

    def log_densities(self, block: Block, parameters: MixedParameters) -> Array:
        if parameters.all_numbers:
            return self.normal.log_densities(block, parameters.of_numbers)
        levels = self.levels(parameters)
        joint = self._beside_normal(block, levels.places(block), levels, parameters).T
        if parameters.numbers.any():
            part = block.select(parameters.numbers)
            joint = joint + self.normal.log_densities(part, parameters.of_numbers)
        return joint

    def _beside_normal(
        self, block: Block, places: Any, levels: Levels, parameters: MixedParameters
    ) -> Array:
        """Log-densities of columns that are not normal, and of their gaps; (k, n)."""
        found = looked_up(places, tables.log_table(parameters, levels))
        if not (parameters.numbers | parameters.tabulated).all():
            found += mean_and_shape.log_densities(block, parameters)
        if parameters.informative:
            found += missingness.log_densities(block, parameters).T
        return found

    def expect(self, parameters: MixedParameters) -> Step:
        if parameters.all_numbers:
            return self.normal.expect(parameters.of_numbers)
        levels, some = self.levels(parameters), parameters.numbers.any()
        of_numbers = self.normal.expect_beside(parameters.of_numbers) if some else expect_tabulated

        def cut(block: Block) -> tuple[Any, Block]:
            part = block.select(parameters.numbers) if some else block
            return levels.places(block), part

        def step(block: Block, log_weights: Array) -> tuple[float, Array, tuple[Array, ...]]:
            places, part = block.kept_for(levels, cut)
            known = self._beside_normal(block, places, levels, parameters)
            known += log_weights[:, None]
            likelihood, shares, sums = of_numbers(part, known)
            more = self._sums_beside_normal(block, places, shares, levels, parameters)
            return likelihood, shares.sum(axis=1), (*sums, *more)

        return step

    def _sums_beside_normal(
        self, block: Block, places: Any, shares: Array, levels: Levels, parameters: MixedParameters
    ) -> tuple[Array, ...]:
        """Sums of columns that are not normal, given weighted ``shares`` (k, n).

        Histograms of tabulated columns, statistics of others, and how often columns are observed.
        """
        found = [histograms(places, shares, levels.size)]
        if not (parameters.numbers | parameters.tabulated).all():
            found += [*mean_and_shape.sums(block, shares, parameters.kinds)]
        return (*found, *(missingness.sums(block, shares) if parameters.informative else ()))

    def given(self, block: Block, shares: Array, parameters: MixedParameters) -> tuple[Array, ...]:
        sums: tuple[Array, ...] = ()
        if parameters.numbers.any():
            part = block.select(parameters.numbers)
            sums = self.normal.given(part, shares, parameters.of_numbers)
        if parameters.all_numbers:
            return sums
        levels = self.levels(parameters)
        more = self._sums_beside_normal(block, levels.places(block), shares.T, levels, parameters)
        return (*sums, *more)

    def step_densities(self, block: Block, parameters: MixedParameters) -> Array:
        """Log-densities for E-steps, without constants; (n, k)."""
        if parameters.all_numbers:
            return self.normal.step_densities(block, parameters.of_numbers)
        levels = self.levels(parameters)
        joint = self._beside_normal(block, levels.places(block), levels, parameters).T
        if parameters.numbers.any():
            part = block.select(parameters.numbers)
            joint = joint + self.normal.step_densities(part, parameters.of_numbers)
        return joint

    def sums_given(
        self, block: Block, shares: Array, densities: Array, parameters: MixedParameters
    ) -> tuple[Array, ...]:
        """The sums of an E-step with given responsibilities ``shares`` (n, k).

        Which cells are outliers is then judged as in any E-step, whose ``densities`` (n, k) are
        given.
        """
        if parameters.plain or not parameters.numbers.any():
            return self.given(block, block.weighed(shares), parameters)
        part, numbers = block.select(parameters.numbers), parameters.of_numbers
        if not parameters.all_numbers:
            densities = self.normal.step_densities(part, numbers)
        with np.errstate(divide="ignore"):
            known = (np.log(shares) - densities).T
        _, weighed, sums = self.normal.expect_beside(numbers)(part, np.ascontiguousarray(known))
        if parameters.all_numbers:
            return sums
        levels = self.levels(parameters)
        more = self._sums_beside_normal(block, levels.places(block), weighed, levels, parameters)
        return (*sums, *more)

    def maximise(
        self, weights: Array, sums: tuple[Array, ...], before: MixedParameters
    ) -> MixedParameters:
        found, left = replace(before, weights=weights), list(sums)
        if before.informative:
            share, present = left.pop(), left.pop()
            facts = self.looked_through
            found = missingness.maximised(found, present, share, facts, self.prior_rows)
        if not (before.numbers | before.tabulated).all():
            own = np.array(left[-mean_and_shape.N_SUMS :])
            del left[-mean_and_shape.N_SUMS :]
            prior = self.prior_rows * self.looked_through.statistics
            found = mean_and_shape.maximised(found, own, prior)
        if not before.all_numbers:
            counts = left.pop()
        if before.tabulated.any():
            if self.prior_rows:
                counts = counts + self.prior_rows * self.looked_through.pooled
            found = tables.maximised(found, self.levels(before), counts)
        if before.numbers.any():
            part = self.normal.maximise(weights, tuple(left), before.of_numbers)
            found = found.with_numbers(part)
        return found

    def levels(self, parameters: MixedParameters) -> Levels:
        """The columns that are not continuous, and their values in one table."""
        facts = self.facts
        if facts is not None and facts.level_values is parameters.level_values:
            return facts.levels  # which is made once
        return levels_of(parameters)

    def prior(self, parameters: MixedParameters) -> float:
        """The log-prior: each component has pseudo-rows of the whole table."""
        height = 0.0
        if parameters.numbers.any():
            height += self.normal.prior(parameters.of_numbers)
        if self.prior_rows and parameters.tabulated.any():
            levels = self.levels(parameters)
            table = tables.log_table(parameters, levels)
            height += self.prior_rows * float((self.looked_through.pooled @ table).sum())
        if self.prior_rows and not (parameters.numbers | parameters.tabulated).all():
            prior = self.prior_rows * self.looked_through.statistics
            height += mean_and_shape.log_prior(parameters, prior)
        if parameters.informative:
            height += missingness.prior(parameters, self.looked_through, self.prior_rows)
        return height

    # Where it begins, and how it ends.

    def em_start(self, parameters: MixedParameters) -> MixedParameters:
        if parameters.numbers.any():
            part = self.normal.em_start(parameters.of_numbers)
            read = parameters.spike_shares[:, parameters.numbers]
            spikes = np.where(np.isnan(read), part.spike_shares, read)
            # Without outliers there are no spikes.
            spikes = np.where(np.isnan(part.spike), np.nan, spikes)
            parameters = self._with_facts(parameters, replace(part, spike_shares=spikes))
        return self.within(parameters)

    def _with_facts(self, parameters: MixedParameters, part: Any) -> MixedParameters:
        """Continuous columns of ``part``, with its knowledge of the table."""
        every: dict[str, Any] = {}
        for name in ("middle", "spread", "spike", "other"):
            every[name] = np.full(len(parameters.kinds), np.nan)
            every[name][parameters.numbers] = getattr(part, name)
        return replace(parameters.with_numbers(part), **every)

    def about(self, places: Array, like: MixedParameters) -> MixedParameters:
        """Components about rows that are given as :meth:`as_numbers` has them; (k, d')."""
        k, numbers = len(places), like.numbers
        found = replace(like, weights=np.full(k, 1 / k))
        n = int(numbers.sum())
        if n:
            found = found.with_numbers(self.normal.about(places[:, :n], like.of_numbers))
        levels, facts, at = self.levels(like), self.looked_through, n
        stretches = dict(
            zip(np.flatnonzero(levels.columns).tolist(), levels.stretches, strict=True)
        )
        own: Array = np.zeros((k, levels.size))
        rates, shapes = found.rates.copy(), found.count_shapes.copy()
        for d in np.flatnonzero(~numbers):
            kind: Any = kind_of(like.kinds[d])
            here = places[:, at : at + kind.width(facts.column(d))]
            at += here.shape[1]
            if int(d) in stretches:
                own[:, stretches[int(d)]] = kind.table_at(facts.column(d), here)
            else:
                rates[:, d], shapes[:, d] = kind.about(facts.column(d), here[:, 0], OWN)
        found = replace(found, rates=rates, count_shapes=shapes)
        found = tables.maximised(found, levels, OWN * own + (1 - OWN) * facts.pooled)
        return self.within(found)

    def as_numbers(self, table: Array) -> tuple[Array, NDArray[np.intp]]:
        """Rows (n, d') on scales on which they can be compared, and the item of each column.

        Continuous columns first, then others in the way of their kind.
        """
        facts = self.looked_through
        numbers = those(facts.kinds, "normal")
        found, item = [table[:, numbers]], [np.flatnonzero(numbers)]
        for d in np.flatnonzero(~numbers):
            found.append(kind_of(facts.kinds[d]).as_numbers(facts.column(d), table[:, d, None]))
            item.append(np.full(found[-1].shape[1], d))
        return np.hstack(found), np.concatenate(item)

    def centres_as_numbers(self, parameters: MixedParameters) -> Array:
        found = [parameters.centres[:, parameters.numbers]]
        for d in np.flatnonzero(~parameters.numbers):
            found.append(kind_of(parameters.kinds[d]).centres_as_numbers(parameters, int(d)))
        return np.hstack(found)

    def simpler(self, parameters: MixedParameters, kept: Survey) -> MixedParameters | None:
        numbers = parameters.numbers
        if not numbers.any():
            return None
        part = self.normal.simpler(parameters.of_numbers, part_of(kept, numbers))
        return None if part is None else parameters.with_numbers(part)

    def left_out(self, rows: Rows, parameters: MixedParameters) -> float:
        if not parameters.numbers.any():
            return 0.0
        return self.normal.left_out(rows.select(parameters.numbers), parameters.of_numbers)

    def finalised(self, rows: Rows, parameters: MixedParameters) -> MixedParameters:

        def shares(block: Block) -> Array:
            return posterior(block, self, parameters).responsibilities

        return self.finalised_by(rows, parameters, shares)

    def finalised_by(
        self, rows: Rows, parameters: MixedParameters, shares: normal_em.Shares
    ) -> MixedParameters:
        """The parameters to show, given responsibilities ``shares``."""
        means = parameters.centres
        if parameters.numbers.any() and not parameters.plain:
            low, high = self._usual_range()
            means = normal_em.shown_means(rows, parameters, low, high, shares)
        return self.shown(replace(parameters, means=means))

    def shown(self, parameters: MixedParameters) -> MixedParameters:
        """The parameters with means of all columns that have one."""
        nominal = parameters.of_levels & (parameters.n_values > 2)
        return replace(parameters, means=np.where(nominal, np.nan, means_of(parameters)))

    # What it says of columns and rows.

    def means(self, parameters: MixedParameters) -> Array:
        return means_of(parameters)

    def variances(self, parameters: MixedParameters) -> Array:
        return variances_of(parameters)

    def places(self, parameters: MixedParameters, home: MixedParameters) -> Array:
        spread = np.sqrt(self.variances(home).mean(axis=0))
        plain = ~home.of_levels | (home.n_values == 2)
        found = [(self.means(parameters) / spread)[:, plain]]
        for d in np.flatnonzero(~plain):
            n = home.n_values[d]
            own = home.level_shares[:n, :, d].mean(axis=1)
            found.append((parameters.level_shares[:n, :, d].T) / np.sqrt(own + 1e-3))
        return np.hstack(found)

    def fills(self, shares: Array, parameters: MixedParameters, cells: Cells) -> Cells:
        """Expected values, or the most probable category.

        The spread of such a one is the probability that it is another.
        """
        value, chance = tables.likeliest(parameters, shares)
        own = parameters.of_levels
        return Cells(
            np.where(own, value, cells.mean), np.where(own, (1 - chance) ** 2, cells.variance)
        )

    def outlying(self, block: Block, parameters: MixedParameters) -> Array:
        found = np.zeros((len(parameters.weights), *block.values.shape))
        if parameters.numbers.any():
            part = block.select(parameters.numbers)
            found[:, :, parameters.numbers] = self.normal.outlying(part, parameters.of_numbers)
        with np.errstate(invalid="ignore"):
            found[:, block.observed & (block.values > parameters.most_counts)] = 1.0
        return found

    def expected_outliers(self, block: Block, parameters: MixedParameters) -> Array:
        """Those of continuous columns; (n,)."""
        if not parameters.numbers.any():
            return np.zeros(len(block))
        return self.normal.expected_outliers(
            block.select(parameters.numbers), parameters.of_numbers
        )

    def tail(self, block: Block, parameters: MixedParameters) -> Array:
        chance = np.ones((len(block), len(parameters.weights)))
        if parameters.numbers.any():
            part = block.select(parameters.numbers)
            chance = self.normal.tail(part, parameters.of_numbers)
        if not parameters.tabulated.any():
            return chance
        both: Array = np.minimum(2 * np.minimum(chance, tabulated_tail(block, parameters)), 1.0)
        return both

    def draw(self, parameters: MixedParameters, labels: Labels, random: Any) -> Array:
        rows = np.empty((len(labels), len(parameters.kinds)))
        if parameters.numbers.any():
            part = self.normal.draw(parameters.of_numbers, labels, random)
            rows[:, parameters.numbers] = part
        for d in (*np.flatnonzero(parameters.with_shapes), *np.flatnonzero(parameters.of_levels)):
            kind: Any = kind_of(parameters.kinds[d])
            rows[:, d] = kind.draw(parameters, int(d), labels, random)
        return rows

    def free(self, parameters: MixedParameters) -> FreeMixed:
        return FreeMixed.of(parameters, self.normal)


def part_of(kept: Survey, features: Mask) -> Survey:
    """The survey of some of the kept features."""
    names = tuple(np.array(kept.names, dtype=object)[features])
    return Survey(names, kept.sums.select(features), kept.kept[features], kept.complete[features])


def levels_of(parameters: MixedParameters) -> Levels:
    """The columns that are not continuous."""
    return Levels.of(parameters.kinds, parameters.level_values, parameters.most_counts)


def expect_tabulated(block: Block, known: Array) -> tuple[float, Array, tuple[Array, ...]]:
    """The E-step where there are no continuous columns."""
    highest = known.max(axis=0)
    shares = np.exp(known - highest)
    total = shares.sum(axis=0)
    likelihood, shares = np.log(total) + highest, shares / total
    if block.weights is not None:
        likelihood, shares = likelihood * block.weights, shares * block.weights
    return float(likelihood.sum()), shares, ()


def tabulated_tail(block: Block, parameters: MixedParameters) -> Array:
    """The chance of cells of levels and counts that are together as rare; (n, k), nearly."""
    levels = levels_of(parameters)
    table = tables.log_table(parameters, levels)
    chance = np.exp(table)
    column = levels.owner
    mean, square = (
        np.array([np.bincount(column, one, minlength=len(levels.counts)) for one in part.T]).T
        for part in (-chance * table, chance * table**2)
    )
    spread = np.maximum(square - mean**2, 0.0)
    seen = (levels.places(block) >= 0).T.astype(float)
    total = -looked_up(levels.places(block), table).T
    away = (total - seen @ mean) / np.sqrt(seen @ spread + 1e-12)
    far: Array = ndtr(-away)
    return far
