"""``halfseen fit``: a model from a table."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from halfseen import GammaPoisson, GaussianMixture
from halfseen.cli.choices import Covariance, Kind, Method, Moments, Weights
from halfseen.cli.cluster import Cluster, Workers, check_workers, client_of, far_table
from halfseen.cli.learned import tell
from halfseen.cli.options import (
    Columns,
    Data,
    Drop,
    Force,
    Json,
    Log,
    MissingValues,
    Standardise,
    check_writable,
    listed,
)
from halfseen.cli.prepared import prepared
from halfseen.cli.voice import Voice
from halfseen.doubt.concerns import concerns_of


def fit(
    data: Data,
    k: Annotated[
        str,
        typer.Option(
            "--k",
            "-k",
            metavar="NUMBER",
            help="How many groups, or topics; auto finds how many the data support.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where the model is written.")],
    model: Annotated[
        Kind,
        typer.Option(
            help="gaussian: groups of rows of measurements. gamma-poisson: topics, of counts."
        ),
    ] = Kind.gaussian,
    columns: Columns = None,
    drop: Drop = None,
    log: Log = None,
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
        Covariance,
        typer.Option(
            help="Noise of gaussian: the same in all groups, one each, or one a column (diag)."
        ),
    ] = Covariance.tied_spherical,
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
            help="Polish by likelihood: done for gaussian unless told not to, slow for "
            "gamma-poisson.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Makes random steps repeatable.")] = None,
    cluster: Cluster = None,
    workers: Workers = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    r"""Learn a model from a table with gaps, and write it to a file.

    What was done to the columns (--log, --standardise) is kept in the model, and undone in
    everything that is shown.

    \b
    For example:
      halfseen fit patients.csv -k 4 --standardise --out patients.halfseen
      halfseen fit patients.parquet -k 4 --log creatinine --drop id --out m.halfseen
      halfseen fit patients.csv -k auto --standardise --out patients.halfseen
      halfseen fit words.mtx --model gamma-poisson -k 20 --out words.halfseen
      halfseen fit folder-of-parquet -k 4 --workers 8 --out big.halfseen
    """
    check_writable(out, force)
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
    missing = listed(missing_values)
    names = listed(columns)
    estimator = MAKERS[model](common, covariance, refine)
    if check_workers(cluster, workers):
        _check_as_it_is(log, standardise, missing)
        far = far_table(data, names, listed(drop))
        voice.note(*far.notes)
        with client_of(cluster, workers), voice.listening():
            learned = estimator.fit(far.files)
        learned.verbose = 0
        learned.save(out, overwrite=force)
        tell(voice, learned, None, out, None, [])
        return
    ready = prepared(voice, data, model, names, listed(drop), listed(log), standardise, missing)
    with voice.listening():
        learned = estimator.fit(ready.given)
    learned.verbose = 0
    if ready.changed:
        learned.preprocessing_ = ready.preprocessing
    learned.save(out, overwrite=force)
    bic = learned.bic(ready.given) if hasattr(learned, "bic") else None
    concerns = concerns_of(learned._case(ready.given).in_words())
    tell(voice, learned, ready.table.n_rows, out, bic, concerns)
    voice.say(f"Next:  halfseen report {quote(str(out))} {quote(str(data))} --out report.html")


def number_of_components(k: str) -> int | str:
    """What ``-k`` says."""
    if k == "auto":
        return k
    if not k.isdecimal() or int(k) < 1:
        raise ValueError(f"-k must be a whole number of at least 1, or auto. Got {k!r} instead.")
    return int(k)


def _check_as_it_is(log: Any, standardise: bool, missing: Sequence[str]) -> None:
    """Workers take the columns as the files have them."""
    asked = {"--log": log, "--standardise": standardise, "--missing-values": missing}
    options = [option for option, given in asked.items() if given]
    if options:
        raise ValueError(
            f"{options[0]} looks through the whole table first, which --cluster and --workers "
            "never have in one place. Leave it out, and write the columns as they should be; "
            "--covariance diag needs no common scale."
        )


def _gaussian(common: dict[str, Any], covariance: Covariance, refine: bool | None) -> Any:
    polish = None if refine is False else "em"
    return GaussianMixture(**common, covariance_type=covariance.value, refine=polish)


def _gamma_poisson(common: dict[str, Any], covariance: Covariance, refine: bool | None) -> Any:
    if covariance is not Covariance.tied_spherical:
        raise ValueError("--covariance belongs to --model gaussian. Leave it out.")
    return GammaPoisson(**common, refine="saem" if refine else None)


MAKERS = {Kind.gaussian: _gaussian, Kind.gamma_poisson: _gamma_poisson}
