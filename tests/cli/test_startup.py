"""Help comes at once."""

import json
import subprocess
import sys
import time
from importlib import import_module
from inspect import signature

import pytest
from typer.testing import CliRunner

from halfseen.cli.app import COMMANDS, FROM_CLONE, app


def seconds(*arguments):
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
    return time.perf_counter() - start


def test_help_takes_at_most_two_and_a_half_times_as_long_as_importing_typer():
    pairs = [(seconds("-c", "import typer"), seconds("-m", "halfseen", "--help")) for _ in range(7)]
    typer, ours = (min(times) for times in zip(*pairs, strict=True))
    assert ours <= 2.5 * typer


def test_help_loads_no_numerical_library():
    code = (
        "import json, sys\n"
        "from halfseen.cli.app import app\n"
        "try:\n    app(['--help'])\n"
        "except SystemExit:\n    pass\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "sklearn", "pyarrow", "numba"} & set(json.loads(result.stderr))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_those_that_take_data_an_example(command):
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    takes_data = "DATA" in result.stdout
    assert not takes_data or f"halfseen {command}" in result.stdout.split("For example:")[1]
    assert command in CliRunner().invoke(app, ["--help"]).stdout


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in FROM_CLONE])
def test_no_command_has_more_than_eight_parameters(command):
    """Options come in groups, which the command line shows as single options."""
    function = getattr(import_module(f"halfseen.cli.{command}"), command)
    assert len(signature(function).parameters) <= 8


def test_an_unknown_command_is_a_wrong_call():
    result = CliRunner().invoke(app, ["guess"])
    assert result.exit_code == 2
    assert "guess" in result.stderr


@pytest.mark.parametrize(
    ("words", "expected"), [("halfseen ", "impute"), ("halfseen fit --sc", "--scale")]
)
def test_the_shell_completes_commands_and_options(words, expected):
    result = subprocess.run(
        [sys.executable, "-c", "from halfseen.cli.app import app; app(prog_name='halfseen')"],
        env={
            "_HALFSEEN_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        },
        capture_output=True,
        text=True,
    )
    assert expected in result.stdout


def test_ctrl_c_while_it_loads_ends_it_without_a_traceback():
    code = (
        "import sys, halfseen.cli.app\n"
        "def interrupted():\n    raise KeyboardInterrupt\n"
        "halfseen.cli.app.app = interrupted\n"
        "halfseen.cli.main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (130, "")
