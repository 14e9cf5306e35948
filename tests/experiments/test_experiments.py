"""The experiments run, and the figures that were kept are those the project claims."""

import json
import sys

import numpy as np
import pytest

from halfseen.estimators import paper
from halfseen.experiments import defaults, results_file, third_moment_speed, weighting
from halfseen.experiments.comparison import errors, geometric_ratio
from halfseen.experiments.synthetic import PATTERNS, gaussian_world, table


def kept(name):
    return json.loads((results_file.FOLDER / f"{name}.json").read_text())


def test_weighting_is_as_good_as_the_better_of_full_and_partial():
    figures = kept("weighting")["figures"]
    assert set(figures) == {"gamma-Poisson", "Gaussian mixture"}
    for world in figures.values():
        assert set(world) == set(PATTERNS)
        assert all(row["ratio"] <= 1.10 for row in world.values())


def test_defaults_are_better_than_the_papers_settings():
    figures = kept("defaults")["figures"]
    assert figures["Gaussian mixture"]["all"][0] <= 0.78
    assert figures["gamma-Poisson"]["all"][0] <= 0.85


def test_the_packed_third_moment_is_faster_and_equal():
    figures = kept("third_moment_speed")["figures"]
    assert figures["times faster"] >= 4
    assert figures["difference"] <= 1e-10


def test_errors_are_paired_by_seed():
    estimators = {"a": lambda: paper.gaussian_mixture(4, random_state=0)}
    twice = [errors(gaussian_world, estimators, 4000, 2) for _ in range(2)]
    assert twice[0] == twice[1]


def test_the_same_seed_has_the_same_values_in_every_pattern():
    (_, low), (_, high) = (table(gaussian_world, PATTERNS[p], 100, 3) for p in ("low", "high"))
    np.testing.assert_array_equal(low[:, :6], high[:, :6])


def test_a_ratio_of_geometric_means():
    ratio, error = geometric_ratio(np.array([1.0, 4.0]), np.array([2.0, 2.0]))
    assert ratio == pytest.approx(1.0)
    assert error == pytest.approx(np.log(2))


@pytest.mark.parametrize("module", [weighting, defaults, third_moment_speed])
def test_every_experiment_runs_small_and_keeps_nothing_unless_asked(module, monkeypatch, capsys):
    def refuse(*args):
        raise AssertionError("nothing was to be kept")

    small = ["x", "--rows", "4000"]
    small += ["--features", "8"] if module is third_moment_speed else ["--seeds", "2"]
    monkeypatch.setattr(sys, "argv", small)
    monkeypatch.setattr(results_file, "write", refuse)
    module.main()
    assert capsys.readouterr().out


def test_results_are_kept_with_their_command(tmp_path, monkeypatch):
    monkeypatch.setattr(results_file, "FOLDER", tmp_path / "results")
    path = results_file.write("thing", "python -m thing", {"figure": 1.5})
    content = json.loads(path.read_text())
    assert content["command"] == "python -m thing"
    assert content["figures"] == {"figure": 1.5}
    assert "numpy" in content["versions"]
