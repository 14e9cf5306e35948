"""Concerns about outlying cells and heavy tails."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import number
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import HIGHEST, LOWEST, Sums
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject
from halfseen.distributions.emission import P
from halfseen.inference.fit import Fitted

CLEARLY = 0.99
"""The probability from which a cell is told."""
MANY = 0.01
"""Of all cells: so many are no errors, but how the columns are."""
FITTING = 2
"""So many times the wild cells of a column hold a value that is no slip: most of them fit."""
MOST_NAMED = 4


@dataclass(frozen=True, eq=False)
class OutlyingSums(Sums):
    """The number of outlying cells of each feature, and the furthest of them."""

    n_cells: float
    count: Array  # (d,)
    lowest: Array = field(metadata=LOWEST)  # (d,)   +inf if there is none
    highest: Array = field(metadata=HIGHEST)  # (d,)  -inf if there is none

    @classmethod
    def under(cls, fitted: Fitted[P]) -> Callable[[Block], "OutlyingSums"]:
        model, parameters = fitted.model, fitted.parameters

        def summarise(block: Block) -> OutlyingSums:
            wild = model.outlying(block, parameters) > CLEARLY  # type: ignore[attr-defined]
            return cls(
                float(block.weighed(block.observed.sum(axis=1).astype(float)).sum()),
                block.weighed(wild.astype(float)).sum(axis=0),
                np.where(wild, block.values, np.inf).min(axis=0, initial=np.inf),
                np.where(wild, block.values, -np.inf).max(axis=0, initial=-np.inf),
            )

        return summarise

    def without(self, features: Mask) -> Self:
        return replace(self, count=np.where(features, 0.0, self.count))


def _held(rows: Rows, values: Array) -> Array:
    """How many cells of each feature hold its one of the ``values`` (d,); (d,).

    A code that hardly any row of one component has may be the usual one of another.
    """

    def summarise(block: Block) -> Array:
        held = block.observed & (block.values == values)
        cells: Array = block.weighed(held.astype(float)).sum(axis=0)
        return cells

    return rows.accumulate(summarise)


def outlying(case: ConcernContext) -> Iterator[Concern]:
    """Warn of cells that look like errors, or of columns with heavier tails than normal ones."""
    fitted = case.fitted
    rows = case.rows.select(fitted.kept)
    sums = rows.accumulate(OutlyingSums.under(fitted))
    if sums.count.sum() < 1:
        return
    centre = fitted.model.shares(fitted.parameters) @ fitted.parameters.means
    further_up = sums.highest - centre > centre - sums.lowest
    furthest = np.where(further_up, sums.highest, sums.lowest)
    sums = sums.without(_held(rows, furthest) > FITTING * sums.count)
    total = float(sums.count.sum())
    if total < 1:
        return
    names = np.array(fitted.own_names, dtype=object)[fitted.kept]
    most = np.argsort(-sums.count, kind="stable")[:MOST_NAMED]
    furthest = _in_units(fitted, furthest)
    listed = ", ".join(
        f"'{names[i]}'{_found(sums.count[i], number(furthest[i]) if case.cells_shown else '')}"
        for i in most
        if sums.count[i]
    )
    others = int(np.count_nonzero(sums.count)) - MOST_NAMED
    more = f" and {others} other columns" if others > 0 else ""
    share = total / sums.n_cells
    if share > MANY:
        yield Concern(
            "heavy_tails",
            f"{share:.1%} of the known cells are further out than {case.components} of normal "
            f"columns have them, most in {listed}{more}. So many are no errors: columns have "
            f"heavier tails than the model's, or there are more {case.components} than were "
            "learned. Such cells count little.",
            Subject.VALUES,
            Gravity.CARE,
        )
        return
    cells = "1 cell looks" if total < 2 else f"{total:,.0f} cells ({_percent(share)}) look"
    yield Concern(
        "outlying_cells",
        f"{cells} mistyped, or {'is' if total < 2 else 'are'} far from all others: {listed}{more}. "
        "Such cells count for nothing. Look at them; correct them, or mark them as missing.",
        Subject.VALUES,
        Gravity.KNOW,
    )


def _in_units(fitted: Fitted[P], values: Array) -> Array:
    done = fitted.preprocessing
    if done is None:
        return values
    every = np.zeros(len(fitted.kept))
    every[fitted.kept] = np.where(np.isfinite(values), values, 0.0)
    units: Array = done.undo(every[None])[0][fitted.kept]
    return units


def _found(count: float, value: str) -> str:
    how_many = f"{count:,.0f}" if count >= 2 else ""
    said = f"{how_many}, such as {value}" if how_many and value else how_many or value
    return f" ({said})" if said else ""


def _percent(share: float) -> str:
    return f"{share:.2%}" if share < 0.001 else f"{share:.1%}"


OVERLAP = 0.3
"""From 0, apart, to 1, the same: two equal normals 2.4 standard deviations apart have 0.3."""


def overlap(case: ConcernContext) -> Iterator[Concern]:
    """Warn of two components between which rows cannot tell."""
    fitted = case.fitted
    if fitted.n_components < 2:
        return

    def products(block: Block) -> Array:
        shares = fitted.model.expected_latent(block, fitted.parameters)
        both: Array = shares.T @ block.weighed(shares)
        return both

    shared = case.rows.select(fitted.kept).accumulate(products)
    own = shared.sum(axis=1)
    between = shared * np.add.outer(own, own) / np.maximum(np.outer(own, own), 1e-300)
    np.fill_diagonal(between, 0.0)
    i, j = map(int, np.unravel_index(between.argmax(), between.shape))
    if between[i, j] > OVERLAP:
        yield Concern(
            "overlapping_components",
            f"{case.called(i).capitalize()} and {case.called(j)} overlap: what is observed in a "
            f"row often cannot tell which it is from (overlap {between[i, j]:.2f}; 0 is apart, 1 "
            "the same). Do not read much into the label of a row; use probabilities"
            + ("." if fitted.diagnostics.choice else f", or fewer {case.components}."),
        )
