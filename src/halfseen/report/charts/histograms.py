"""Charts with two axes: the eigenvalues of a spectrum, and a histogram."""

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.formatting import number, percent
from halfseen.report.charts import drawing as svg

LEFT, TOP, HEIGHT = 46.0, 8.0, 150.0
MOST_EIGENVALUES = 40


def spectrum_chart(values: Array, n_kept: int, noise: float | None) -> svg.Figure:
    """Eigenvalues, kept ones filled, beside the noise level if known.

    Drawn to the scale of arsinh, which is linear within the noise and logarithmic beyond.
    """
    shown = values[:MOST_EIGENVALUES]
    unit = (
        noise
        if noise is not None and noise > 0
        else float(np.abs(shown).max(initial=1.0)) / 100 or 1.0
    )
    scaled = np.arcsinh(shown / unit)
    low, high = min(float(scaled.min()), -1.0), max(float(scaled.max()), 1.0)

    def place(value: float) -> float:
        return TOP + HEIGHT * (high - value) / (high - low)

    step = (svg.WIDTH - LEFT - 10) / len(shown)
    one = float(np.arcsinh(1.0))
    band = svg.box(LEFT, place(one), svg.WIDTH - LEFT, place(-one) - place(one), svg.PALE)
    parts = [
        *([] if noise is None else [band]),
        svg.line(LEFT, place(0.0), svg.WIDTH, place(0.0)),
        svg.text(LEFT - 4, place(0.0) + 4, "0", "end"),
        svg.text(LEFT - 4, TOP + 10, number(float(shown[0])), "end"),
        svg.text(svg.WIDTH, TOP + HEIGHT + 16, "eigenvalues, largest first", "end", svg.GREY),
    ]
    rows = []
    for i, value in enumerate(shown):
        kept = i < n_kept
        fate = "kept" if kept else "left out"
        ratio = f", {value / noise:.1f} times the noise" if noise else ""
        x = LEFT + (i + 0.5) * step + 5
        fill, stroke = (svg.BLUE, svg.BLUE) if kept else (svg.PAGE, svg.ORANGE)
        tip = f"Eigenvalue {i + 1}: {number(float(value))}{ratio}; {fate}"
        parts.append(svg.mark(tip, svg.dot(x, place(scaled[i]), 5, fill, stroke)))
        rows.append((str(i + 1), number(float(value)), fate))
    caption = (
        "Filled dots were kept, open ones left out."
        if noise is None
        else "What stands out of the noise. Filled dots were kept and should lie above the grey "
        "band, which pure noise would leave in one of 100 such tables; open ones should not."
    )
    title = "Signal and noise"
    drawing = svg.picture(title, TOP + HEIGHT + 22, parts)
    return svg.Figure(title, caption, drawing, ("number", "eigenvalue", "fate"), tuple(rows))


def histogram(
    title: str, caption: str, axis: str, values: Array, low: float, high: float
) -> svg.Figure:
    """A histogram of rows."""
    count, edges = np.histogram(np.clip(values, low, high), bins=20, range=(low, high))
    most = max(int(count.max()), 1)
    step = (svg.WIDTH - LEFT) / len(count)
    parts = [
        svg.line(LEFT, TOP + HEIGHT, svg.WIDTH, TOP + HEIGHT),
        svg.text(LEFT - 4, TOP + 10, percent(most / max(len(values), 1)), "end"),
        svg.text(LEFT - 4, TOP + HEIGHT + 4, "0", "end"),
        svg.text(LEFT, TOP + HEIGHT + 15, f"{low:.2g}"),
        svg.text(svg.WIDTH, TOP + HEIGHT + 15, f"{high:.2g}", "end"),
        svg.text((LEFT + svg.WIDTH) / 2, TOP + HEIGHT + 30, axis, "middle", svg.GREY),
    ]
    rows = []
    for i, n in enumerate(count):
        height = HEIGHT * n / most
        share = percent(n / max(len(values), 1))
        span = f"{edges[i]:.2f} to {edges[i + 1]:.2f}"
        x = LEFT + i * step
        parts.append(
            svg.mark(
                f"{span}: {n:,} rows ({share})",
                svg.box(x, TOP, step, HEIGHT, svg.PAGE, ' fill-opacity="0"'),
                svg.box(x + 0.5, TOP + HEIGHT - height, step - 1, height, svg.BLUE),
            )
        )
        rows.append((span, f"{n:,}", share))
    drawing = svg.picture(title, TOP + HEIGHT + 34, parts)
    return svg.Figure(title, caption, drawing, (axis, "rows", "share"), tuple(rows))
