"""``halfseen fit``: learn a model from a table."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from halfseen import choose_components
from halfseen.cli.cluster import check_workers, dask_client
from halfseen.cli.console import Console
from halfseen.cli.fit_summary import print_fit
from halfseen.cli.input_files import as_arguments, check_columns, files_of, local_paths
from halfseen.cli.model_choice import (
    ModelChoice,
    check_scales,
    choose_model,
    declared_as,
    few_values_hint,
    make_estimator,
    model_of_sequences,
)
from halfseen.cli.model_input import prepare
from halfseen.cli.new_table import read_labels
from halfseen.cli.options import (
    MODEL_SUMMARIES,
    ColumnOptions,
    Covariance,
    Data,
    Gaps,
    Method,
    Model,
    Moments,
    Number,
    OutputOptions,
    RowOptions,
    Scale,
    TableOptions,
    Weights,
    Without,
    parse_names,
    parse_number,
)
from halfseen.cli.output_files import check_writable, named_after
from halfseen.cli.sums import are_sums, fit_sums
from halfseen.cli.training_table import TrainingTable, open_table
from halfseen.diagnostics.choice import Choice, ClusterTendency
from halfseen.diagnostics.concerns import concerns_of
from halfseen.diagnostics.concerns.fit import LEAST_ROWS
from halfseen.io.coding import takes_kinds
from halfseen.io.columns import as_coding
from halfseen.models import MODELS
from halfseen.report.main_line import main_line


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options for the model and its file."""

    out: Annotated[
        Path | None,
        typer.Option(help="Where the model is written; without it, here, named after the table."),
    ] = None
    k: Number = "auto"
    model: Annotated[
        Model | None,
        typer.Option(help=f"{MODEL_SUMMARIES} Without it, one that takes what the columns hold."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """Options for the method."""

    method: Annotated[
        Method,
        typer.Option(
            help="Weight columns by how well they are known, take all as equal (full), or use "
            "complete ones only (partial)."
        ),
    ] = Method.weighted
    complete_above: Annotated[
        float, typer.Option(help="A column known for at least this fraction counts as complete.")
    ] = 0.95
    covariance: Annotated[
        Covariance | None,
        typer.Option(
            help="How columns vary within groups: by themselves, by one number for all columns, "
            "the same in all groups (tied_spherical) or one each (spherical), or by one number a "
            "column, the same in all groups (tied_diag) or one each (diag); or along with each "
            "other, alike in all groups (tied), in each in its own way (full), or by a few factors "
            "(factor). Held-out rows choose among the last five if it is auto, as a rule."
        ),
    ] = None
    factors: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many factors --covariance factor has; without it, held-out rows choose.",
        ),
    ] = None
    gaps: Annotated[
        Gaps | None,
        typer.Option(
            help="Whether gaps in mixed columns say nothing beyond what is known (ignorable, as a "
            "rule), or tell of the class themselves (informative)."
        ),
    ] = None
    weights: Annotated[
        Weights,
        typer.Option(
            help="How columns are weighted: by the model's own rule (auto), by how often they are "
            "known (observed), by the square root of that (sqrt), by how much they tell (signal), "
            "or not (none). 'halfseen weigh' compares them."
        ),
    ] = Weights.auto
    moments: Annotated[
        Moments,
        typer.Option(
            help="Averages over the rows that hold what they need (available), or also using what "
            "complete columns predict in the others (adjusted)."
        ),
    ] = Moments.available
    refine: Annotated[
        bool | None,
        typer.Option(
            "--refine/--no-refine",
            help="Refine by likelihood: done for groups unless told not to, slow for topics.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ComputingOptions:
    """Options for workers and random seeds."""

    seed: Annotated[int | None, typer.Option(help="Makes random steps repeatable.")] = None
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Have the workers of a Dask scheduler read and sum the table; they must all see "
            "it. DATA may be a folder.",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="The same, with so many worker processes started on this machine.",
        ),
    ] = None


