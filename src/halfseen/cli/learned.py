"""What a fit learned, told."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from halfseen.cli.reading.column_kinds import summed_up
from halfseen.cli.voice import Voice
from halfseen.cli.wording import in_options
from halfseen.diagnostics.choice import Choice, ClusterTendency
from halfseen.diagnostics.concerns import Concern
from halfseen.io.coding import takes_kinds
from halfseen.report.columns import weights_told
from halfseen.report.registry import portrait_of


def tell(
    voice: Voice,
    model: Any,
    n_rows: int | None,
    out: Path,
    bic: float | None,
    concerns: Sequence[Concern],
    model_reason: str = "",
    line: str = "",
) -> None:
    """Groups or topics, weights and quality, for people and machines.

    Rows of one group are told by the ``line`` along which they differ, if there is one.
    """
    view, choice = portrait_of(model), model.diagnostics_.choice
    kinds = _kinds(model, view.names)
    if kinds:
        voice.say(f"Columns by kind: {summed_up([*kinds.values()])}.")
    if choice is not None:
        voice.say("")
        voice.say(in_options(choice.reason))
        if choice.case == ClusterTendency.UNDECIDED and view.k > 1:
            voice.say(f"Shown are {view.k} {view.nouns}; for one {view.noun} use -k 1.")
        if choice.case == ClusterTendency.ONE_CLOUD and (choice.runner_up or 1) > 1:
            voice.say(f"For {choice.runner_up} {view.nouns} anyway use -k {choice.runner_up}.")
        for row in numbers_told(choice, view.nouns):
            voice.say(row)
    reason = in_options(model.diagnostics_.covariance_reason)
    polish = in_options(model.diagnostics_.refine_told)
    for said in filter(None, (reason, polish)):
        voice.say("")
        voice.say(said)
    voice.say("")
    if line:
        voice.say(line)
    for title, lines in [] if line else view.told():
        voice.say(title)
        for line in lines:
            voice.say(f"  - {line}")
    voice.say("")
    voice.say("How much each column counted:")
    weights = weights_told(view.names, model.feature_weights_, model.observed_fraction_)
    for line in weights:
        voice.say(f"  - {line}")
    if bic is not None:
        voice.say("")
        voice.say(f"BIC {bic:,.0f}. Of fits to the same columns, done alike, the lowest is best.")
    if concerns:
        voice.say("")
        voice.say("What to be careful about:")
        for concern in concerns:
            voice.say(f"  - {in_options(concern.sentence)}")
    voice.say("")
    voice.say(f"Model: {out}")
    voice.finish(
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
        refine_reason=polish or None,
        concerns=[{"kind": one.kind, "sentence": in_options(one.sentence)} for one in concerns],
        converged=getattr(model, "converged_", None),
        seconds=model.diagnostics_.seconds,
    )


def numbers_told(choice: Choice, nouns: str) -> list[str]:
    """The table of all numbers that were tried."""
    if not choice.tried:
        return []
    head = ("", nouns, "log-lik.", "par.", "AIC", "BIC", "ICL", "entropy", "held out", "smallest")
    rows: list[tuple[str, ...]] = [(*head, "stability")]
    for one in choice.tried:
        here = "*" if one.n_components == choice.n_components else ""
        rows.append(
            (
                here or ("(*)" if one.n_components == choice.runner_up else ""),
                f"{one.n_components}",
                f"{one.log_likelihood:,.1f}",
                f"{one.n_parameters}",
                *(f"{value:,.0f}" for value in (one.aic, one.bic, one.icl)),
                f"{one.entropy:.2f}",
                f"{one.held_out:.3f} ± {one.held_out_error:.3f}"
                if one.held_out is not None
                else "",
                f"{one.smallest:.0%}",
                "" if one.stability is None else f"{one.stability:.2f}",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return ["", *lines, "* chosen, (*) runner-up; each number by its best mixture."]


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


def _kinds(model: Any, names: Sequence[str]) -> dict[str, str]:
    """What the columns are to a model that takes kinds, by their own names."""
    return dict(zip(names, model.kinds_.values(), strict=True)) if takes_kinds(model) else {}
