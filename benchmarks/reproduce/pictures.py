"""The figures, drawn: the paper's arrangement, one colour a method throughout.

Points are geometric means over runs, bars their standard errors: errors are skewed, and the tests
compare their logarithms.
"""

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator
from PIL import Image

from benchmarks.reproduce.methods import METHODS
from benchmarks.reproduce.sources import TOPICS
from benchmarks.reproduce.store import FOLDER, Results
from halfseen.data.arrays import Array

WIDTH = 7.0  # inches: a page
DPI = 150
COLOURS = 64  # of the picture file, which is a third the size for it
DODGE = 0.025  # of x, from one method to the next: lines that coincide are still told apart
STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.titlesize": 9,
    "font.size": 9,
    "grid.alpha": 0.3,
}


def draw(results: Results, out: Path) -> Path:
    """Draw a figure beside its results."""
    path = out / FOLDER / f"{results.figure.name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        canvas = LAYOUTS[results.figure.layout](results)
        drawn = BytesIO()
        canvas.savefig(drawn, dpi=DPI)
    Image.open(drawn).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    return path


def _groups(results: Results) -> Canvas:
    """A panel for each group, a line for each method."""
    names = list(dict.fromkeys(point.group for point in results.points))
    columns = 1 if len(names) == 1 else 3 if len(names) == 3 else 2
    canvas, panels = _panels(len(names), columns)
    methods = _methods(results)
    for panel, group in zip(panels, names, strict=True):
        places = [i for i, point in enumerate(results.points) if point.group == group]
        shifts = np.exp(DODGE * (np.arange(len(methods)) - (len(methods) - 1) / 2))
        for name, shift in zip(methods, shifts, strict=True):
            method = METHODS[name]
            _line(panel, results, places, name, method.colour, method.marker, float(shift))
        panel.set_title(group)
    _label(canvas, panels, results)
    _legend(canvas, [_handle(name) for name in methods])
    return canvas


def _by_method(results: Results) -> Canvas:
    """A panel for each method, a line for each group: darker for more."""
    groups = list(dict.fromkeys(point.group for point in results.points))
    methods = _methods(results)
    canvas, panels = _panels(len(methods), 3)
    strengths = np.linspace(0.35, 1.0, len(groups))
    for panel, name in zip(panels, methods, strict=True):
        for group, strength, marker in zip(groups, strengths, "osD^v", strict=False):
            places = [i for i, point in enumerate(results.points) if point.group == group]
            colour = _tint(METHODS[name].colour, strength)
            _line(panel, results, places, name, colour, marker)
        panel.set_title(METHODS[name].label)
    _label(canvas, panels, results)
    handles = [
        Line2D([], [], color=_tint("#000000", s), marker=m, markersize=4, label=g)
        for g, s, m in zip(groups, strengths, "osD^v", strict=False)
    ]
    _legend(canvas, handles)
    return canvas


def _boxes(results: Results) -> Canvas:
    """A box for each method over its runs."""
    canvas, (panel,) = _panels(1, 1)
    methods = [name for name in _methods(results) if results.of(0, name) is not None]
    drawn = panel.boxplot(
        [_known(results.of(0, name)) for name in methods],
        patch_artist=True,
        medianprops={"color": "white"},
        flierprops={"marker": ".", "markersize": 4},
    )
    for box, name in zip(drawn["boxes"], methods, strict=True):
        box.set_facecolor(METHODS[name].colour)
    labels = [METHODS[name].label.replace(", ", ",\n") for name in methods]
    panel.set_xticks(range(1, len(methods) + 1), labels)
    panel.set_ylabel(results.figure.y_label)
    panel.set_xlabel(results.figure.x_label)
    return canvas


def _ratios(results: Results) -> Canvas:
    """A row for each setting: errors relative to those with w = p."""
    canvas = Canvas(figsize=(WIDTH, 0.9 + 0.26 * len(results.points)), layout="constrained")
    panel = canvas.subplots()
    others = [name for name in _methods(results) if name != "weighted"]
    shifts = np.linspace(-0.22, 0.22, len(others))
    for i in range(len(results.points)):
        base = results.of(i, "weighted")
        for name, shift in zip(others, shifts, strict=True):
            values = results.of(i, name)
            if values is not None and base is not None:
                centre, low, high = _centre(values / base)
                panel.errorbar(
                    centre,
                    i + shift,
                    xerr=[[low], [high]],
                    color=METHODS[name].colour,
                    marker=METHODS[name].marker,
                    markersize=4,
                )
    panel.axvline(1.0, color=METHODS["weighted"].colour)
    panel.set_yticks(range(len(results.points)), [point.group for point in results.points])
    panel.invert_yaxis()
    panel.set_xscale("log")
    _readable(panel.xaxis)
    panel.set_xlabel(results.figure.x_label)
    _legend(canvas, [*(_handle(name) for name in others), _handle("weighted", marker="")])
    return canvas


