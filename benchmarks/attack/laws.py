"""What holds of everything that was learned, whatever it was learned from."""

import re
from functools import cache
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from benchmarks.attack.defect import Defect, check
from benchmarks.attack.filled import (
    check_chances,
    check_filled,
    check_spread,
    gaps_in,
    possible_ends,
)
from benchmarks.attack.ours import is_ours, where
from halfseen.data.arrays import Mask
from halfseen.estimators.docstrings import entries
from halfseen.estimators.serialisation import kind_of
from halfseen.inference.parameters import declared
from halfseen.models import MODELS
from halfseen.persistence.model_file import dumps, loads

SUMS = 1e-9
"""How far probabilities may sum from one."""
ORDER = 1e-6
"""How far, relative to its size, a likelihood may move when rows come in another order."""
BOUND = 1e-4
"""How far it may move, likewise, when densities of hardly any width are computed in another way."""
LAST_DIGITS = 1e-8
FALL = 1e-6
"""Likelihood a row that rounding and stopping may cost."""
NO_REASON = 0.01
"""Nats of all rows that are no reason to prefer one place to another."""
MOST_SCORED = 5
"""Rows whose likelihood is asked for: it may take a millisecond each."""


def asked(verb: str, function: Any, *given: Any, may_refuse: bool = False, **options: Any) -> Any:
    """What a fitted model answers; it may not refuse its own table."""
    try:
        return function(*given, **options)
    except Exception as error:
        if not is_ours(error):
            law = f"{type(error).__name__} that is not ours in {verb}"
            raise Defect(law, where(error)) from error
        if may_refuse:
            return None
        raise Defect(f"{verb} refuses the table that was learned from", where(error)) from error


def learned_is_finite(model: Any) -> None:
    """No number that was learned is infinite, and none is NaN but where it says that none is."""
    fitted = asked("fitted", lambda: model.fitted)
    for one in declared(fitted.parameters):
        numbers = np.asarray(getattr(fitted.parameters, one.field), dtype=float)
        check(not np.isinf(numbers).any(), f"infinite {one.name} learned", numbers)
        if one.name not in _may_say_none(type(model).__doc__ or ""):
            check(not np.isnan(numbers).any(), f"NaN {one.name} learned", numbers)
    check(np.isfinite(model.lower_bound_ or 0.0), "lower_bound_ not finite", model.lower_bound_)
    check(np.isfinite(model.feature_weights_).all(), "weights not finite", model.feature_weights_)


@cache
def _may_say_none(docstring: str) -> frozenset[str]:
    """Attributes whose documentation says when a feature that is used has none."""
    said = entries(docstring + "\n", "Attributes")
    unused = re.compile("NaN for features that were never observed")
    return frozenset(name for name, text in said.items() if "NaN" in unused.sub("", text))


def hidden_is_a_law(model: Any, X: Any, verb: str = "hidden", may_refuse: bool = False) -> None:
    """Probabilities are between zero and one and sum to one; loadings are not negative."""
    hidden = asked(verb, model.hidden, X, may_refuse=may_refuse)
    if hidden is None:
        return
    check(hidden.shape == (len(X), model.n_components_), f"{verb} has another shape", hidden.shape)
    check(np.isfinite(hidden).all(), f"{verb} not finite", hidden[~np.isfinite(hidden).all(1)][:1])
    check((hidden >= 0).all(), f"{verb} negative", hidden.min(initial=0))
    if model.about.labels:
        far = np.abs(hidden.sum(axis=1) - 1).max(initial=0)
        check(far < SUMS, f"{verb} does not sum to one", far)
        check((hidden <= 1 + SUMS).all(), f"{verb} above one", hidden.max(initial=0))


def scores_are_numbers(model: Any, X: Any, may_refuse: bool = False) -> None:
    """A likelihood is a number."""
    scores = asked("score_samples", model.score_samples, X[:MOST_SCORED], may_refuse=may_refuse)
    if scores is not None:
        check(not np.isnan(scores).any(), "score_samples is NaN", scores)
        check((scores < np.inf).all(), "score_samples is infinite", scores)
        check(may_refuse or np.isfinite(scores).all(), "score_samples is -inf", scores)


def bound_is_the_mean_score(model: Any, X: Any, weight: Any) -> None:
    """What the EM run ended at is the mean log-likelihood of rows that hold anything.

    Scores of models of sequences are not of rows.
    """
    if model.lower_bound_ is None or model.about.sequences or hardly_varies(X):
        return
    scores = asked("score_samples", model.score_samples, X)
    something = (~gaps_in(X, coding_of(model)) & model.kept_features_).any(axis=1)
    weight = something if weight is None else weight * something
    mean = float(weight @ scores / weight.sum())
    apart = abs(mean - model.lower_bound_) / (1 + abs(mean))
    check(apart < BOUND, "lower_bound_ is not the mean score", f"{mean}, {model.lower_bound_}")


def hardly_varies(X: Any) -> bool:
    """Whether a column's values differ in their last digits only, which rounding changes."""
    if X.dtype == object:
        X = np.array([_number(cell) for cell in X.ravel()], dtype=float).reshape(X.shape)
    with np.errstate(all="ignore"), catch_warnings():
        simplefilter("ignore")
        width, size = np.nanmax(X, axis=0) - np.nanmin(X, axis=0), np.nanmax(np.abs(X), axis=0)
    return bool(((width > 0) & (width < LAST_DIGITS * size)).any())


