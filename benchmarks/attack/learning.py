"""Learn from an odd table, and hold what was learned to the laws."""

from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.attack import containers, laws, options, tables, word_containers, words
from benchmarks.attack.defect import check
from benchmarks.attack.ours import is_ours
from halfseen.data.arrays import Array
from halfseen.inference.parameters import declared, n_free
from halfseen.io.kind_inference import NUMBERS_ROWS
from halfseen.models import MODELS

LEARNED, STREAMED = "learned", "learned from a stream"
LOOSE = 1e-6
"""Whoever stops early may stop elsewhere."""
DECLARED_SHARE = 0.3
"""Of tables for models that take kinds of columns, of how many some are declared."""
FAR = (0.0, 1.0, -1.0, 1e3, 1e15, -1e15, 1e100, 1e200, 1e300, 1e-300, 9.97e36)


def attack(seed: int, folder: Path) -> str:
    """One table, one model of the registry, some options."""
    rng = np.random.default_rng(seed)
    name = list(MODELS)[rng.integers(len(MODELS))]
    X = tables.draw(rng, MODELS[name].about.counts)
    chosen = options.draw(rng, MODELS[name], X.shape)
    if rng.random() < 0.03:
        chosen["feature_weights"] = options.feature_weights(rng, X.shape[1])
    given, X = contained(rng, X, MODELS[name].takes_kinds)
    if MODELS[name].takes_kinds and rng.random() < DECLARED_SHARE:
        chosen["kinds"] = options.kinds(rng, containers.names_in(given, X))
    follow = MODELS[name].about.sequences
    weight = None if in_batches(given) or follow else options.sample_weight(rng, len(X))
    estimator = MODELS[name](**chosen)
    if rng.random() < 0.03 and hasattr(estimator, "partial_fit"):
        return streamed(rng, estimator, X)
    if follow:
        model = estimator.fit(given, lengths=options.lengths(rng, len(X)))
    else:
        model = estimator.fit(given, sample_weight=weight)
    if rng.random() < 0.05 and not follow:
        other_order(rng, model, given, X, weight)
    if rng.random() < 0.15:
        one_component(model, given, len(X), weight)
    if weight is not None and not weight.all():  # rows that do not count may hold anything
        X, weight = X[weight > 0], weight[weight > 0]
        given = X
    hold_to_laws(rng, model, given, X, weight, folder)
    return LEARNED


def contained(rng: np.random.Generator, X: Array, takes_words: bool) -> tuple[Any, Any]:
    """A table in a container, with words in it where they may be, and what is in it.

    That is numbers, NaN in the gaps, or objects, None in the gaps.
    """
    if X.size and rng.random() < (0.5 if takes_words else 0.01):
        return word_containers.draw(rng, words.draw(rng, X))
    return containers.draw(rng, X)


def ready() -> None:
    """Have everything compiled that an option may ask for."""
    rng = np.random.default_rng(0)
    X = rng.poisson([[2.0, 9.0, 4.0], [9.0, 2.0, 5.0]] * 20).astype(float)
    X[::7, 0] = np.nan
    for kind in MODELS.values():
        for chosen in options.each_alone(kind):
            try:
                model = kind(2, **options.hasty(kind) | chosen).fit(X)
            except ValueError:
                continue  # what it needs others for
            for verb in (model.hidden, model.score_samples, model.unusual, model.impute):
                verb(X)
            if not chosen:
                model.concerns(X)


def in_batches(given: Any) -> bool:
    """Whether a table comes in parts."""
    return isinstance(given, list) and bool(given) and hasattr(given[0], "shape")


def streamed(rng: np.random.Generator, estimator: Any, X: Any) -> str:
    """Batches that come once; the last may be one row."""
    cut = len(X) // 2 if rng.random() < 0.5 else max(len(X) - 1, 0)
    estimator.partial_fit(X[:cut], refit=False).partial_fit(X[cut:])
    laws.learned_is_finite(estimator)
    laws.hidden_is_a_law(estimator, X)
    laws.gaps_are_filled(estimator, X, X)
    return STREAMED


def hold_to_laws(
    rng: np.random.Generator, model: Any, given: Any, X: Any, weight: Any, folder: Path
) -> None:
    """All that is cheap always, and each of what is dear now and then."""
    laws.learned_is_finite(model)
    laws.hidden_is_a_law(model, X)
    laws.scores_are_numbers(model, X)
    laws.unusual_is_a_share(model, X)
    if rng.random() < 0.3:
        laws.bound_is_the_mean_score(model, X, weight)
    fills(rng, model, given, X)
    far_rows(rng, model, X)
    if rng.random() < 0.3:
        laws.draws_are_rows(model)
    if rng.random() < 0.1:
        laws.cells_are_told_apart(model, X)
    if rng.random() < 0.2:
        laws.file_gives_it_back(model, X)
    if rng.random() < 0.03:
        laws.concerns_are_sentences(model, given)
    if rng.random() < 0.02 and not in_batches(given):
        laws.intervals_are_numbers(model, given, weight)
    if rng.random() < 0.005:
        page = folder / "page.html"
        laws.asked("report", model.report, given, page)
        check(page.read_text("utf-8").rstrip().endswith("</html>"), "a page is not whole")


