"""Where results are kept: small JSON files next to the code that made them."""

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.measured_code import SOURCES, measured_code

FOLDER = Path(__file__).parent / "results"


def figures(name: str) -> Any:
    """The figures that are kept."""
    return json.loads((FOLDER / f"{name}.json").read_text())["figures"]


def kept(name: str) -> dict[str, Any]:
    """The same by name, none if nothing is kept yet."""
    return figures(name) if (FOLDER / f"{name}.json").exists() else {}


def write(name: str, command: str, figures: Any, sources: Path = SOURCES) -> Path:
    """Keep ``figures`` with the command, the versions and the code (``sources``) that made them."""
    FOLDER.mkdir(exist_ok=True)
    versions = {package: version(package) for package in ("halfseen", "numpy", "scipy")}
    content = {
        "command": command,
        "versions": versions | {"python": platform.python_version()},
        "code": measured_code(sources),
        "figures": figures,
    }
    path = FOLDER / f"{name}.json"
    # Other versions, which have it elsewhere, are measured too; they keep nothing.
    from halfseen.persistence.atomic import write_whole

    write_whole(path, f"{json.dumps(content, indent=1)}\n".encode(), overwrite=True)
    return path
