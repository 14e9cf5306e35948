"""Run a benchmark with another version of the package, whose sources are in a folder."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def measured(module: str, arguments: Sequence[str], sources: Path | None = None) -> Any:
    """What ``python -m module --measure`` prints as JSON, in a process of its own."""
    folder = (ROOT / "src" if sources is None else sources).resolve()
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-m", module, "--measure", *arguments],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)
