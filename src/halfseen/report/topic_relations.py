"""Section on relations of topics: coherence, map and correlations."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.formatting import percent
from halfseen.diagnostics.concerns.concern import ConcernContext
from halfseen.diagnostics.topics import N_WORDS, LoadingsTogether, coherence
from halfseen.report.charts import drawing as svg
from halfseen.report.charts.bars import Bar, bar_chart
from halfseen.report.charts.heat_map import heat_map_chart
from halfseen.report.portrait import Grid, Portrait
from halfseen.report.section import Section

HEIGHT, MARGIN, LARGEST, SMALLEST = 250.0, 34.0, 26.0, 7.0
"""Of the map and of the discs on it, in units of the drawing."""


def hellinger(topics: Array) -> Array:
    """Hellinger distances between topics (k, d), from 0 to 1; (k, k)."""
    roots = np.sqrt(topics)
    return np.asarray(np.sqrt(np.clip(1 - roots @ roots.T, 0.0, 1.0)))


def on_a_plane(distances: Array) -> tuple[Array, float]:
    """Multidimensional scaling: points (k, 2), and the share of distances shown.

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


def topic_map(view: Portrait, shown: list[int], words: list[str]) -> svg.Figure:
    """A map of the ``shown`` topics with their ``words``; area is the share."""
    topics = np.array([view.centres[i] for i in shown])
    points, seen = on_a_plane(hellinger(topics))
    span = float(np.ptp(points, axis=0).max()) or 1.0
    room = np.array([svg.WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    scale = float(np.min(room / np.maximum(np.ptp(points, axis=0), 1e-3 * span)))
    places = (points - middle) * [scale, -scale] + [svg.WIDTH / 2, HEIGHT / 2]
    largest = float(view.shares[shown].max()) or 1.0
    parts, rows = [], []
    # Large discs first, so that they cover no smaller ones.
    for i in sorted(range(len(shown)), key=lambda i: -view.shares[shown[i]]):
        share = float(view.shares[shown[i]])
        radius = max(LARGEST * np.sqrt(share / largest), SMALLEST)
        x, y = places[i]
        name = f"{view.noun} {shown[i] + 1}"
        tip = f"{name} ({percent(share)}): {words[i]}"
        number = svg.text(x, y + 4, str(shown[i] + 1), "middle", svg.BLUE, 11)
        parts.append(svg.mark(tip, svg.dot(x, y, radius, svg.PALE, svg.BLUE), number))
        rows.append((name, f"{points[i, 0]:.2f}", f"{points[i, 1]:.2f}"))
    parts.append(svg.text(4, HEIGHT - 4, "close: much in common", "start", svg.GREY, 10))
    title = f"A map of the {view.nouns}"
    caption = (
        f"{view.nouns.capitalize()} that share what is counted lie close to each other (Hellinger "
        f"distances on a plane, which shows {percent(seen)} of them); discs are as large as shares."
    )
    drawing = svg.picture(title, HEIGHT, parts)
    return svg.Figure(title, caption, drawing, (view.noun, "across", "up"), tuple(rows))


LOOSE = 0.05
"""Coherence below which words hardly stand together more often than by chance."""
FEW_WORDS = 4
"""On the map, of each topic."""


def topic_relations_section(
    view: Portrait, words: Sequence[NDArray[np.intp]], case: ConcernContext
) -> list[Section]:
    """Coherence, a map, and correlations of the topics that are shown, given their ``words``."""
    shown = [i for i in range(view.k) if not view.withheld[i].all()]
    figures: list[svg.Figure] = []
    sentences: list[str] = []
    if len(view.names) > N_WORDS:
        values = coherence(case.rows, [words[i][:N_WORDS] for i in shown])
        figures.append(_coherence(view, shown, values))
        sentences += _told(view, shown, values)
    if len(shown) > 2:
        told = [", ".join(view.names[d] for d in words[i][:FEW_WORDS]) for i in shown]
        figures.append(topic_map(view, shown, told))
    found = case.loadings_together
    if found is not None and len(shown) > 2:
        figures.append(_correlations(view, shown, found))
    if not figures:
        return []
    title = f"How the {view.nouns} hold together"
    return [Section("together", title, sentences, figures)]


def _told(view: Portrait, shown: list[int], values: Array) -> list[str]:
    known = [i for i in range(len(shown)) if np.isfinite(values[i])]
    if not known:
        return []
    best, worst = (f(known, key=lambda i: values[i]) for f in (max, min))
    loose = [f"{view.noun} {shown[i] + 1}" for i in known if values[i] < LOOSE]
    said = [
        f"{view.nouns.capitalize()} hold together where their columns are counted in the same "
        f"rows: most in {view.noun} {shown[best] + 1} (coherence {values[best]:.2f}), least in "
        f"{view.noun} {shown[worst] + 1} ({values[worst]:.2f})."
    ]
    if loose:
        are = "is" if len(loose) == 1 else "are"
        named = ", ".join(loose)
        named = named[0].upper() + named[1:]
        it = "it" if len(loose) == 1 else "them"
        said.append(f"{named} {are} hardly more than chance: do not read much into {it}.")
    return said


def _coherence(view: Portrait, shown: list[int], values: Array) -> svg.Figure:
    return bar_chart(
        f"Whether the {view.nouns} hold together",
        f"Mean normalised mutual information of pairs of the {N_WORDS} most relevant columns of "
        "each, in this table: 1 if they are only there together, 0 if by chance.",
        [
            Bar(
                f"{view.noun} {i + 1}",
                max(float(value), 0.0) if np.isfinite(value) else 0.0,
                f"{value:.2f}" if np.isfinite(value) else "unknown",
                f"{view.noun} {i + 1}: coherence {value:.2f}",
            )
            for i, value in zip(shown, values, strict=True)
        ],
        (view.noun, "coherence"),
    )


def _correlations(view: Portrait, shown: list[int], found: LoadingsTogether) -> svg.Figure:
    own = view.order
    seen, expected = found.seen[np.ix_(own, own)], found.expected[np.ix_(own, own)]
    beyond = seen - expected
    names = [f"{view.noun} {i + 1}" for i in shown]

    def tip(i: int, j: int) -> str:
        if i == j:
            return names[shown.index(i)]
        return (
            f"{view.noun} {i + 1} and {view.noun} {j + 1}: rank correlation {seen[i, j]:+.2f} in "
            f"the table, {expected[i, j]:+.2f} in rows that the model draws"
        )

    every = range(view.k)
    hidden = set(every) - set(shown)

    def text(i: int, j: int) -> str:
        return "" if i == j or j in hidden else f"{beyond[i, j]:+.2f}"

    shade = np.clip(np.where(np.eye(view.k, dtype=bool), 0.0, beyond) * 2, -1, 1)
    # A withheld topic must not show by its colour.
    shade[:, sorted(hidden)] = 0.0
    grid = Grid(
        title=f"Which {view.nouns} go along with each other beyond the model",
        caption=f"How much more (red) or less (blue) shares of two {view.nouns} go along in "
        f"{found.n_rows:,} rows of the table than in rows that the model draws: differences of "
        "rank correlations.",
        features=[],
        lines=names,
        shade=shade[shown],
        texts=[[text(i, j) for j in every] for i in shown],
        tips=[[tip(i, j) if j not in hidden else "" for j in every] for i in shown],
        n_lines=len(names),
        what=view.nouns,
    )
    return heat_map_chart(view, grid)