def _number(cell: Any) -> float:
    """A cell of numbers, or of words that are read as such; NaN if it is none."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        return np.nan


def unusual_is_a_share(model: Any, X: Any) -> None:
    """How unusual rows are is between zero and one."""
    found = asked("unusual", model.unusual, X)
    check(((found >= 0) & (found <= 1)).all(), "unusual is not from 0 to 1", found)


def gaps_are_filled(model: Any, given: Any, X: Any, **options: Any) -> None:
    """Observed cells stay, gaps become values within what was seen, as far as anything was."""
    answer = asked("impute", model.impute, given, **options)
    if options.get("return_proba"):
        answer, chances = answer
        check_chances(chances, len(X))
    if options.get("return_std"):
        answer, spread = answer
        check_spread(X, spread, learned_columns(model), coding_of(model))
    for filled in answer if "draws" in options else [answer]:
        check_filled(
            X,
            filled,
            learned_columns(model),
            possible_ends(model.fitted.possible),
            coding_of(model),
        )


def coding_of(model: Any) -> Any:
    """How columns of words became numbers, if there may be any."""
    return getattr(model, "coding_", None)


def learned_columns(model: Any) -> Mask:
    """The columns of which anything is known; (d,)."""
    learned: Mask = model.kept_features_ | ~np.isnan(model.constants_)
    return learned


def draws_are_rows(model: Any) -> None:
    """What is drawn is finite wherever something was learned."""
    rows, _ = asked("sample", model.sample, 3)
    rows = rows[:, learned_columns(model)]
    finite = not gaps_in(rows).any() if rows.dtype == object else np.isfinite(rows).all()
    check(finite, "sample not finite", rows)


def file_gives_it_back(model: Any, X: Any) -> None:
    """Saved and loaded it says the same, to the last bit."""
    kinds = {kind.name: kind for kind in map(kind_of, MODELS.values())}
    data = asked("save", dumps, model, kinds[type(model).__name__])
    again = asked("load", loads, data, "it", kinds)
    ours, theirs = (asked("hidden", one.hidden, X[:20]) for one in (model, again))
    check(np.array_equal(ours, theirs), "a loaded model differs", np.abs(ours - theirs).max())


def cells_are_told_apart(model: Any, X: Any) -> None:
    """What is said of single cells and of pairs of columns is a number wherever it can be."""
    if hasattr(model, "surprisal"):
        found = np.asarray(asked("surprisal", model.surprisal, X), dtype=float)
        there = ~gaps_in(X, coding_of(model)) & model.kept_features_
        check(found.shape == X.shape, "surprisal has another shape", found.shape)
        check(not np.isinf(found).any(), "surprisal is infinite", found)
        check(not (np.isnan(found) & there).any(), "surprisal is NaN of an observed cell", found)
    if hasattr(model, "dependence"):
        nats = np.asarray(asked("dependence", model.dependence))
        check(not np.isinf(nats).any(), "dependence is infinite", nats)
        check((nats[~np.isnan(nats)] > -SUMS).all(), "dependence is negative", nats)
        check(np.allclose(nats, nats.T, equal_nan=True), "dependence is not mutual", nats)
    if hasattr(model, "explain"):
        words = asked("explain", lambda: str(model.explain()))
        check("nan" not in words.split(), "an explanation says nan", words[-300:])


def concerns_are_sentences(model: Any, given: Any) -> None:
    """Doubts never fail, and speak."""
    found = asked("concerns", model.concerns, given)
    check(all(len(one.sentence) > 20 for one in found), "a concern says nothing", found)


def intervals_are_numbers(model: Any, given: Any, weight: Any) -> None:
    """Interval ends are numbers in order, or there are none, and why is said."""
    found = asked(
        "intervals",
        model.intervals,
        given,
        n_replicates=20,
        may_refuse=True,
        **{} if weight is None else {"sample_weight": weight},
    )
    for name, one in (found or {}).items():
        value = np.asarray(getattr(model, name), dtype=float)
        known = np.isfinite(value)
        for end in (one.low, one.high, one.std):
            bad = np.isnan(np.asarray(end, dtype=float)[known])
            check(not bad.any(), "an interval end is NaN", f"{name} {one}")
        check((one.low <= one.high)[known].all(), "an interval is reversed", f"{name} {one}")


def one_component_is_no_better(model: Any, alone: Any, n_rows: float) -> None:
    """What the fit climbs is not lower than with one component, of which it could make two."""
    fall = alone.lower_bound_ - model.lower_bound_
    found = f"{model.lower_bound_} with {model.n_components_}, {alone.lower_bound_} with one"
    least = FALL * (1 + abs(alone.lower_bound_)) + NO_REASON / n_rows
    check(fall < least, "one component is more likely", f"{found}, of {n_rows:g} rows")


def order_is_immaterial(model: Any, other: Any, X: Any) -> None:
    """Rows in another order give the same likelihoods."""
    ours, theirs = (
        asked("score_samples", one.score_samples, X[:MOST_SCORED]) for one in (model, other)
    )
    apart = np.abs(ours - theirs).max(initial=0.0) / (1 + np.abs(ours).max(initial=0.0))
    check(apart < ORDER, "the order of rows matters", apart)
