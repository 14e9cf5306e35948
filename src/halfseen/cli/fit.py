"""``halfseen fit``: a model from a table."""

from contextlib import nullcontext
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from halfseen.cli import choices as scales
from halfseen.cli.choices import Covariance, Method, Moments, Weights
from halfseen.cli.cluster import Cluster, Workers, check_workers, client_of
from halfseen.cli.learned import tell
from halfseen.cli.models import USUAL, Model, check_scales, made
from halfseen.cli.options import (
    Columns,
    Data,
    Drop,
    Force,
    Json,
    Log,
    MissingValues,
    Number,
    Scale,
    Standardise,
    check_writable,
    listed,
)
from halfseen.cli.reading.command_table import open_table
from halfseen.cli.reading.prepared import prepared
from halfseen.cli.voice import Voice
from halfseen.doubt.concerns import concerns_of


def fit(
    data: Data,
    out: Annotated[Path, typer.Option(help="Where the model is written.")],
    k: Number = "auto",
    model: Model = USUAL,
    columns: Columns = None,
    drop: Drop = None,
    log: Log = None,
    scale: Scale = scales.Scale.robust,
    standardise: Standardise = False,
    missing_values: MissingValues = "",
    method: Annotated[
        Method,
        typer.Option(
            help="Weight columns by how well they are known, take all as equal (full), or use "
            "complete ones only (partial)."
        ),
    ] = Method.weighted,
    complete_above: Annotated[
        float, typer.Option(help="A column known for at least this fraction counts as complete.")
    ] = 0.95,
    covariance: Annotated[
        Covariance | None,
        typer.Option(
            help="Noise of groups: one number for all columns, the same in all groups "
            "(tied_spherical) or one each (spherical); or one number a column, the same in all "
            "groups (tied_diag, as a rule) or one each (diag)."
        ),
    ] = None,
    weights: Annotated[
        Weights,
        typer.Option(
            help="How columns are weighted: by the model's own rule (auto), by how often they are "
            "known (observed), by the square root of that (sqrt), by how much they tell (signal), "
            "or not (none). 'halfseen weigh' compares them."
        ),
    ] = Weights.auto,
    moments: Annotated[
        Moments,
        typer.Option(
            help="Averages over the rows that hold what they need (available), or also using what "
            "complete columns predict in the others (adjusted)."
        ),
    ] = Moments.available,
    refine: Annotated[
        bool | None,
        typer.Option(
            "--refine/--no-refine",
            help="Polish by likelihood: done for groups unless told not to, slow for topics.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Makes random steps repeatable.")] = None,
    cluster: Cluster = None,
    workers: Workers = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    r"""Learn a model from a table with gaps, and write it to a file.

    What was done to the columns (--log, --scale standard) is kept in the model, and undone in
    everything that is shown.

    \b
    For example:
      halfseen fit patients.csv --out patients.halfseen
      halfseen fit patients.csv -k 4 --covariance diag --out patients.halfseen
      halfseen fit patients.parquet -k 4 --log creatinine --drop ward --out m.halfseen
      halfseen fit words.mtx --model gamma-poisson -k 20 --out words.halfseen
      halfseen fit folder-of-parquet -k 4 --workers 8 --out big.halfseen
    """
    check_writable(out, force, data)
    voice = Voice(as_json)
    common = {
        "n_components": number_of_components(k),
        "method": method.value,
        "feature_weights": weights.value,
        "moments": moments.value,
        "complete_above": complete_above,
        "random_state": seed,
        "verbose": int(voice.shows_progress),
    }
    scale = scales.Scale.standard if standardise else scale
    standardise = scale is scales.Scale.standard
    estimator = made(model, common, refine, scale, covariance_type=covariance)
    check_scales(model, listed(log), standardise)
    far = check_workers(cluster, workers)
    table = open_table(data, listed(columns), listed(drop), listed(missing_values), workers=far)
    with client_of(cluster, workers) if far else nullcontext(), voice.listening():
        ready = prepared(voice, table, listed(log), standardise)
        X = ready.files if far else ready.given
        with ready.reckoning():
            learned = estimator.fit(X)
    learned.verbose = 0
    if ready.changed:
        learned.preprocessing_ = ready.preprocessing
    # A table that only workers read is not gone over again from here.
    with voice.listening(), ready.reckoning():
        bic = learned.bic(X) if hasattr(learned, "bic") and not far else None
        concerns = [] if far else concerns_of(learned.case(X).in_words())
    learned.save(out, overwrite=force)  # when all that can fail is done
    tell(voice, learned, ready.n_rows, out, bic, concerns)
    if far:
        return
    voice.say(f"Next:  halfseen report {quote(str(out))} {quote(str(data))} --out report.html")


def number_of_components(k: str) -> int | str:
    """What ``-k`` says."""
    if k == "auto":
        return k
    if not k.isdecimal() or int(k) < 1:
        raise ValueError(f"-k must be a whole number of at least 1, or auto. Got {k!r} instead.")
    return int(k)
