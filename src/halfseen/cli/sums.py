"""``halfseen sums``: sums of rows that may not leave their place."""

from dataclasses import replace
from inspect import signature
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from halfseen import Plan, Stream, summed
from halfseen.cli.choices import Covariance
from halfseen.cli.kinds import KindOf, as_declared, check_columns, said
from halfseen.cli.model_choice import chosen
from halfseen.cli.models import MODELS_TOLD, Kind
from halfseen.cli.options import (
    Columns,
    Data,
    Drop,
    Encoding,
    Force,
    Header,
    Json,
    MissingValues,
    Skip,
    Table,
    check_writable,
    listed,
)
from halfseen.cli.reading.asked_files import as_arguments, asked_files, written
from halfseen.cli.reading.command_table import open_table
from halfseen.cli.reading.known_names import check_known
from halfseen.cli.voice import Voice
from halfseen.io.coding import takes_kinds
from halfseen.io.files import Files
from halfseen.io.open_files import names_in
from halfseen.models import MODELS

IN_ROUNDS = "diag"
"""How groups vary if nobody says: by one number a column, each in its own unit."""


def sums(
    data: Data,
    plan: Annotated[
        Path | None, typer.Option(help="What all places agreed on: a JSON, see --draft.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where the sums are written.")] = None,
    at: Annotated[
        Path | None,
        typer.Option(
            help="What 'halfseen fit' made of the sums of the last round: a model, or, if it asked "
            "for more, sums."
        ),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(
            metavar="EPSILON",
            help="Add noise, so that whether any one row is there changes the chances of what is "
            "written by a factor of e to this number at most. The plan says to which norm rows are "
            "clipped; with --draft, it is written into the plan.",
        ),
    ] = None,
    leave_out: Annotated[
        bool,
        typer.Option(
            "--leave-out",
            help="Leave out rows that could be told, as few hold the same columns or the same "
            "category, in place of refusing.",
        ),
    ] = False,
    draft: Annotated[
        Path | None,
        typer.Option(help="Draft a plan from this table, and write it here, in place of sums."),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", "-k", min=1, help="How many groups: for --draft.")
    ] = None,
    model: Annotated[
        Kind | None, typer.Option(help=f"For --draft. {MODELS_TOLD} Else, as 'fit' would.")
    ] = None,
    covariance: Annotated[
        Covariance | None, typer.Option(help="For --draft: how columns vary within groups.")
    ] = None,
    least_rows: Annotated[
        int | None, typer.Option(min=0, help="For --draft: sums of fewer rows are refused.")
    ] = None,
    columns: Columns = None,
    drop: Drop = None,
    kind: KindOf = None,
    missing_values: MissingValues = "",
    encoding: Encoding = None,
    header: Header = None,
    skip: Skip = None,
    table: Table = None,
    force: Force = False,
    as_json: Json = False,
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
    files = asked_files(
        *(data, listed(missing_values)),
        encoding=encoding,
        header=header,
        skip=skip,
        table=table,
    )
    voice = Voice(as_json)
    own: dict[str, Any] = {
        "-k": k,
        "--model": model,
        "--covariance": covariance,
        "--least-rows": least_rows,
    }
    own |= {"--columns": columns, "--drop": drop, "--kind": kind}
    if draft is not None:
        _check_alone("--draft", {"--plan": plan, "--out": out, "--at": at})
        check_writable(draft, force, *written(files))
        options = _Draft(k, model, covariance, least_rows, noise)
        _write_draft(voice, files, draft, options, listed(columns), listed(drop), said(kind), force)
        return
    if plan is None or out is None:
        raise ValueError(
            "Sums need --plan, what all places agreed on, and --out, where they are written. "
            "--draft plan.json -k 3 drafts a plan from this table."
        )
    _check_alone("--plan", own, "The plan says that already.")
    check_writable(out, force, plan, *written(files), *([at] if at else []))
    agreed = Plan.load(plan)
    with voice.listening():
        found = summed(files, agreed, at=at, leave_out=leave_out, epsilon=noise)
    found.save(out, overwrite=force)
    _tell(voice, found, out, as_arguments(files))


class _Draft:
    """What is asked of a plan."""

    def __init__(self, k: Any, model: Any, covariance: Any, least_rows: Any, noise: Any):
        self.k, self.model, self.covariance = k, model, covariance
        self.least_rows, self.noise = least_rows, noise


def _write_draft(
    voice: Voice,
    files: Files,
    draft: Path,
    asked: _Draft,
    columns: list[str],
    drop: list[str],
    kinds: dict[str, str],
    force: bool,
) -> None:
    if asked.k is None:
        raise ValueError("A plan says how many groups there are: give -k, such as -k 3.")
    check_columns(kinds, files)
    known = names_in(files)
    for option, names in (("--columns", columns), ("--drop", drop)):
        check_known(names, known, files.name, option)
    with voice.listening():
        sentence, name = "", asked.model
        if name is None:
            whole = open_table(files, columns, drop, kinds=as_declared(kinds))
            name, sentence = chosen(whole, {"kinds": "--kind"} if kinds else {})
        estimator = _made(str(name), asked, kinds)
        files = replace(files, columns=columns or None, drop=tuple(drop))
        least = {} if asked.least_rows is None else {"least_rows": asked.least_rows}
        agreed = Plan.of(files, estimator, **least)
    if asked.noise is not None:
        agreed = agreed.noised(asked.noise)
    agreed.save(draft, overwrite=force)
    if sentence:
        voice.say(sentence)
    voice.say(
        f"Plan: {draft}, of {len(agreed.columns)} columns. Read it before it is sent around: "
        "ranges, origins and scales were rounded from this table, and categories are those found "
        "in it."
    )
    here = quote(str(draft))
    voice.say(
        f"Next, in each place:  halfseen sums {as_arguments(files)} --plan {here} --out a.sums"
    )
    voice.finish(plan=str(draft), model=agreed.model, columns=list(agreed.names))


def _made(name: str, asked: _Draft, kinds: dict[str, str]) -> Any:
    kind = MODELS[name]
    own: dict[str, Any] = {"n_components": asked.k}
    if "covariance_type" in signature(kind).parameters:
        own["covariance_type"] = str(asked.covariance or IN_ROUNDS)
    elif asked.covariance:
        raise ValueError("--covariance belongs to --model gaussian. Leave it out.")
    if takes_kinds(kind) and kinds:
        own["kinds"] = kinds
    elif kinds:
        raise ValueError(f"--kind does not go with --model {name}. Leave it out.")
    return kind(**own)


def _check_alone(option: str, others: dict[str, Any], why: str = "Leave it out.") -> None:
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise ValueError(f"{given[0]} does not go with {option}. {why}")


def _tell(voice: Voice, found: Stream, out: Path, data: str) -> None:
    size, d = out.stat().st_size, len(found.names)
    what = f"{d} columns and {d * (d + 1) // 2:,} pairs of them"
    if found.sums.triples:
        what += f", and {d * (d + 1) * (d + 2) // 6:,} triples"
    plan = found.plan
    least = 0 if plan is None else plan.least_rows
    private = plan is not None and plan.noise is not None
    voice.say(
        f"Sums: {out}, {size:,} bytes: counts and sums of products over {found.n_rows:,.0f} rows, "
        f"of {what}. They hold no row; none is of fewer than {least} rows."
    )
    if found.n_left_out:
        rows = "1 row was" if found.n_left_out == 1 else f"{found.n_left_out:,} rows were"
        voice.note(f"{rows} left out, as fewer than {least} hold the same columns or category.")
    if found.rounds:
        at = "at the model" if found.model is not None else f"of round {len(found.rounds) + 1}"
        voice.say(f"With them are the sums {at}.")
    if not private:
        voice.say("They are exact: whoever has sums with and without a row can tell that row.")
    voice.say("Next, with those of all places:  halfseen fit *.sums --out model.halfseen")
    voice.finish(
        sums=str(out),
        n_rows=float(found.n_rows),
        columns=list(found.names),
        bytes=size,
        round=len(found.rounds) + 1,
        least_rows=least,
        private=private,
        n_left_out=found.n_left_out,
    )
