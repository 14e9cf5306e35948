"""``halfseen fit``: a model from a table."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import numpy as np
import typer

from halfseen import GammaPoisson, GaussianMixture
from halfseen.cli.choices import Covariance, Kind, Method
from halfseen.cli.cluster import Cluster, Workers, check_workers, client_of, far_table
from halfseen.cli.fitted import with_names
from halfseen.cli.learned import tell
from halfseen.cli.options import (
    Columns,
    Data,
    Drop,
    Force,
    Json,
    MissingValues,
    check_writable,
    listed,
)
from halfseen.cli.table import Table, check_known, chosen, read_table
from halfseen.cli.voice import Voice
from halfseen.estimators.preprocessing import Preprocessing


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
    log: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Put these columns on a log scale; '*' for all."),
    ] = None,
    standardise: Annotated[
        bool,
        typer.Option(
            "--standardise",
            "--standardize",
            help="Divide each column by its spread. For columns in different units.",
        ),
    ] = False,
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
        "n_components": _number_of_components(k),
        "method": method.value,
        "complete_above": complete_above,
        "random_state": seed,
        "verbose": int(voice.shows_progress),
    }
    missing = listed(missing_values)
    names = listed(columns)
    estimator = _MAKERS[model](common, covariance, refine)
    if check_workers(cluster, workers):
        _check_as_it_is(log, standardise, missing)
        far = far_table(data, names, listed(drop))
        voice.note(*far.notes)
        with client_of(cluster, workers), voice.listening():
            learned = estimator.fit(far.files)
        learned.verbose = 0
        learned.save(out, overwrite=force)
        tell(voice, learned, None, out, None)
        return
    table = chosen(read_table(data, missing, wanted=names), names, listed(drop))
    voice.note(_about(table), *table.notes)
    if model is Kind.gaussian:
        table = replace(table, values=table.dense())
    preprocessing = _preprocessing(table, listed(log), standardise, missing, model)
    given = _given(table, preprocessing)
    with voice.listening():
        learned = estimator.fit(given)
    learned.verbose = 0
    if preprocessing is not None and (preprocessing.changes or preprocessing.missing_values):
        learned.preprocessing_ = preprocessing
    learned.save(out, overwrite=force)
    bic = learned.bic(given) if hasattr(learned, "bic") else None
    tell(voice, learned, table.n_rows, out, bic)
    voice.say(f"Next:  halfseen report {quote(str(out))} {quote(str(data))} --out report.html")


def _number_of_components(k: str) -> int | str:
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


def _about(table: Table) -> str:
    n_rows, n_columns = table.values.shape
    if table.sparse:
        return (
            f"{table.file}: {n_rows:,} rows and {n_columns:,} columns, {table.values.nnz:,} counts."
        )
    gaps = float(np.isnan(table.values).mean())
    return (
        f"{table.file}: {n_rows:,} rows, and {n_columns} columns of numbers in which "
        f"{gaps:.0%} of the cells are empty."
    )


def _preprocessing(
    table: Table, log: Sequence[str], standardise: bool, missing: Sequence[str], model: Kind
) -> Preprocessing | None:
    if (log or standardise) and model is Kind.gamma_poisson:
        raise ValueError(
            "--log and --standardise make fractions of counts. Leave them out with --model "
            "gamma-poisson."
        )
    if table.sparse:
        return None
    logged = list(table.names) if list(log) == ["*"] else log
    check_known(logged, table.names, table.file, "--log")
    return Preprocessing.learn(
        table.names, table.values, log=logged, standardise=standardise, missing_values=missing
    )


def _given(table: Table, preprocessing: Preprocessing | None) -> Any:
    if preprocessing is None:
        return table.values
    if not table.named and not preprocessing.changes and not preprocessing.missing_values:
        return table.values
    return with_names(preprocessing.fitted_names, preprocessing.apply(table.values))


def _gaussian(common: dict[str, Any], covariance: Covariance, refine: bool | None) -> Any:
    polish = None if refine is False else "em"
    return GaussianMixture(**common, covariance_type=covariance.value, refine=polish)


def _gamma_poisson(common: dict[str, Any], covariance: Covariance, refine: bool | None) -> Any:
    if covariance is not Covariance.tied_spherical:
        raise ValueError("--covariance belongs to --model gaussian. Leave it out.")
    return GammaPoisson(**common, refine="saem" if refine else None)


_MAKERS = {Kind.gaussian: _gaussian, Kind.gamma_poisson: _gamma_poisson}
