"""The picture of a choice shows what decided it."""

import matplotlib as mpl
import numpy as np
import pytest

from halfseen import Choice
from halfseen.diagnostics.choice import HeldOut, RankTest

mpl.use("Agg")
import matplotlib.pyplot as plt

TESTS = (RankTest(1, 90.0, 2.0, 0.0025), RankTest(2, 30.0, 1.0, 0.0025), RankTest(3, 0.5, 0.8, 0.4))
HELD_OUT = (HeldOut(2, -11.0, -1.2, 0.2), HeldOut(3, -10.0, 0.0, 0.0), HeldOut(4, -9.9, 0.1, 0.04))
CLIMB = (HeldOut(1, -12.0, 0.0, 0.0), HeldOut(2, -11.0, 1.0, 0.1), HeldOut(3, -11.2, -0.2, 0.1))
JUDGED = (
    HeldOut(1, -12.0, 0.0, 0.0, accepted=True),
    HeldOut(2, -11.0, 1.0, 0.1, 1, 0.97, 0.9, 0.4, True),
    HeldOut(3, -11.1, -0.02, 0.01, 2, 0.3, 0.1, 0.1, False, "halves of the rows disagree on them"),
    HeldOut(4, -10.5, 0.5, 0.1, 2, 0.9, 0.8, 0.1, True),
)
BY_SPECTRUM = Choice(3, TESTS, HELD_OUT, "")
CHOICES = {
    "spectrum": BY_SPECTRUM,
    "moved": Choice(4, TESTS, HELD_OUT, ""),
    "climb": Choice(2, (), CLIMB, ""),
    "one": Choice(1, (RankTest(1, 0.1, 0.2, 0.5),), HELD_OUT, ""),
    "below zero": Choice(1, (RankTest(1, -8.9, 0.4, 1.0),), HELD_OUT, ""),
    "no noise": Choice(2, (TESTS[0], RankTest(2, 0.0, 1e-6, 0.5)), HELD_OUT, ""),
    "judged": Choice(4, (), JUDGED, ""),
    "judged, not by its spectrum": Choice(3, TESTS, (*JUDGED[:2], JUDGED[3]), ""),
    "nothing": Choice(1, (), (), ""),
}
every_choice = pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)


@pytest.fixture(autouse=True)
def _no_figure_left_open():
    yield
    plt.close("all")


def line(ax, label):
    (found,) = (line for line in ax.get_lines() if line.get_label().startswith(label))
    return found.get_xydata()


def test_eigenvalues_are_drawn_against_the_noise():
    ax = BY_SPECTRUM.plot()
    np.testing.assert_array_equal(line(ax, "largest eigenvalue"), [(1, 90), (2, 30), (3, 0.5)])
    np.testing.assert_array_equal(line(ax, "noise (99 %"), [(1, 2), (2, 1), (3, 0.8)])


def test_what_decides_is_seen_beside_eigenvalues_a_hundred_times_as_large():
    ax = BY_SPECTRUM.plot()
    ax.figure.canvas.draw()
    left, noise = (ax.transData.transform((3, y))[1] for y in (0.5, 0.8))
    assert noise - left > 5  # pixels


def points(ax):
    (bars,) = ax.containers
    marks, _, (errors,) = bars.lines
    return marks.get_xydata(), [np.ptp(path[:, 1]) for path in errors.get_segments()]


def test_a_choice_moved_by_likelihood_shows_its_gains_and_two_standard_errors():
    ax = CHOICES["moved"].plot()
    where, heights = points(ax)
    np.testing.assert_allclose(where, [(2, -1.2), (3, 0), (4, 0.1)])
    np.testing.assert_allclose(heights, [0.8, 0, 0.16])
    assert "\nover 3 components\n" in ax.get_ylabel()


def test_a_climb_shows_what_each_step_gained_over_the_one_before():
    ax = CHOICES["climb"].plot()
    np.testing.assert_allclose(points(ax)[0], [(2, 1.0), (3, -0.2)])
    assert "\nover one component fewer\n" in ax.get_ylabel()


def test_a_climb_that_was_judged_marks_what_was_accepted_and_shows_agreement():
    ax = CHOICES["judged"].plot()
    np.testing.assert_allclose(points(ax)[0], [(2, 1.0), (3, -0.02), (4, 0.5)])
    np.testing.assert_allclose(line(ax, "gain, accepted"), [(2, 1.0), (4, 0.5)])
    assert "\nover the last number that was accepted\n" in ax.get_ylabel()
    (right,) = (other for other in ax.figure.axes if other is not ax)
    np.testing.assert_allclose(line(right, "agreement"), [(2, 0.97), (3, 0.3), (4, 0.9)])


def test_gains_are_shown_where_halves_did_not_confirm_the_spectrum():
    assert "gain" in CHOICES["judged, not by its spectrum"].plot().get_ylabel()


@every_choice
def test_the_number_chosen_is_marked_and_numbers_are_whole(choice):
    ax = choice.plot()
    ax.figure.canvas.draw()
    assert f"chosen: {choice.n_components}" in [text.get_text() for text in ax.texts]
    low, high = ax.get_xlim()
    assert low < choice.n_components < high
    shown = [tick for tick in ax.get_xticks() if low < tick < high]
    assert shown
    assert all(tick == int(tick) for tick in shown)


@every_choice
def test_nothing_is_cut_off(choice):
    ax = choice.plot()
    ax.figure.canvas.draw()
    inside, page = ax.get_tightbbox(), ax.figure.bbox
    assert inside.x0 >= page.x0
    assert inside.x1 <= page.x1
    assert inside.y0 >= page.y0
    assert inside.y1 <= page.y1
    bottom, top = ax.get_ylim()
    for found in ax.get_lines():
        heights = np.asarray(found.get_ydata(), dtype=float)
        if found.get_transform() == ax.transData:
            assert (heights >= bottom).all()
            assert (heights < top).all()


@every_choice
def test_it_draws_on_the_axes_it_is_given(choice):
    _, axes = plt.subplots(1, 2)
    assert choice.plot(axes[1]) is axes[1]
    assert not axes[0].has_data()


def test_several_axes_are_refused():
    with pytest.raises(TypeError, match="ax must be one matplotlib Axes"):
        BY_SPECTRUM.plot(plt.subplots(1, 2)[1])
