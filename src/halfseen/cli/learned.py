"""What a fit learned, told."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from halfseen.cli.voice import Voice
from halfseen.cli.wording import in_options
from halfseen.doubt.concerns import Concern
from halfseen.explain.portrait import portrait_of
from halfseen.explain.words import weights_told


def tell(
    voice: Voice,
    model: Any,
    n_rows: int | None,
    out: Path,
    bic: float | None,
    concerns: Sequence[Concern],
) -> None:
    """Groups or topics, weights and quality, for people and machines."""
    view, choice = portrait_of(model), model.diagnostics_.choice
    if choice is not None:
        voice.say("")
        voice.say(f"{view.k} {view.nouns} were chosen. {choice.reason}")
    voice.say("")
    for title, lines in view.told():
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
        columns=list(view.names),
        components=[
            {
                view.noun: rank + 1,
                "component": int(view.order[rank]),
                "share": view.shares[rank],
                "centre": dict(zip(view.names, view.centres[rank], strict=True)),
            }
            for rank in range(view.k)
        ],
        feature_weights=dict(zip(view.names, model.feature_weights_, strict=True)),
        observed_fraction=dict(zip(view.names, model.observed_fraction_, strict=True)),
        bic=bic,
        choice=None if choice is None else asdict(choice),
        concerns=[{"kind": one.kind, "sentence": in_options(one.sentence)} for one in concerns],
        converged=getattr(model, "converged_", None),
        seconds=model.diagnostics_.seconds,
    )
