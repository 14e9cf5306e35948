"""Commands run in this process, and what holds of every one, whatever it is given."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, get_args

import typer
from click.exceptions import ClickException, Exit
from typer.testing import CliRunner

from benchmarks.attack.defect import Defect, check
from benchmarks.attack.ours import is_ours, where
from halfseen.cli.app import app
from halfseen.cli.options import expand_groups
from halfseen.io.coding import declarable_kinds

CODES = (0, 1, 2)
ESCAPE, BELL, NUL = "\x1b", "\x07", "\x00"
OFTEN, SELDOM = {"--model": 0.8}, 0.04
"""How often an option is given."""
ANSWERED = (Exit, SystemExit, ClickException, typer.Exit)
"""What ends a command after it said why."""


def run(*words: object) -> Any:
    """Run a command and hold it to the laws; its result."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    command = words[0]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        law = f"{type(result.exception).__name__} escapes from {command}"
        raise Defect(law, where(result.exception))
    check(result.exit_code in CODES, f"{command} ends with another code", result.exit_code)
    told = result.stdout + result.stderr
    check("Traceback" not in told, f"{command} shows a traceback", told[-300:])
    raw = [sign for sign in (ESCAPE, BELL, NUL) if sign in told]
    check(not raw, f"{command} shows control codes raw", raw)
    if result.exit_code:
        check(len(result.stderr) > 20, f"{command} does not say why it ends", result.stderr)
        cause = reason(result.exception)
        if cause is not None and not is_ours(cause):
            raise Defect(f"{command} tells of {type(cause).__name__}, not ours", where(cause))
    return result


def reason(error: BaseException | None) -> BaseException | None:
    """The error that a command ended for, if that was not a wrong call."""
    while isinstance(error, ANSWERED):
        if isinstance(error, ClickException):
            return None
        error = error.__context__
    return None if isinstance(error, OSError | MemoryError) else error


def fit(rng: Any, data: Path, out: Path, names: Sequence[str] = ()) -> Any:
    """Learn from a file, by any model and options; there is a model in the end, or a reason.

    ``names`` are columns that the file may have.
    """
    number = ["1", "2", "2", "3"][rng.integers(4)]
    more = ["--json"] if rng.random() < 0.2 else []
    for option, every in choices("fit").items():
        if rng.random() < OFTEN.get(option, SELDOM):
            more += [option, every[rng.integers(len(every))]]
    for name in names:
        if rng.random() < 0.1:
            more += ["--kind", f"{name}={rng.choice(declarable_kinds())}"]
    result = run("fit", data, "-k", number, "--seed", 0, "--out", out, *more)
    check(out.exists() == (result.exit_code == 0), "fit and its model disagree", result.stderr)
    return result


@cache
def choices(command: str) -> dict[str, tuple[str, ...]]:
    """Options of a command that are one of several words.

    >>> choices("fit")["--gaps"]
    ('ignorable', 'informative')
    """
    function = expand_groups(getattr(import_module(f"halfseen.cli.{command}"), command))
    found = {}
    for name, parameter in signature(function).parameters.items():
        hint, *_ = get_args(parameter.annotation)  # Annotated
        for kind in (hint, *get_args(hint)):
            if isinstance(kind, type) and issubclass(kind, StrEnum):
                found[f"--{name.replace('_', '-')}"] = tuple(map(str, kind))
    return found
