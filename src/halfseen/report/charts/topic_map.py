"""Topics on a plane: those that share what is counted lie close to each other."""

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.formatting import percent
from halfseen.report.charts.drawing import BLUE, GREY, PALE, WIDTH, Figure, dot, mark, picture, text
from halfseen.report.portrait import Portrait

HEIGHT, MARGIN, LARGEST, SMALLEST = 250.0, 34.0, 26.0, 7.0


def hellinger(topics: Array) -> Array:
    """Distances between topics (k, d), from 0 for the same to 1 for nothing in common; (k, k)."""
    roots = np.sqrt(topics)
    return np.asarray(np.sqrt(np.clip(1 - roots @ roots.T, 0.0, 1.0)))


def on_a_plane(distances: Array) -> tuple[Array, float]:
    """Points (k, 2) whose distances are as near as can be, and how much of them is seen.

    Classical scaling (Torgerson, 1952): the two largest axes of the doubly centred squares. Each
    axis points to where its first clear point is positive, as eigenvectors have no sign.
    """
    k = len(distances)
    centre = np.eye(k) - 1 / k
    values, vectors = np.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    points = vectors[:, :2] * np.sqrt(values[:2])
    clear = np.abs(points).argmax(axis=0)
    points = points * np.where(points[clear, np.arange(2)] < 0, -1.0, 1.0)
    return points, float(values[:2].sum() / (values.sum() or 1.0))


def topic_map(view: Portrait, shown: list[int], words: list[str]) -> Figure:
    """The ``shown`` topics by number, each with its ``words``; discs are as large as shares."""
    topics = np.array([view.centres[i] for i in shown])
    points, seen = on_a_plane(hellinger(topics))
    span = float(np.ptp(points, axis=0).max()) or 1.0
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    scale = float(np.min(room / np.maximum(np.ptp(points, axis=0), 1e-3 * span)))
    places = (points - middle) * [scale, -scale] + [WIDTH / 2, HEIGHT / 2]
    largest = float(view.shares[shown].max()) or 1.0
    parts, rows = [], []
    for i in sorted(range(len(shown)), key=lambda i: -view.shares[shown[i]]):
        share = float(view.shares[shown[i]])
        radius = max(LARGEST * np.sqrt(share / largest), SMALLEST)
        x, y = places[i]
        name = f"{view.noun} {shown[i] + 1}"
        tip = f"{name} ({percent(share)}): {words[i]}"
        number = text(x, y + 4, str(shown[i] + 1), "middle", BLUE, 11)
        parts.append(mark(tip, dot(x, y, radius, PALE, BLUE), number))
        rows.append((name, f"{points[i, 0]:.2f}", f"{points[i, 1]:.2f}"))
    parts.append(text(4, HEIGHT - 4, "close: much in common", "start", GREY, 10))
    title = f"A map of the {view.nouns}"
    caption = (
        f"{view.nouns.capitalize()} that share what is counted lie close to each other (Hellinger "
        f"distances on a plane, which shows {percent(seen)} of them); discs are as large as shares."
    )
    drawing = picture(title, HEIGHT, parts)
    return Figure(title, caption, drawing, (view.noun, "across", "up"), tuple(rows))