def fills(rng: np.random.Generator, model: Any, given: Any, X: Any) -> None:
    """In the container it came in, or as an array in another way."""
    kind = rng.random()
    if kind < 0.5:
        laws.gaps_are_filled(model, X, X)
    elif kind < 0.7:
        laws.gaps_are_filled(model, X, X, return_std=True)
    elif kind < 0.8:
        laws.gaps_are_filled(model, X, X, draws=2, possible=bool(rng.random() < 0.5))
    elif kind < 0.85 and "return_proba" in signature(model.impute).parameters:
        laws.gaps_are_filled(model, X, X, return_proba=True)
    elif not hasattr(given, "tocsr") and not (model.about.sequences and in_batches(given)):
        # Zeros of sparse tables are counts, not gaps, and sequences go on from batch to batch.
        laws.gaps_are_filled(model, given, X)


def far_rows(rng: np.random.Generator, model: Any, X: Any) -> None:
    """Rows that no fit saw: refused, or answered with numbers."""
    far = drawn_far_rows(rng, X, model.about.counts)
    laws.hidden_is_a_law(model, far, "hidden of far rows", may_refuse=True)
    if model.about.labels:
        laws.scores_are_numbers(model, far, may_refuse=True)


def drawn_far_rows(rng: np.random.Generator, X: Any, counts: bool = False) -> Any:
    """Three rows of numbers, or of cells if the table has such."""
    far = rng.choice(FAR, size=(3, X.shape[1]))
    if counts:
        far = np.abs(np.floor(far))
    if X.dtype == object:
        far = far_cells(rng, X, far)
    far[rng.random(far.shape) < 0.3] = None if X.dtype == object else np.nan
    return far


def far_cells(rng: np.random.Generator, X: Any, far: Array) -> Any:
    """The same of rows of cells: words that no fit saw beside those that it did."""
    made = far.astype(object)
    for place in range(X.shape[1]):
        known = [cell for cell in X[:, place] if isinstance(cell, str | bool)]
        if known:
            every = [*known, *words.LABELS, *map(str, FAR)]
            made[:, place] = [every[i] for i in rng.integers(len(every), size=len(far))]
    return made


def _climbs_alike(model: Any) -> bool:
    """Whether nothing was left to chance: an EM run by chance knows no likelihood."""
    return model.lower_bound_ is not None or model.refine is None


def told_by_order(model: Any) -> bool:
    """Whether a column was left out as one that numbers the rows, which shuffled it does not."""
    coding = getattr(model, "coding_", None)
    return coding is not None and any(NUMBERS_ROWS.alone in told for told in coding.sentences)


def other_order(rng: np.random.Generator, model: Any, given: Any, X: Any, weight: Any) -> None:
    """The same rows in the same container, shuffled."""
    order = rng.permutation(len(X))
    shuffled = containers.taken(given, order)
    early = not model.converged_ or getattr(model, "tol", 0.0) > LOOSE
    if early or told_by_order(model) or not _climbs_alike(model):
        return
    if shuffled is not None:
        weights = None if weight is None else weight[order]
        other = clone(model).fit(shuffled, sample_weight=weights)
        known = np.arange(len(X)) if weight is None else np.flatnonzero(weight)
        laws.order_is_immaterial(model, other, X[known])


def n_learned(model: Any) -> int:
    """How many numbers a fit learned."""
    return n_free(model.fitted.parameters, model.fitted.model.axes)


def along(model: Any) -> bool:
    """Whether columns go along with each other, of which few rows say less than what is usual."""
    return any({*"eq"} & {*one.axes[-1]} for one in declared(model.fitted.parameters))


def one_component(model: Any, given: Any, n: int, weight: Any) -> None:
    """Where the likelihood alone decides, and nothing was cut short."""
    free = model.lower_bound_ is not None and model.outliers is None and model.converged_
    if not free or model.n_components_ == 1 or (n < n_learned(model) and along(model)):
        return
    try:
        weights = {} if weight is None else {"sample_weight": weight}
        alone = clone(model).set_params(n_components=1).fit(given, **weights)
    except ValueError as error:
        check(is_ours(error), "one component fails", error)
        return
    if alone.converged_:
        laws.one_component_is_no_better(model, alone, n if weight is None else weight.sum())
