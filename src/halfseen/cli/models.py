"""The models that can be asked for: those of the registry."""

from enum import StrEnum
from inspect import signature
from typing import Annotated, Any

import typer

from halfseen.cli.choices import Scale
from halfseen.models import MODELS, USUAL_MODEL

Kind = StrEnum("Kind", {name.replace("-", "_"): name for name in MODELS})  # type: ignore[misc]
USUAL: Any = Kind(USUAL_MODEL)
MODELS_TOLD = " ".join(f"{name}: {kind.about.gives}." for name, kind in MODELS.items())
Model = Annotated[Kind, typer.Option(help=MODELS_TOLD)]
OPTIONS = {
    "covariance_type": "--covariance",
    "n_factors": "--factors",
    "kinds": "--kind",
    "gaps": "--gaps",
}
"""Of parameters that not all models have."""


def made(
    model: str,
    common: dict[str, Any],
    refine: bool | None,
    scale: Scale = Scale.none,
    **own: Any,
) -> Any:
    """An estimator with parameters that all have, and those of its ``own`` that are given."""
    kind = MODELS[model]
    known = signature(kind).parameters
    given: dict[str, Any] = {
        name: str(value) if isinstance(value, str) else value
        for name, value in own.items()
        if value
    }
    for name in given:
        if name not in known:
            others = [n for n, other in MODELS.items() if name in signature(other).parameters]
            raise ValueError(f"{OPTIONS[name]} belongs to --model {others[0]}. Leave it out.")
    if refine is not None:
        given["refine"] = kind.refinements[0] if refine else None
    if "scale" in known and scale is Scale.robust and refine is not False:
        # Columns of a table are in units of their own, and so is their noise.
        given = {"covariance_type": "auto"} | given
        if "spherical" in given["covariance_type"]:
            given["scale"] = "robust"
    return kind(**common, **given)


def options_of(own: dict[str, Any]) -> dict[str, str]:
    """By parameter, the options that were given and that not all models have."""
    return {name: OPTIONS[name] for name, value in own.items() if value}


def check_scales(model: str, log: Any, standardise: bool) -> None:
    """Refuse scales that the model does not go with."""
    if (log or standardise) and MODELS[model].about.counts:
        raise ValueError(
            "--log and --scale standard make fractions of counts. Leave them out with --model "
            f"{model}."
        )
