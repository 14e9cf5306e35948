"""``halfseen fit``: a model from a table."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from halfseen import choose_components
from halfseen.cli import choices as scales
from halfseen.cli.choices import Adjust, Covariance, Gaps, Method, Moments, Weights
from halfseen.cli.cluster import Cluster, Workers, check_workers, client_of
from halfseen.cli.fit_sums import are_sums, check_planned, fit_sums
from halfseen.cli.kinds import KindOf, as_declared, check_columns, said
from halfseen.cli.learned import tell
from halfseen.cli.model_choice import Choice, chosen, codes_told
from halfseen.cli.models import MODELS_TOLD, Kind, check_scales, made, options_of
from halfseen.cli.options import (
    AbsentAsZero,
    Columns,
    Data,
    Dates,
    Decimal,
    Drop,
    Encoding,
    Force,
    Groups,
    Header,
    Json,
    Log,
    MinRows,
    MissingValues,
    Number,
    On,
    Order,
    Outcomes,
    Rename,
    Scale,
    Sequence_,
    Skip,
    Standardise,
    Step,
    StopWords,
    Table,
    TextColumn,
    Unit,
    Vocabulary,
    all_or_some,
    check_writable,
    listed,
    named_after,
)
from halfseen.cli.reading.asked_files import as_arguments, asked_files, written
from halfseen.cli.reading.command_table import Opened, open_table
from halfseen.cli.reading.kept_columns import labels
from halfseen.cli.reading.prepared import prepared
from halfseen.cli.sequences import following, keys_among, of_sequences, outcomes_among
from halfseen.cli.voice import Voice
from halfseen.diagnostics.choice import Choice as NumberChoice
from halfseen.diagnostics.choice import ClusterTendency
from halfseen.diagnostics.concerns import concerns_of
from halfseen.diagnostics.concerns.fit import LEAST_ROWS
from halfseen.io.coding import takes_kinds
from halfseen.io.columns import as_coding
from halfseen.io.text import Text
from halfseen.models import MODELS
from halfseen.report.main_line import main_line


def fit(
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(help="Where the model is written; without it, here, named after the table."),
    ] = None,
    k: Number = "auto",
    model: Annotated[
        Kind | None,
        typer.Option(help=f"{MODELS_TOLD} Without it, one that takes what the columns hold."),
    ] = None,
    columns: Columns = None,
    drop: Drop = None,
    kind: KindOf = None,
    log: Log = None,
    scale: Scale = scales.Scale.robust,
    standardise: Standardise = False,
    missing_values: MissingValues = "",
    absent_as_zero: AbsentAsZero = None,
    dates: Dates = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    header: Header = None,
    skip: Skip = None,
    table: Table = None,
    rename: Rename = None,
    unit: Unit = None,
    on: On = None,
    vocabulary: Vocabulary = None,
    text: TextColumn = None,
    stop_words: StopWords = scales.StopWords.english,
    min_rows: MinRows = 0,
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
            help="How columns vary within groups: by themselves, by one number for all columns, "
            "the same in all groups (tied_spherical) or one each (spherical), or by one number a "
            "column, the same in all groups (tied_diag) or one each (diag); or along with each "
            "other, alike in all groups (tied), in each in its own way (full), or by a few factors "
            "(factor). Held-out rows choose among the last five if it is auto, as a rule."
        ),
    ] = None,
    factors: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many factors --covariance factor has; without it, held-out rows choose.",
        ),
    ] = None,
    gaps: Annotated[
        Gaps | None,
        typer.Option(
            help="Whether gaps in mixed columns say nothing beyond what is known (ignorable, as a "
            "rule), or tell of the class themselves (informative)."
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
    adjust: Annotated[
        Adjust | None,
        typer.Option(
            help="Of several tables: move and stretch shared columns of numbers, so that each has "
            "the same mean and spread in all tables (location). The model keeps by how much."
        ),
    ] = None,
    groups: Groups = None,
    sequence: Sequence_ = None,
    order: Order = None,
    step: Step = None,
    outcome: Outcomes = None,
    seed: Annotated[int | None, typer.Option(help="Makes random steps repeatable.")] = None,
    cluster: Cluster = None,
    workers: Workers = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    r"""Learn a model from a table with gaps, and write it to a file.

    Tables of numbers become groups; where some columns hold categories, classes of rows of mixed
    columns. What was done to the columns (--log, --scale standard) is kept in the model, and undone
    in everything that is shown.

    \b
    For example:
      halfseen fit patients.csv
      halfseen fit patients.csv -k 4 --covariance diag --out patients.halfseen
      halfseen fit patients.parquet -k 4 --log creatinine --drop ward --out m.halfseen
      halfseen fit survey.csv -k 3 --kind 'tumour stage=ordinal' --out survey.halfseen
      halfseen fit visits.csv --sequence patient --order day --out visits.halfseen
      halfseen fit ap.mtx --vocabulary ap_terms.txt --model gamma-poisson -k 20 --out ap.halfseen
      halfseen fit reviews.csv --text review --out reviews.halfseen
      halfseen fit study.csv registry.parquet --rename hr=pulse --out both.halfseen
      halfseen fit folder-of-parquet -k 4 --workers 8 --out big.halfseen
      halfseen fit north.sums south.sums --out model.halfseen
    """
    out = out or named_after(data[0], ".halfseen")
    if are_sums(data):
        said_too = {"--model": model, "--columns": columns, "--drop": drop, "--kind": kind}
        check_planned({"-k": None if k == "auto" else k, "--covariance": covariance, **said_too})
        fit_sums(data, out, force, as_json)
        return
    files = asked_files(
        *(data, listed(missing_values)),
        rename=rename,
        unit=unit,
        on=on,
        adjust=None if adjust is None else adjust.value,
        absent_as_zero=all_or_some(absent_as_zero),
        dates=dates,
        decimal=decimal,
        encoding=encoding,
        header=header,
        skip=skip,
        table=table,
        vocabulary=vocabulary,
        text=None if text is None else Text(text, stop_words.value, min_rows),
    )
    check_writable(out, force, *written(files))
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
    kinds = said(kind)
    own = {"covariance_type": covariance, "n_factors": factors, "kinds": kinds, "gaps": gaps}
    follow = following(sequence, order, step)
    model = of_sequences(model, follow)
    if model is not None:
        made(model, common, refine, scale, **own)  # which refuses options of other models
        check_scales(model, listed(log), standardise)
    far = check_workers(cluster, workers)
    check_columns(kinds, files)
    if groups is not None and far:
        raise ValueError("--groups goes with tables that are read here. Leave out --workers.")
    by_row = None if groups is None else labels(open_table(files).source, files.name, groups)
    outcomes = listed(outcome)
    left_out = [
        *listed(drop),
        *([groups] if groups else []),
        *keys_among(follow, files),
        *outcomes_among(outcomes, files),
    ]
    opened = partial(
        open_table,
        *(files, listed(columns), left_out),
        workers=far,
    )
    with client_of(cluster, workers) if far else nullcontext(), voice.listening():
        whole, choice = _table(opened, model, own)
        estimator = made(choice.model, common, refine, scale, **own)
        ready = prepared(voice, whole, listed(log), standardise)
        if choice.sentence:
            voice.say(choice.sentence)
        X = ready.files if far else ready.given
        with ready.reckoning():
            found = None
            if by_row is not None and estimator.n_components == "auto":
                found = choose_components(X, estimator, groups=by_row, **follow)
                estimator.set_params(n_components=found.n_components)
            learned = estimator.fit(X, **follow)
            found = _of_undecided(found or learned.diagnostics_.choice)
            if found is not None and found.n_components != learned.n_components_:
                learned = estimator.set_params(n_components=found.n_components).fit(X, **follow)
    if found is not None:
        learned.diagnostics_ = replace(learned.diagnostics_, choice=found)
    if ready.columns:
        learned.diagnostics_ = replace(learned.diagnostics_, columns=as_coding(ready.columns))
    learned.verbose = 0
    if ready.changed:
        learned.preprocessing_ = ready.preprocessing
    # A table that only workers read is not gone over again from here.
    with voice.listening(), ready.reckoning():
        bic = learned.bic(X) if hasattr(learned, "bic") and not far else None
        case = None if far else learned.case(X, by_row).in_words()
        concerns = [] if case is None else concerns_of(case)
        line = None if case is None else main_line(case, LEAST_ROWS)
    learned.save(out, overwrite=force)  # when all that can fail is done
    along = line.sentence if line is not None and line.exists else ""
    tell(voice, learned, ready.n_rows, out, bic, concerns, choice.sentence, along)
    if far:
        return
    read = f"{as_arguments(files)}{_again(groups, outcomes)}"
    voice.say(f"Next:  halfseen report {quote(str(out))} {read} --out report.html")


def _of_undecided(found: NumberChoice | None) -> NumberChoice | None:
    """If it is undecided whether there are groups, the best number above one is shown."""
    if found is None or found.case != ClusterTendency.UNDECIDED or found.n_components > 1:
        return found
    return replace(found, n_components=found.runner_up or 2, runner_up=1)


def _again(groups: str | None, outcomes: list[str]) -> str:
    """The columns that the page is to be told of as well."""
    named = [("--groups", groups)] if groups else []
    named += [("--outcome", name) for name in outcomes]
    return "".join(f" {option} {quote(name)}" for option, name in named)


def _table(
    opened: Callable[..., Opened], model: str | None, own: dict[str, Any]
) -> tuple[Opened, Choice]:
    """The table as the model takes it that is asked for, or that suits it."""
    kinds = as_declared(own["kinds"])
    if model is not None:
        return opened(kinds=kinds if takes_kinds(MODELS[model]) else None), Choice(model, "")
    table = opened(kinds=kinds)
    choice = chosen(table, options_of(own))
    if takes_kinds(MODELS[choice.model]):
        return table, choice
    numbers = opened()
    return numbers, Choice(choice.model, f"{choice.sentence}{codes_told(numbers)}")


def number_of_components(k: str) -> int | str:
    """What ``-k`` says."""
    if k == "auto":
        return k
    if not k.isdecimal() or int(k) < 1:
        raise ValueError(f"-k must be a whole number of at least 1, or auto. Got {k!r} instead.")
    return int(k)
