"""Results are kept whole, are the same however they were made, and do not mix with others."""

import json

import pytest

from benchmarks.reproduce import running, store
from benchmarks.reproduce.figures import FIGURES

FIGURE = FIGURES["icu"]


def one(point, seed):
    return {name: 0.1 * (seed + 1) + len(name) for name in point.methods}


def filled(order):
    results = store.Results.none_yet(FIGURE, True)
    for seed in order:
        results.put(0, seed, one(results.points[0], seed))
    return results


def test_the_order_of_runs_does_not_matter():
    assert filled([0, 1, 2, 3]).text() == filled([2, 0, 3, 1]).text()


def test_what_is_read_is_what_was_written(tmp_path):
    results = filled([2, 0])
    path = results.write(tmp_path)
    assert store.read(FIGURE, tmp_path).text() == path.read_text(encoding="utf-8")
    assert [file.name for file in path.parent.iterdir()] == ["icu.json"]
    assert store.take_up(FIGURE, True, tmp_path).missing(4) == [(0, 1), (0, 3)]


def test_results_tell_their_command_seeds_and_versions(tmp_path):
    content = json.loads(filled([0, 1, 2]).write(tmp_path).read_text(encoding="utf-8"))
    assert content["command"] == "halfseen reproduce icu --runs 3 --quick"
    assert content["seeds"] == "0 to 2"
    assert {"halfseen", "numpy", "scipy", "python"} <= set(content["versions"])
    assert content["points"][0]["source"] == "sepsis"


def test_unfinished_points_are_not_shown():
    results = filled([2, 0])
    assert results.of(0, "full") is None
    assert not results.any_complete()
    assert filled([0, 1]).of(0, "full").shape == (2,)


def test_a_plan_does_not_take_up_results_of_the_other(tmp_path):
    filled([0]).write(tmp_path)
    with pytest.raises(
        store.ResultsError, match=r"of the quick plan, not of the full one\. Use --fo"
    ):
        store.take_up(FIGURE, False, tmp_path)


@pytest.mark.parametrize("where", ["points", "results"])
def test_results_of_other_settings_are_refused(tmp_path, where):
    path = filled([0]).write(tmp_path)
    content = json.loads(path.read_text())
    content[where][0] |= {"n_rows": 7, "method": "another"}
    path.write_text(json.dumps(content))
    with pytest.raises(store.ResultsError, match="holds results of other settings than those"):
        store.take_up(FIGURE, True, tmp_path)


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"plan": "quick", "versions": {}, "results": 1}']
)
def test_a_file_of_anything_else_is_refused(tmp_path, text):
    path = store.path_of("icu", tmp_path)
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(
        store.ResultsError, match=r"is not a file of results\. Move it away, or use"
    ):
        store.take_up(FIGURE, True, tmp_path)


def test_runs_of_other_versions_are_not_added_to(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "absent_files", lambda results: [])
    results = filled([0])
    results.versions = results.versions | {"numpy": "1.0"}
    with pytest.raises(
        store.ResultsError, match=r"not finished and was made with numpy 1\.0 \(now"
    ):
        running.measure(results, 2, 1, tmp_path, lambda n: None)
    running.measure(results, 1, 1, tmp_path, lambda n: None)  # nothing to add


def test_points_without_their_data_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("HALFSEEN_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    weights = store.Results.none_yet(FIGURES["weights"], True)
    assert running.absent_files(weights) == ["diagnoses.npz", "newsgroups4.npz"]
    left = {weights.points[index].source for index, _ in running.measurable(weights, 1)}
    assert left == {"gaussian", "topics", "short topics", "long topics", "random topics"}
    assert running.measurable(store.Results.none_yet(FIGURE, True), 1) == []