def fit(
    data: Data,
    *,
    wanted: FitOptions,
    columns: ColumnOptions,
    table: TableOptions,
    method: MethodOptions,
    rows: RowOptions,
    computing: ComputingOptions,
    output: Annotated[OutputOptions, Without("for_spreadsheets")],
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
    out = wanted.out or named_after(data[0], ".halfseen")
    if are_sums(data):
        said_by_plan = {
            "-k": None if wanted.k == "auto" else wanted.k,
            "--covariance": method.covariance,
            "--model": wanted.model,
            "--columns": columns.columns,
            "--drop": columns.drop,
            "--kind": columns.kind,
        }
        fit_sums(data, out, said_by_plan, output)
        return
    files = files_of(data, table, rows.adjust)
    check_writable(out, output.force, *local_paths(files))
    console = Console(output.as_json)
    own: dict[str, Any] = {
        "covariance_type": method.covariance,
        "n_factors": method.factors,
        "kinds": columns.kinds,
        "gaps": method.gaps,
    }
    if computing.seed is not None and computing.seed < 0:
        raise ValueError(
            f"--seed must be a whole number of at least 0. Got {computing.seed} instead."
        )
    common = {
        "n_components": parse_number(wanted.k),
        "method": method.method.value,
        "feature_weights": method.weights.value,
        "moments": method.moments.value,
        "complete_above": method.complete_above,
        "random_state": computing.seed,
        "verbose": int(console.shows_progress),
    }
    scale = Scale.standard if columns.standardised else columns.scale

    def estimator_of(name: str) -> Any:
        return make_estimator(name, common, method.refine, scale, **own)

    in_order = rows.in_order
    model = model_of_sequences(wanted.model, in_order)
    if model is not None:
        estimator_of(model)  # which refuses options of other models
        check_scales(model, columns.logged, columns.standardised)
    far = check_workers(computing.cluster, computing.workers)
    if rows.groups is not None and far:
        raise ValueError("--groups goes with tables that are read here. Leave out --workers.")
    keys = {name: [in_order[name]] for name in ("sequence", "order") if name in in_order}
    outcomes = parse_names(rows.outcome)
    check_columns(files, kind=list(columns.kinds), **keys, outcome=outcomes)
    by_row = None
    left_out = [*columns.dropped, *(name for [name] in keys.values()), *outcomes]
    if rows.groups is not None:
        by_row = read_labels(open_table(files).source, files.name, rows.groups)
        left_out.append(rows.groups)
    opened = partial(open_table, files, columns.used, left_out, workers=far)
    client = dask_client(computing.cluster, computing.workers) if far else nullcontext()
    with client, console.warnings_as_cautions():
        whole, choice = _table_and_model(opened, model, own)
        estimator = estimator_of(choice.model)
        ready = prepare(console, whole, columns.logged, columns.standardised)
        if choice.sentence:
            console.say(choice.sentence)
        X = ready.files if far else ready.table
        with ready.naming_columns():
            fitted = _fitted(estimator, X, by_row, in_order)
    if ready.columns:
        fitted.diagnostics_ = replace(fitted.diagnostics_, columns=as_coding(ready.columns))
    fitted.verbose = 0
    if ready.changed:
        fitted.preprocessing_ = ready.preprocessing
    # A table that only workers read is not gone over again from here.
    with console.warnings_as_cautions(), ready.naming_columns():
        bic = fitted.bic(X) if hasattr(fitted, "bic") and not far else None
        case = None if far else fitted.case(X, by_row).in_words()
        concerns = [] if case is None else concerns_of(case)
        line = None if case is None else main_line(case, LEAST_ROWS)
    fitted.save(out, overwrite=output.force)  # when all that can fail is done
    along = line.sentence if line is not None and line.exists else ""
    print_fit(console, fitted, ready.n_rows, out, bic, concerns, choice.sentence, along)
    if far:
        return
    again = [("--groups", rows.groups)] if rows.groups else []
    again += [("--outcome", name) for name in outcomes]
    read = "".join([as_arguments(files), *(f" {option} {quote(name)}" for option, name in again)])
    console.say(f"Next:  halfseen report {quote(str(out))} {read} --out report.html")


def _table_and_model(
    opened: Callable[..., TrainingTable], model: str | None, own: dict[str, Any]
) -> tuple[TrainingTable, ModelChoice]:
    kinds = declared_as(own["kinds"])
    if model is not None:
        return opened(kinds=kinds if takes_kinds(MODELS[model]) else None), ModelChoice(model, "")
    table = opened(kinds=kinds)
    choice = choose_model(table, own)
    if takes_kinds(MODELS[choice.model]):
        return table, choice
    numbers = opened()
    return numbers, ModelChoice(choice.model, f"{choice.sentence}{few_values_hint(numbers)}")


def _fitted(estimator: Any, X: Any, by_row: Any, in_order: dict[str, Any]) -> Any:
    """Fit the model; if the number of groups is undecided, use the best number above one."""
    choice: Choice | None = None
    if by_row is not None and estimator.n_components == "auto":
        choice = choose_components(X, estimator, groups=by_row, **in_order)
        estimator.set_params(n_components=choice.n_components)
    fitted = estimator.fit(X, **in_order)
    choice = choice or fitted.diagnostics_.choice
    if choice is None:
        return fitted
    if choice.case == ClusterTendency.UNDECIDED and choice.n_components == 1:
        choice = replace(choice, n_components=choice.runner_up or 2, runner_up=1)
    if choice.n_components != fitted.n_components_:
        fitted = estimator.set_params(n_components=choice.n_components).fit(X, **in_order)
    fitted.diagnostics_ = replace(fitted.diagnostics_, choice=choice)
    return fitted
