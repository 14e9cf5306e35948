"""A concern: gaps that tell of the class, and what becomes of the classes if they are let to."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import chi2

from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern, Gravity, Subject
from halfseen.doubt.cross_scores import of_models_not_kept
from halfseen.doubt.few_rows import few_rows
from halfseen.method.fit import fit_rows
from halfseen.models.latent_class.changed_labels import ChangedLabels
from halfseen.moments.survey import survey
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.gathered import gathered
from halfseen.rows.naming import quoted
from halfseen.rows.percentages import percent
from halfseen.rows.rows import Block
from halfseen.rows.stages import Stages

MOST_ROWS = 5000
APART, CHANCE = 0.1, 1e-3
"""By how much shares of observed cells differ between classes, and how rarely that is chance."""
SAME = 0.9
"""Agreement of labels from which on it does not matter."""


def telling_gaps(case: Case) -> Iterator[Concern]:
    """Columns that some classes have more often than others, if that changes the classes."""
    fitted: Any = case.fitted
    if fitted.n_components < 2 or fitted.model.emission.informative:
        return
    telling = np.flatnonzero(_telling(case))
    if not len(telling):
        return
    changed = _compared(case)
    if changed.agreement >= SAME:
        return
    names = list(np.array(fitted.own_names, dtype=object)[fitted.kept])
    yield Concern(
        "telling_gaps",
        f"How often {quoted(names, telling)} {'is' if len(telling) == 1 else 'are'} known differs "
        f"between the {case.components}. If gaps are let to tell of them (gaps='informative'), "
        f"{percent(changed.moved)} of rows change theirs. Compare both, and ask why cells are "
        "missing.",
        Subject.GAPS,
        Gravity.DOUBT,
    )


def _telling(case: Case) -> Mask:
    """Columns of which classes have different shares observed; (kept,)."""
    fitted = case.fitted
    model, parameters = fitted.model, fitted.parameters

    def summarise(block: Block) -> Array:
        shares = block.weighed(model.hidden(block, parameters))
        sums: Array = np.column_stack([shares.T @ block.observed, shares.sum(axis=0)])
        return sums

    sums = case.rows.select(fitted.kept).accumulate(summarise)
    present, total = sums[:, :-1], sums[:, -1:]
    share, overall = present / total, present.sum(axis=0) / total.sum()
    spread = overall * (1 - overall)
    gappy = spread > 1e-12  # rounding can leave something where nothing is missing
    away = total * (share - overall) ** 2 / np.where(gappy, spread, np.inf)
    by_chance = chi2.sf(away.sum(axis=0), len(total) - 1)
    found: Mask = (np.ptp(share, axis=0) > APART) & (by_chance < CHANCE / len(overall))
    return found


def _compared(case: Case) -> ChangedLabels:
    """Classes learned both ways."""
    fitted: Any = case.fitted
    few = few_rows(case.rows, case.bins, MOST_ROWS)
    seen = survey(few.rows, fitted.settings.complete_above)
    settings = replace(fitted.settings, random_state=0)
    given = []
    for informative in (False, True):
        emission = replace(fitted.model.emission, informative=informative)
        model = replace(fitted.model, emission=emission)
        with of_models_not_kept():
            fit = fit_rows(settings, model, few.rows, seen, fitted.n_components, Stages())
        part = few.rows.select(seen.kept)
        hidden = gathered(part, partial(model.hidden, parameters=fit.parameters))
        given.append(hidden.argmax(axis=1))
    return ChangedLabels.of(*given)
