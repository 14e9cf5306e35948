"""The commands, each in a module of its own name that is loaded when it is called."""

import errno
import os
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from inspect import cleandoc
from io import TextIOWrapper
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import halfseen
from halfseen.data.errors import DataError
from halfseen.data.messages import message_of

COMMANDS = {
    "demo": "Fit the bundled sample, say what was learned, and write the report.",
    "describe": "Say what is missing in a table, in what pattern, and what follows.",
    "fit": "Learn a model from a table with gaps.",
    "sums": "Sum rows that may not leave their place, for a model learned elsewhere.",
    "impute": "Fill the gaps of a table.",
    "predict": "Say to which group each row belongs, or how much of each topic it holds.",
    "weigh": "Compare ways of weighting columns on a table of your own.",
    "report": "Write a page that explains a model.",
    "doctor": "Say which versions, threads and readers of files there are.",
    "reproduce": "Run the figures of the paper again, from a clone, with a verdict on each claim.",
    "bench": "Measure it beside other libraries, from a clone of the project.",
}
"""What each command does. The function has the name of its module."""
FROM_CLONE = {"bench": "benchmarks.bench.command", "reproduce": "benchmarks.reproduce.command"}
"""Modules of the commands that run from a clone: what measures halfseen is not in the wheel."""

NO_RESULT, WRONG_CALL = 1, 2
REMEDIES = {
    errno.ENOSPC: " Make room, or write to another disk. Nothing was written.",
    errno.EDQUOT: " Make room, or write to another disk. Nothing was written.",
    errno.EROFS: " Write to another folder.",
    errno.EACCES: " Ask for the right to, or use another folder.",
}


class Commands(TyperGroup):
    """A group of commands that are loaded when they are called.

    ``halfseen --help`` and the completion of names need no NumPy.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The help entry of a command."""
        words = COMMANDS.get(cmd_name)
        return None if words is None else TyperCommand(cmd_name, short_help=words)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command itself."""
        name, stub, rest = super().resolve_command(ctx, args)
        return name, None if stub is None else _loaded(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and report errors as sentences."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # never fail for a sign that it cannot write
                stream.reconfigure(errors="backslashreplace")
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of lines of ours
        try:
            return super().invoke(ctx)
        except DataError as error:
            _stop(error, NO_RESULT)
        except BrokenPipeError:
            raise  # whoever read has enough; typer ends quietly
        except MemoryError as error:
            _stop(f"There is not enough memory: {error}. Give fewer rows or columns.", NO_RESULT)
        except ArithmeticError as error:
            _stop(f"The numbers cannot be computed with: {error}.", NO_RESULT)
        except ModuleNotFoundError as error:
            _stop(error, WRONG_CALL)
        except ImportError as error:  # a library that is there, and for which there is no room
            remedy = "Make room in memory, or install it again."
            _stop(f"A library could not be loaded: {error}. {remedy}", NO_RESULT)
        except (ValueError, OSError) as error:
            _stop(error, NO_RESULT if type(error).__name__ == "LinAlgError" else WRONG_CALL)


def _loaded(name: str) -> Any:
    from halfseen.cli.options import expand_groups  # which needs the models, and NumPy

    one = typer.Typer(add_completion=False, rich_markup_mode=None)
    module = clone_module(name) if name in FROM_CLONE else import_module(f"halfseen.cli.{name}")
    command = expand_groups(getattr(module, name))
    # Docstrings are raw, and a line of \\b before what is not to be wrapped is two signs there.
    one.command(name, help=cleandoc(command.__doc__ or "").replace("\\b\n", "\b\n"))(command)
    return typer.main.get_command(one)


def clone_module(name: str) -> ModuleType:
    """The module of a command in a clone, or a sentence that says how to get one.

    Others have packages called ``benchmarks`` too. Only that beside our own sources is imported.
    """
    module = FROM_CLONE[name]
    files = ("src/halfseen/__init__.py", f"{module.replace('.', '/')}.py")
    for folder in (Path.cwd(), Path(halfseen.__file__).parents[2]):
        if all((folder / file).is_file() for file in files):
            sys.path.insert(0, str(folder))
            loaded = import_module(module)
            if Path(str(loaded.__file__)).is_relative_to(folder):
                return loaded
    raise ValueError(
        f"What 'halfseen {name}' measures is not part of what pip installs. Get the sources of "
        f"halfseen {halfseen.__version__}, and call it in their folder, which holds 'benchmarks'."
    )


def _stop(why: object, code: int) -> None:
    from halfseen.cli.console import printable
    from halfseen.cli.messages import in_options

    sentence = " ".join(in_options(_sentence(why)).splitlines())
    with suppress(OSError):  # the disk that is full may be the one that errors are told to
        print(printable(f"Error: {sentence}", sys.stderr), file=sys.stderr)
    raise typer.Exit(code)


def _sentence(why: object) -> str:
    if isinstance(why, OSError) and why.strerror:
        name = "" if why.filename is None else f"{os.fsdecode(why.filename)}: "
        return f"{name}{why.strerror}.{REMEDIES.get(why.errno or 0, '')}"
    return message_of(why) if isinstance(why, Exception) else str(why)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        print(f"halfseen {version('halfseen')}")
        raise typer.Exit()


@app.callback()
def _commands(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say which this is."),
    ] = False,
) -> None:
    """Learn latent-variable models from tables with gaps.

    Start with: halfseen describe table.csv
    """
