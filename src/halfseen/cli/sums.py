"""``halfseen sums``: sum rows that may not leave their place, for a fit elsewhere."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from halfseen import Plan, Stream, summed
from halfseen.cli.console import Console
from halfseen.cli.fit_summary import print_fit
from halfseen.cli.input_files import as_arguments, check_columns, files_of, local_paths
from halfseen.cli.model_choice import choose_model, declared_as
from halfseen.cli.options import (
    MODEL_SUMMARIES,
    ColumnOptions,
    Covariance,
    Data,
    Model,
    OutputOptions,
    TableOptions,
    Without,
)
from halfseen.cli.output_files import check_writable
from halfseen.cli.training_table import open_table
from halfseen.data.engines.precomputed import MoreSumsNeeded
from halfseen.io.coding import takes_kinds
from halfseen.io.files import Files
from halfseen.models import MODELS
from halfseen.models.summed import made
from halfseen.persistence.container import word_of

USUAL_COVARIANCE = "diag"
"""How groups vary if nobody says: by one number a column, each in its own unit."""
N_START = 256  # bytes at the beginning of a file, by which files of sums are known


@dataclass(frozen=True, kw_only=True)
class SumOptions:
    """Options of sums."""

    plan: Annotated[
        Path | None, typer.Option(help="What all places agreed on: a JSON, see --draft.")
    ] = None
    out: Annotated[Path | None, typer.Option(help="Where the sums are written.")] = None
    at: Annotated[
        Path | None,
        typer.Option(
            help="What 'halfseen fit' made of the sums of the last round: a model, or, if it asked "
            "for more, sums."
        ),
    ] = None
    noise: Annotated[
        float | None,
        typer.Option(
            metavar="EPSILON",
            help="Add noise, so that whether any one row is there changes the chances of what is "
            "written by a factor of e to this number at most. The plan says to which norm rows are "
            "clipped; with --draft, it is written into the plan.",
        ),
    ] = None
    leave_out: Annotated[
        bool,
        typer.Option(
            "--leave-out",
            help="Leave out rows that could be told, as few hold the same columns or the same "
            "category, in place of refusing.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class DraftOptions:
    """Options of a plan."""

    draft: Annotated[
        Path | None,
        typer.Option(help="Draft a plan from this table, and write it here, in place of sums."),
    ] = None
    k: Annotated[
        int | None, typer.Option("--k", "-k", min=1, help="How many groups: for --draft.")
    ] = None
    model: Annotated[
        Model | None, typer.Option(help=f"For --draft. {MODEL_SUMMARIES} Else, as 'fit' would.")
    ] = None
    covariance: Annotated[
        Covariance | None, typer.Option(help="For --draft: how columns vary within groups.")
    ] = None
    least_rows: Annotated[
        int | None, typer.Option(min=0, help="For --draft: sums of fewer rows are refused.")
    ] = None


def sums(
    data: Data,
    *,
    summing: SumOptions,
    draft: DraftOptions,
    columns: Annotated[ColumnOptions, Without("log", "scale", "standardise")],
    table: Annotated[
        TableOptions,
        Without(
            *("absent_as_zero", "dates", "decimal", "rename", "unit", "on", "vocabulary"),
            *("text", "stop_words", "min_rows"),
        ),
    ],
    output: Annotated[OutputOptions, Without("for_spreadsheets")],
) -> None:
    r"""Sum the rows of a table by a plan, for a model that is learned elsewhere from sums alone.

    Each place sums its own rows; 'halfseen fit' learns from the sums of all. By moments one file a
    place is enough; the likelihood is climbed by rounds, each a file at the model of the last. Sums
    of fewer rows than the plan says are refused.

    \b
    For example:
      halfseen sums north.csv --draft plan.json -k 3
      halfseen sums north.csv --plan plan.json --out north.sums
      halfseen fit north.sums south.sums --out model.halfseen
      halfseen sums north.csv --plan plan.json --at model.halfseen --out north-2.sums
    """
    files = files_of(data, table)
    console = Console(output.as_json)
    if draft.draft is not None:
        others = {"--plan": summing.plan, "--out": summing.out, "--at": summing.at}
        _refuse(others, "does not go with --draft. Leave it out.")
        check_writable(draft.draft, output.force, *local_paths(files))
        agreed, sentence = _drafted_plan(console, files, draft, columns)
        if summing.noise is not None:
            agreed = agreed.noised(summing.noise)
        agreed.save(draft.draft, overwrite=output.force)
        _print_plan(console, agreed, sentence, draft.draft, as_arguments(files))
        return
    plan, out = summing.plan, summing.out
    if plan is None or out is None:
        raise ValueError(
            "Sums need --plan, what all places agreed on, and --out, where they are written. "
            "--draft plan.json -k 3 drafts a plan from this table."
        )
    said_by_plan = {
        "-k": draft.k,
        "--model": draft.model,
        "--covariance": draft.covariance,
        "--least-rows": draft.least_rows,
        "--columns": columns.columns,
        "--drop": columns.drop,
        "--kind": columns.kind,
    }
    _refuse(said_by_plan, "does not go with --plan. The plan says that already.")
    inputs = [plan, *local_paths(files), *([summing.at] if summing.at else [])]
    check_writable(out, output.force, *inputs)
    agreed = Plan.load(plan)
    with console.warnings_as_cautions():
        how: dict[str, Any] = {"leave_out": summing.leave_out, "epsilon": summing.noise}
        found = summed(files, agreed, at=summing.at, **how)
    found.save(out, overwrite=output.force)
    _print_sums(console, found, out, as_arguments(files))


def _drafted_plan(
    console: Console, files: Files, draft: DraftOptions, columns: ColumnOptions
) -> tuple[Plan, str]:
    if draft.k is None:
        raise ValueError("A plan says how many groups there are: give -k, such as -k 3.")
    kinds = columns.kinds
    check_columns(files, kind=list(kinds), columns=columns.used, drop=columns.dropped)
    with console.warnings_as_cautions():
        sentence, name = "", draft.model and str(draft.model)
        if name is None:
            whole = open_table(files, columns.used, columns.dropped, kinds=declared_as(kinds))
            name, sentence = choose_model(whole, {"kinds": kinds})
        estimator = _estimator(name, draft, kinds)
        files = replace(files, columns=columns.used or None, drop=tuple(columns.dropped))
        least: dict[str, Any] = {} if draft.least_rows is None else {"least_rows": draft.least_rows}
        return Plan.of(files, estimator, **least), sentence


def _estimator(name: str, draft: DraftOptions, kinds: dict[str, str]) -> Any:
    kind = MODELS[name]
    own: dict[str, Any] = {"n_components": draft.k}
    if "covariance_type" in signature(kind).parameters:
        own["covariance_type"] = str(draft.covariance or USUAL_COVARIANCE)
    elif draft.covariance:
        raise ValueError("--covariance belongs to --model gaussian. Leave it out.")
    if takes_kinds(kind) and kinds:
        own["kinds"] = kinds
    elif kinds:
        raise ValueError(f"--kind does not go with --model {name}. Leave it out.")
    return kind(**own)


def _refuse(options: Mapping[str, Any], why: str) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ValueError(f"{given[0]} {why}")


def _print_plan(console: Console, plan: Plan, sentence: str, path: Path, data: str) -> None:
    if sentence:
        console.say(sentence)
    console.say(
        f"Plan: {path}, of {len(plan.columns)} columns. Read it before it is sent around: "
        "ranges, origins and scales were rounded from this table, and categories are those found "
        "in it."
    )
    here = quote(str(path))
    console.say(f"Next, in each place:  halfseen sums {data} --plan {here} --out a.sums")
    console.finish(plan=str(path), model=plan.model, columns=list(plan.names))


def _print_sums(console: Console, found: Stream, out: Path, data: str) -> None:
    size, d = out.stat().st_size, len(found.names)
    what = f"{d} columns and {d * (d + 1) // 2:,} pairs of them"
    if found.sums.triples:
        what += f", and {d * (d + 1) * (d + 2) // 6:,} triples"
    plan = found.plan
    least = 0 if plan is None else plan.least_rows
    private = plan is not None and plan.noise is not None
    console.say(
        f"Sums: {out}, {size:,} bytes: counts and sums of products over {found.n_rows:,.0f} rows, "
        f"of {what}. They hold no row; none is of fewer than {least} rows."
    )
    if found.n_left_out:
        rows = "1 row was" if found.n_left_out == 1 else f"{found.n_left_out:,} rows were"
        console.note(f"{rows} left out, as fewer than {least} hold the same columns or category.")
    if found.rounds:
        at = "at the model" if found.model is not None else f"of round {len(found.rounds) + 1}"
        console.say(f"With them are the sums {at}.")
    if not private:
        console.say("They are exact: whoever has sums with and without a row can tell that row.")
    console.say("Next, with those of all places:  halfseen fit *.sums --out model.halfseen")
    console.finish(
        sums=str(out),
        n_rows=float(found.n_rows),
        columns=list(found.names),
        bytes=size,
        round=len(found.rounds) + 1,
        least_rows=least,
        private=private,
        n_left_out=found.n_left_out,
    )


def are_sums(data: list[str]) -> bool:
    """Whether files hold sums, by their first bytes."""
    return any(_is_sums(Path(name)) for name in data)


def _is_sums(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return path.suffix == ".sums" or word_of(file.read(N_START)) == "sums"


def fit_sums(data: list[str], out: Path, options: Mapping[str, Any], output: OutputOptions) -> None:
    """Learn from the sums of all places; write the model, or the sums that it asks more after.

    ``options`` are those of the fit that the plan has said already, by their names.
    """
    _refuse(options, "does not go with sums: their plan says it. Leave it out.")
    paths = [Path(name) for name in data]
    check_writable(out, output.force, *paths)
    console = Console(output.as_json)
    with console.warnings_as_cautions():
        first, *others = (Stream.load(path) for path in paths)
        found = sum(others, first)
        if found.plan is None:
            raise ValueError(
                "These sums are of a stream without a plan. Use partial_fit() in Python for them."
            )
        estimator = made(found.plan)
        learned = None
        with suppress(MoreSumsNeeded):
            learned = estimator.fit(found)
    if learned is None:
        found.save(out, overwrite=output.force)
        _print_incomplete(console, found, out)
        return
    learned.save(out, overwrite=output.force)
    print_fit(console, learned, round(found.n_rows), out)
    if learned.lower_bound_ is not None:
        console.say(
            f"Before this step the log-likelihood was {learned.lower_bound_:.6f} a row; this was "
            f"round {learned.n_iter_} at a model."
        )
    if estimator.about.labels:
        here = quote(str(out))
        console.say(f"Another step:  halfseen sums DATA --plan plan.json --at {here} --out a.sums")


def _print_incomplete(console: Console, found: Stream, out: Path) -> None:
    n = len(found.rounds) + 1
    rounds = "1 round" if n == 1 else f"{n} rounds"
    console.say(
        f"No model yet: it begins by more sums than the {rounds} so far. {out} holds those of all "
        "places; send it to them."
    )
    here = quote(str(out))
    console.say(
        f"Next, in each place:  halfseen sums DATA --plan plan.json --at {here} --out a.sums"
    )
    console.finish(sums=str(out), model=None, rounds=n, n_rows=float(found.n_rows))
