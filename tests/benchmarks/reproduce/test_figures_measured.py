"""Every figure can be measured, small, and gives the same numbers for the same seed."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.reproduce import data_folder, measures
from benchmarks.reproduce.figures import FIGURES
from benchmarks.reproduce.gaps import PartialRows
from benchmarks.reproduce.methods import EVERY, METHODS, signal_weights
from benchmarks.reproduce.sources import FILES, SOURCES, TOPICS

NAMES = [name for name, figure in FIGURES.items() if figure.full.points]


def small(point):
    """A point with few rows, and without what takes long."""
    methods = tuple(m for m in point.methods if m != "refined")
    gaps = PartialRows(600) if isinstance(point.gaps, PartialRows) else point.gaps
    return replace(point, n_rows=1500, gaps=gaps, methods=methods)


def needed(point):
    file = FILES[point.source]
    if file is not None and data_folder.find(file) is None:
        pytest.skip(data_folder.how_to_get(file))
    return point


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", FIGURES)
def test_every_point_is_described_once(name, quick):
    points = FIGURES[name].plan(quick).points
    assert len({(point.group, point.x) for point in points}) == len(points)
    assert all(point.source in FILES and set(point.methods) <= set(METHODS) for point in points)


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_is_measured_small(name):
    figure = FIGURES[name]
    point = small(needed(figure.full.points[-1] if name != "weights" else figure.full.points[0]))
    numbers = figure.measure(point, 0)
    assert set(numbers) == set(point.methods)
    assert np.isfinite(list(numbers.values())).all()
    if figure.repeatable:
        assert figure.measure(point, 0) == numbers
        assert figure.measure(point, 1) != numbers


@pytest.mark.parametrize("name", ["gaussian", "gamma-poisson"])
def test_the_comparison_includes_ours_refined(name):
    point = FIGURES[name].quick.points[0]
    assert point.methods == EVERY
    assert measures.angle(replace(point, n_rows=1000), 0)["refined"] > 0


def test_the_same_seed_has_the_same_world_for_any_number_of_rows():
    few, many = (
        measures.draw(replace(FIGURES["gaussian"].quick.points[0], n_rows=n), 3) for n in (50, 90)
    )
    np.testing.assert_array_equal(few.components, many.components)
    assert len(many.X) == 90
    np.testing.assert_array_equal(few.complete, np.arange(6))


def test_the_topics_are_distributions_that_differ_and_overlap():
    np.testing.assert_allclose(TOPICS.sum(axis=1), 1.0)
    assert TOPICS.shape == (4, 10)
    assert (TOPICS > 0).all()
    unit = TOPICS[:, :6] / np.linalg.norm(TOPICS[:, :6], axis=1, keepdims=True)
    between = np.degrees(np.arccos((unit @ unit.T)[np.triu_indices(4, 1)]))
    assert between.min() > 30
    assert between.max() < 65


def test_signal_weights_of_a_mixture_fall_with_gaps_and_never_seen_features_are_ignored():
    point = FIGURES["gaussian"].quick.points[0]
    X = measures.draw(replace(point, n_rows=4000), 0).X
    X[:, 9] = np.nan
    weights = signal_weights(4, X)
    assert weights[9] == 1.0
    assert weights[6:9].max() < weights[:6].min()


@pytest.mark.parametrize(
    ("name", "n_gappy", "d"), [("diagnoses", 64, 128), ("newsgroups", 116, 175)]
)
def test_semi_synthetic_worlds_are_of_the_papers_size(name, n_gappy, d):
    needed(FIGURES[name].full.points[0])
    rng = np.random.default_rng(0)
    world = SOURCES[name].world(rng)
    assert world.components.shape == (SOURCES[name].n_components, d)
    assert len(SOURCES[name].incomplete(rng)) == n_gappy
    np.testing.assert_allclose(world.components.sum(axis=1), 1.0)
    assert (world.weights > 0).all()
