"""The result of a fit, as text and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from halfseen.cli.console import Console
from halfseen.cli.messages import in_options
from halfseen.diagnostics.choice import Choice, ClusterTendency
from halfseen.diagnostics.concerns import Concern
from halfseen.io.coding import takes_kinds
from halfseen.report.columns import weights_told
from halfseen.report.registry import portrait_of


def print_fit(
    console: Console,
    model: Any,
    n_rows: int | None,
    out: Path,
    bic: float | None = None,
    concerns: Sequence[Concern] = (),
    model_reason: str = "",
    line: str = "",
) -> None:
    """Print groups or topics, weights and quality.

    Rows of one group are told by the ``line`` along which they differ, if there is one.
    """
    view, choice = portrait_of(model), model.diagnostics_.choice
    kinds: dict[str, str] = {}
    if takes_kinds(model):
        kinds = dict(zip(view.names, model.kinds_.values(), strict=True))
        console.say(f"Columns by kind: {_counted([*kinds.values()])}.")
    if choice is not None:
        _print_choice(console, choice, view)
    reason = in_options(model.diagnostics_.covariance_reason)
    refined = in_options(model.diagnostics_.refine_told)
    for sentence in filter(None, (reason, refined)):
        console.say("")
        console.say(sentence)
    console.say("")
    if line:
        console.say(line)
    for title, lines in [] if line else view.descriptions():
        console.items(title, lines)
    console.say("")
    weights = weights_told(view.names, model.feature_weights_, model.observed_fraction_)
    console.items("How much each column counted:", weights)
    if bic is not None:
        console.say("")
        console.say(f"BIC {bic:,.0f}. Of fits to the same columns, done alike, the lowest is best.")
    sentences = [in_options(concern.sentence) for concern in concerns]
    if concerns:
        console.say("")
        console.items("What to be careful about:", sentences)
    console.say("")
    console.say(f"Model: {out}")
    console.finish(
        model=str(out),
        estimator=type(model).__name__,
        n_rows=n_rows,
        model_reason=model_reason or None,
        columns=list(view.names),
        kinds=kinds or None,
        components=[
            {
                view.noun: rank + 1,
                "component": int(view.order[rank]),
                "share": view.shares[rank],
                "centre": dict(zip(view.names, view.centres[rank], strict=True)),
                **_probabilities(model, view.names, int(view.order[rank])),
            }
            for rank in range(view.k)
        ],
        feature_weights=dict(zip(view.names, model.feature_weights_, strict=True)),
        observed_fraction=dict(zip(view.names, model.observed_fraction_, strict=True)),
        main_line=line or None,
        bic=bic,
        choice=None if choice is None else asdict(choice),
        covariance=getattr(model, "covariance_type_", None),
        factors=getattr(model, "n_factors_", None),
        covariance_reason=reason or None,
        refine_reason=refined or None,
        concerns=[
            {"kind": one.kind, "sentence": sentence}
            for one, sentence in zip(concerns, sentences, strict=True)
        ],
        converged=getattr(model, "converged_", None),
        seconds=model.diagnostics_.seconds,
    )


def _print_choice(console: Console, choice: Choice, view: Any) -> None:
    """Print the number of components, and the table of all tried numbers."""
    console.say("")
    console.say(in_options(choice.reason))
    if choice.case == ClusterTendency.UNDECIDED and view.k > 1:
        console.say(f"Shown are {view.k} {view.nouns}; for one {view.noun} use -k 1.")
    if choice.case == ClusterTendency.ONE_CLOUD and (choice.runner_up or 1) > 1:
        console.say(f"For {choice.runner_up} {view.nouns} anyway use -k {choice.runner_up}.")
    if not choice.tried:
        return
    head = ("", view.nouns, "log-lik.", "par.", "AIC", "BIC", "ICL", "entropy", "held out")
    rows: list[tuple[str, ...]] = [(*head, "smallest", "stability")]
    marks = {choice.runner_up: "(*)", choice.n_components: "*"}
    for one in choice.tried:
        held_out = (
            f"{one.held_out:.3f} ± {one.held_out_error:.3f}" if one.held_out is not None else ""
        )
        rows.append(
            (
                marks.get(one.n_components, ""),
                f"{one.n_components}",
                f"{one.log_likelihood:,.1f}",
                f"{one.n_parameters}",
                *(f"{value:,.0f}" for value in (one.aic, one.bic, one.icl)),
                f"{one.entropy:.2f}",
                held_out,
                f"{one.smallest:.0%}",
                "" if one.stability is None else f"{one.stability:.2f}",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    console.say("")
    for row in rows:
        console.say("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)))
    console.say("* chosen, (*) runner-up; each number by its best mixture.")


def _counted(kinds: list[str]) -> str:
    """The number of columns of each kind, most common first.

    >>> _counted(["categorical", "continuous", "categorical"])
    '2 categorical, 1 continuous'
    """
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{count} {kind}" for kind, count in ranked)


def _probabilities(model: Any, names: Sequence[str], component: int) -> dict[str, Any]:
    """How likely a component has each value of the columns that have few."""
    if not takes_kinds(model):
        return {}
    own = dict(zip(model.kinds_, names, strict=True))
    few = {c: p["probabilities"] for c, p in model.profiles_.items() if "probabilities" in p}
    return {
        "probabilities": {
            own[column]: {str(value): shares[component] for value, shares in each.items()}
            for column, each in few.items()
        }
    }