def _topics(results: Results) -> Canvas:
    """A panel for each topic. Features of interest are dark, the others light."""
    canvas, panels = _panels(len(TOPICS), 4)
    shades = ["0.25"] * 6 + ["0.65"] * 4
    for number, (panel, topic) in enumerate(zip(panels, TOPICS, strict=True), start=1):
        panel.bar(range(1, 11), topic, color=shades)
        panel.set_title(f"topic {number}")
        panel.set_ylim(0, 1.1 * TOPICS.max())
        panel.set_xticks([1, 6, 10])
    panels[0].set_ylabel(results.figure.y_label)
    for panel in panels:
        panel.set_xlabel(results.figure.x_label)
    patches = [
        Line2D([], [], marker="s", linestyle="", color=shade, label=text)
        for shade, text in (("0.25", "features of interest"), ("0.65", "extra, or incomplete"))
    ]
    _legend(canvas, patches)
    return canvas


LAYOUTS: dict[str, Callable[[Results], Canvas]] = {
    "groups": _groups,
    "methods": _by_method,
    "boxes": _boxes,
    "ratios": _ratios,
    "topics": _topics,
}


def _panels(n: int, columns: int) -> tuple[Canvas, list[Axes]]:
    columns = min(columns, n)
    rows = -(-n // columns)
    height = 3.6 if n == 1 else 0.7 + 2.4 * rows
    canvas = Canvas(figsize=(WIDTH, height), layout="constrained")
    grid = canvas.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    return canvas, list(grid.flat)[:n]


def _methods(results: Results) -> list[str]:
    """In the order in which methods are always shown."""
    used = {name for point in results.points for name in point.methods}
    return [name for name in METHODS if name in used]


def _line(
    panel: Axes,
    results: Results,
    places: Sequence[int],
    name: str,
    colour: Any,
    marker: str,
    shift: float = 1.0,
) -> None:
    measured = [(results.points[i].x, results.of(i, name)) for i in places]
    known = [(x, _centre(values)) for x, values in measured if values is not None]
    if not known:
        return
    x = [place * shift for place, _ in known]
    centre, low, high = np.array([spread for _, spread in known]).T
    panel.errorbar(
        x,
        centre,
        yerr=[low.tolist(), high.tolist()],
        color=colour,
        marker=marker,
        markersize=4,
        linewidth=1.2,
        capsize=2,
    )


def _centre(values: Array) -> tuple[float, float, float]:
    """A geometric mean, and how far its standard error reaches below and above."""
    logs = np.log(values)
    error = logs.std(ddof=1) / np.sqrt(len(logs)) if len(logs) > 1 else 0.0
    centre = float(np.exp(logs.mean()))
    return centre, centre - centre * np.exp(-error), centre * np.exp(error) - centre


def _known(values: Array | None) -> Array:
    return np.empty(0) if values is None else values


def _handle(name: str, marker: str | None = None) -> Line2D:
    method = METHODS[name]
    shape = method.marker if marker is None else marker
    return Line2D([], [], color=method.colour, marker=shape, markersize=4, label=method.label)


def _legend(canvas: Canvas, handles: list[Line2D]) -> None:
    canvas.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)


def _tint(colour: str, strength: float) -> tuple[float, float, float]:
    """A colour mixed with white."""
    red, green, blue = (1 - strength * (1 - part) for part in mpl.colors.to_rgb(colour))
    return red, green, blue


def _label(canvas: Canvas, panels: list[Axes], results: Results) -> None:
    places = sorted({point.x for point in results.points})
    for panel in panels:
        panel.set_xscale("log")
        panel.set_yscale("log")
        _readable(panel.yaxis)
        panel.set_xticks(places, [f"{place / 1000:g}" for place in places])
        panel.xaxis.set_minor_locator(NullLocator())
    canvas.supxlabel(results.figure.x_label, fontsize="medium")
    canvas.supylabel(results.figure.y_label, fontsize="medium")


def _readable(axis: Any) -> None:
    """Ticks at 1, 2 and 5 with plain numbers: errors seldom span a decade."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(NullFormatter())
