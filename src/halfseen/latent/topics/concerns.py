"""What may speak against topics, whatever the law of their loadings."""

from collections.abc import Iterator

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.formatting import quoted
from halfseen.diagnostics.concerns.concern import Concern, ConcernContext, Gravity, Subject
from halfseen.latent.topics.outliers import count_limits
from halfseen.latent.topics.overdispersion import overdispersion

ALIKE = 0.95
"""The cosine from which two topics are nearly one."""


def alike(case: ConcernContext) -> Iterator[Concern]:
    """Topics that are nearly the same."""
    topics = case.fitted.parameters.topics
    unit = topics / np.linalg.norm(topics, axis=1, keepdims=True)
    cosines = np.triu(unit @ unit.T, 1)
    i, j = map(int, np.unravel_index(cosines.argmax(), cosines.shape))
    if cosines[i, j] > ALIKE:
        yield Concern(
            "overlapping_components",
            f"{case.called(i).capitalize()} and {case.called(j)} are nearly the same (cosine "
            f"{cosines[i, j]:.2f}), so loadings are traded between them. Use fewer topics.",
        )


def bursty(case: ConcernContext) -> Iterator[Concern]:
    """Counts that vary more than Poisson ones given the topics."""
    if case.unseen_pairs:
        return
    found = overdispersion(case.pairs, case.fitted.n_components)
    if found is None or not found.clear.any():
        return
    order = np.argsort(-found.dispersion, kind="stable")
    most = [i for i in order if found.clear[i]]
    middle = float(np.median(found.dispersion[most]))
    yield Concern(
        "bursts",
        f"Counts of {quoted(case.names, most)} vary more than Poisson counts do given the topics, "
        "as if their rates were multiplied by random factors with a standard deviation of "
        f"{np.sqrt(middle):.0%} (dispersion {middle:.2g}). What comes in bursts looks like a topic "
        "of its own: do not trust topics that are mostly one such column, nor likelihoods, and "
        "compare with a fit without these columns.",
    )


def odd_counts(case: ConcernContext) -> Iterator[Concern]:
    """Counts, and lengths of rows, that look like errors."""
    fitted = case.fitted
    kept = case.seen.kept & fitted.kept
    rows, sums = case.rows.select(kept), case.seen.sums.select(kept)
    usual = count_limits(rows, sums)
    if usual.all_usual:
        return
    names = tuple(np.array(fitted.own_names, dtype=object)[kept])
    *wild, n_long = map(int, rows.accumulate(usual.tally))
    if any(wild):
        yield Concern(
            "wild_counts",
            _of_wild(wild, names, usual.most) + _what_of_it(case, sum(wild)),
            Subject.VALUES,
            Gravity.KNOW,
        )
    if n_long:
        are = "row is" if n_long == 1 else "rows are"
        yield Concern(
            "long_rows",
            f"{n_long} {are} far longer than the others: more than {usual.longest:.0f} is counted "
            f"there beside the largest count.{_what_of_it(case, n_long)}",
            Subject.VALUES,
            Gravity.KNOW,
        )


def _of_wild(wild: list[int], names: tuple[str, ...], most: Array) -> str:
    total, worst = sum(wild), int(np.argmax(wild))
    are = "count is" if total == 1 else "counts are"
    where = f"in '{names[worst]}', where it should be at most {most[worst]:.0f}"
    if wild[worst] < total:
        where = f"most in {quoted(names, np.argsort(wild, kind='stable')[::-1][:1])}"
    return f"{total} {are} far beyond what the others of the same column allow: {where}."


def _what_of_it(case: ConcernContext, number: int) -> str:
    they, were = ("It", "was") if number == 1 else ("They", "were")
    errors = "it is an error" if number == 1 else "they are errors"
    if case.fitted.settings.outliers is None:
        return f" {they} may decide the topics. Look whether {errors}, or use outliers='auto'."
    return f" {they} {were} left out of what was learned. Look whether {errors}."
