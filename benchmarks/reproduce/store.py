"""What was measured, kept as it comes in: one JSON file a figure.

A file is a function of the figure, the seeds and the versions: the same whether it was made in one
go or killed and taken up again, by one process or many. It is whole at any moment.
"""

import json
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reproduce.description import Figure, Point
from halfseen.data.arrays import Array
from halfseen.persistence.atomic import write_whole

FOLDER = "reproduction"
PACKAGES = ("halfseen", "numpy", "scipy", "scikit-learn")


class ResultsError(ValueError):
    """A file does not hold the results that it should."""


def versions_here() -> dict[str, str]:
    """The versions that would make results now."""
    return {package: version(package) for package in PACKAGES} | {
        "python": platform.python_version()
    }


def path_of(name: str, out: Path) -> Path:
    """Where a figure's results are kept."""
    return out / FOLDER / f"{name}.json"


@dataclass
class Results:
    """The numbers of a figure, run by run; ``None`` where there is none yet."""

    figure: Figure
    quick: bool
    versions: dict[str, str]
    values: dict[tuple[int, str], list[float | None]] = field(default_factory=dict)

    @classmethod
    def none_yet(cls, figure: Figure, quick: bool) -> "Results":
        """No runs, made by the versions of today."""
        keys = [(i, name) for i, p in enumerate(figure.plan(quick).points) for name in p.methods]
        return cls(figure, quick, versions_here(), {key: [] for key in keys})

    @property
    def points(self) -> tuple[Point, ...]:
        """The points of the figure."""
        return self.figure.plan(self.quick).points

    @property
    def runs(self) -> int:
        """How many runs were asked for."""
        return max(map(len, self.values.values()), default=0)

    def missing(self, runs: int) -> list[tuple[int, int]]:
        """Points and seeds still to be measured, those with most rows first."""
        tasks = [
            (i, seed)
            for i, point in enumerate(self.points)
            for seed in range(runs)
            if any(self._value(i, name, seed) is None for name in point.methods)
        ]
        return sorted(tasks, key=lambda task: -self.points[task[0]].n_rows)

    def put(self, index: int, seed: int, numbers: dict[str, float]) -> None:
        """Add a run of a point."""
        for name, number in numbers.items():
            column = self.values[index, name]
            column.extend([None] * (seed + 1 - len(column)))
            column[seed] = float(f"{number:.6g}")

    def of(self, index: int, method: str) -> Array | None:
        """The runs of a method at a point, if they were all made; (runs,)."""
        column = self.values.get((index, method), [])
        if not column or len(column) < self.runs or None in column:
            return None
        return np.array(column, dtype=float)

    def any_complete(self) -> bool:
        """Whether there is something to show."""
        return not self.points or any(self.of(*key) is not None for key in self.values)

    def text(self) -> str:
        """The file's content: one line for each method at each point."""
        head = {
            "figure": self.figure.name,
            "command": command(self.figure.name, self.runs, self.quick),
            "plan": _plan_name(self.quick),
            "versions": self.versions,
            "seeds": f"0 to {self.runs - 1}" if self.runs else "none",
        }
        points = [_line(point.as_data()) for point in self.points]
        values = [
            _line({"point": index, "method": name, "values": column})
            for (index, name), column in sorted(self.values.items())
        ]
        start = json.dumps(head, indent=1)[:-2]
        return f'{start},\n "points": {_block(points)},\n "results": {_block(values)}\n}}\n'

    def write(self, out: Path) -> Path:
        """Keep the file, whole at any moment."""
        path = path_of(self.figure.name, out)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, self.text().encode("utf-8"), overwrite=True)
        return path

    def _value(self, index: int, name: str, seed: int) -> float | None:
        column = self.values[index, name]
        return column[seed] if seed < len(column) else None


def command(name: str, runs: int, quick: bool) -> str:
    """What to type to get a figure's results."""
    return f"halfseen reproduce {name} --runs {runs}" + (" --quick" if quick else "")


def read(figure: Figure, out: Path) -> Results:
    """The results of a figure; raises if the file holds anything else."""
    path = path_of(figure.name, out)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        quick = content["plan"] == _plan_name(True)
        results = Results(figure, quick, content["versions"])
        kept = [json.loads(_line(point.as_data())) for point in results.points]
        rows = content["results"]
        results.values = {(row["point"], row["method"]): list(row["values"]) for row in rows}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResultsError(
            f"{path} is not a file of results. Move it away, or use --force to replace it."
        ) from error
    if content["points"] != kept or set(results.values) != set(
        Results.none_yet(figure, quick).values
    ):
        raise ResultsError(
            f"{path} holds results of other settings than those of this version. Use --force to "
            "measure again, or --out for another folder."
        )
    return results


def take_up(figure: Figure, quick: bool, out: Path) -> Results:
    """The results there are, or none yet; raises if they are not of the plan that is asked for."""
    if not path_of(figure.name, out).exists():
        return Results.none_yet(figure, quick)
    results = read(figure, out)
    if results.quick != quick:
        raise ResultsError(
            f"{path_of(figure.name, out)} holds results of the {_plan_name(results.quick)} plan, "
            f"not of the {_plan_name(quick)} one. Use --force to replace them, or --out for "
            "another folder."
        )
    return results


def check_versions(results: Results, out: Path) -> None:
    """Runs by different versions do not mix."""
    here = versions_here()
    differ = [
        f"{package} {then} (now {here[package]})"
        for package, then in results.versions.items()
        if then != here[package]
    ]
    if differ:
        raise ResultsError(
            f"{path_of(results.figure.name, out)} is not finished and was made with "
            f"{', '.join(differ)}. Use --force to start again, or --out for another folder."
        )


def _plan_name(quick: bool) -> str:
    return "quick" if quick else "full"


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)


def _block(lines: list[str]) -> str:
    return "[\n  " + ",\n  ".join(lines) + "\n ]" if lines else "[]"
