"""What was measured, kept row by row: a run that was stopped goes on where it was."""

import json
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.bench.machine import machine
from benchmarks.measured_code import measured_code
from halfseen.persistence.atomic import write_whole

Row = dict[str, Any]
"""Of an entrant: errors, seconds, processor, peak MB and version; or why there is none."""
DIGITS = 5


@dataclass
class Results:
    """Rows by case, setting and entrant, and what they were measured on."""

    path: Path
    about: dict[str, Any]
    figures: dict[str, dict[str, dict[str, Row]]] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path, command: str, threads: int) -> "Results":
        """What is kept at a path, if anything."""
        about = {
            "command": command,
            "versions": _versions(),
            "machine": machine(),
            "threads": threads,
        }
        if not path.exists():
            return cls(path, about | {"code": measured_code()})
        held = json.loads(path.read_text(encoding="utf-8"))
        differs = [key for key in ("machine", "threads") if held[key] != about[key]]
        if differs:
            raise ValueError(
                f"{path} holds figures of another {differs[0]}: {held[differs[0]]}, not "
                f"{about[differs[0]]}. Give --out another name, or remove it."
            )
        # The oldest of the code that rows are of.
        return cls(path, about | {"code": held.get("code", {})}, held["figures"])

    def row(self, case: str, setting: str, entrant: str) -> Row | None:
        """What there is of an entrant."""
        return self.figures.get(case, {}).get(setting, {}).get(entrant)

    def put(self, case: str, setting: str, entrant: str, row: Row) -> None:
        """Keep a row, at once."""
        self.figures.setdefault(case, {}).setdefault(setting, {})[entrant] = _rounded(row)
        content = self.about | {"figures": self.figures}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = f"{json.dumps(content, indent=1, ensure_ascii=False)}\n"
        write_whole(self.path, text.encode(), overwrite=True)


def _versions() -> dict[str, str]:
    packages = ("halfseen", "numpy", "scipy", "scikit-learn", "numba")
    return {one: version(one) for one in packages} | {"python": platform.python_version()}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
