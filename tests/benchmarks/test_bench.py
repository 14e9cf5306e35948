"""``halfseen bench``: what is run, what is kept, and who is said to be ahead."""

import json
from dataclasses import replace
from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from benchmarks import results_file
from benchmarks.bench import guard, normals, page, peers, runner, verdicts
from benchmarks.bench.case import OURS, Case, Entrant, Setting
from benchmarks.bench.cases import CASES, chains, classes, filling
from benchmarks.bench.normals import Mixture
from benchmarks.bench.results import Results
from halfseen import LatentClass


def a_case(**changed):
    def nothing(*_):
        raise AssertionError("nothing is called here")

    made = Case(
        name="tried",
        asks="Who?",
        draw=nothing,
        settings=tuple(Setting(f"{n} rows", {"rows": n}, quick=n == 10) for n in (10, 100, 1000)),
        entrants={OURS: Entrant(OURS, nothing), "other": Entrant("stepmix", nothing)},
        judge=nothing,
        metric="error",
        close=0.1,
        along="rows",
        why="because <it> is so",
    )
    return replace(made, **changed)


def row(error, seconds, version="1"):
    took = {"seconds": seconds, "processor": seconds, "peak MB": 10.0 * seconds}
    return {"errors": {"error": error}, **took, "version": version}


@pytest.fixture
def results(tmp_path):
    return Results.at(tmp_path / "bench.json", "halfseen bench", 2)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_every_case_has_us_and_known_peers_and_something_quick(case):
    assert next(iter(case.entrants)) == OURS
    assert {one.peer for one in case.entrants.values()} <= set(peers.PEERS)
    assert any(setting.quick for setting in case.settings)
    titles = [setting.title for setting in case.settings]
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize(
    ("ours", "theirs", "faster", "verdict"),
    [
        (1.0, 1.05, 2.0, "won"),
        (1.05, 1.0, 2.0, "won"),  # equal
        (1.05, 1.0, 0.5, "time"),
        (1.2, 1.0, 2.0, "error"),
        (1.2, 1.0, 0.5, "lost"),
        (1.0, 1.2, 0.5, "dearer"),
        (np.nan, 1.0, 2.0, "error"),
    ],
)
def test_errors_decide_and_where_they_are_equal_time(ours, theirs, faster, verdict):
    figures = {"10 rows": {OURS: row(ours, 1.0), "other": row(theirs, faster)}}
    (one,) = verdicts.compared(a_case(), figures, "wall")
    assert one.verdict == verdict


def test_rows_that_we_lose_come_first_the_slowest_before_others():
    figures = {
        "10 rows": {OURS: row(1.0, 1.0), "other": row(1.0, 0.5)},
        "100 rows": {OURS: row(1.0, 1.0), "other": row(1.0, 9.0)},
        "1000 rows": {OURS: row(1.0, 1.0), "other": row(1.0, 0.1)},
    }
    every = verdicts.worst_first(list(verdicts.compared(a_case(), figures, "wall")))
    assert [one.setting for one in every] == ["1000 rows", "10 rows", "100 rows"]


def test_the_exponent_of_time_is_that_of_the_law_it_was_made_by():
    figures = {f"{n} rows": {OURS: row(0.0, 1e-3 * n**1.3)} for n in (10, 100, 1000)}
    (one,) = verdicts.growth(a_case(), figures, "seconds")
    assert one.exponent == pytest.approx(1.3)


def test_what_was_measured_is_kept_and_not_measured_again(results, monkeypatch):
    case = a_case()
    monkeypatch.setattr(peers, "found", lambda name: "1")
    tasks = list(runner.tasks([case], runner.Asked()))
    assert len(tasks) == 6
    results.put("tried", "10 rows", OURS, row(1.0, 1.0))
    again = Results.at(results.path, "halfseen bench", 2)
    assert [runner.is_done(task, again) for task in tasks] == [True] + [False] * 5
    monkeypatch.setattr(peers, "found", lambda name: "2")
    assert not runner.is_done(tasks[0], again)


def test_figures_of_other_threads_are_not_mixed_in(results):
    results.put("tried", "10 rows", OURS, row(1.0, 1.0))
    with pytest.raises(ValueError, match=r"figures of another threads: 2, not 1\. Give --out"):
        Results.at(results.path, "halfseen bench", 1)


def test_quick_runs_small_tables_and_peers_that_are_not_asked_for_are_left_out():
    tasks = runner.tasks([a_case()], runner.Asked(quick=True, peers=("lace",)))
    assert [(task.setting.title, task.name) for task in tasks] == [("10 rows", OURS)]
    tasks = runner.tasks([a_case()], runner.Asked(only="1000 r"))
    assert [(task.setting.title, task.name) for task in tasks] == [
        ("1000 rows", OURS),
        ("1000 rows", "other"),
    ]


def test_a_peer_that_is_absent_is_a_row_that_says_so(results, monkeypatch):
    monkeypatch.setattr(peers, "found", lambda name: None)
    task = runner.Task(a_case(), a_case().settings[0], "other")
    assert runner.run(task, results, runner.Asked()) == {
        "absent": "not installed: pip install stepmix"
    }
    page.write(results, {"tried": a_case()}, "wall", results.path.with_suffix(".html"))
    assert "not installed: pip install stepmix" in results.path.with_suffix(".html").read_text()


def test_what_was_stopped_is_not_tried_on_larger_tables(results, monkeypatch):
    monkeypatch.setattr(peers, "found", lambda name: "1")
    results.put("tried", "10 rows", "other", {"stopped": "stopped after 1 s", "version": "1"})
    task = runner.Task(a_case(), a_case().settings[2], "other")
    told = runner.run(task, results, runner.Asked())
    assert told["stopped"] == "not tried: stopped at 10 rows"


@pytest.mark.parametrize(
    ("clock", "told"), [("wall", "stopped after 1 s"), ("processor", "of the processor")]
)
def test_whoever_takes_too_long_is_stopped(results, monkeypatch, clock, told):
    monkeypatch.setattr(peers, "found", lambda name: "1")
    monkeypatch.setattr(runner, "MODULE", "tests.benchmarks.endless")
    task = runner.Task(a_case(), a_case().settings[0], "other")
    row = runner.run(task, results, runner.Asked(limit=1, clock=clock))
    assert told in row["stopped"]


def test_a_failure_is_a_row_without_folders_of_the_machine(results, monkeypatch):
    monkeypatch.setattr(peers, "found", lambda name: "1")
    monkeypatch.setattr(runner, "MODULE", "tests.benchmarks.no_such_program")
    task = runner.Task(a_case(), a_case().settings[0], "other")
    row = runner.run(task, results, runner.Asked())
    assert "no_such_program" in row["failed"]
    assert runner._last_line("x\nOSError: /home/me/it.csv is not there") == (
        "OSError: …/it.csv is not there"
    )


def test_the_page_has_losses_first_and_escapes_what_it_is_told(results):
    results.put("tried", "10 rows", OURS, row(1.0, 1.0))
    results.put("tried", "10 rows", "other", row(0.5, 0.5))
    path = results.path.with_suffix(".html")
    page.write(results, {"tried": a_case()}, "wall", path)
    text = path.read_text()
    assert text.index("Where we lose") < text.index("<h2>tried</h2>")
    assert "because &lt;it&gt; is so" in text
    assert "worse and slower" in text


def test_a_process_of_its_own_measures_one_entrant(results):
    case = CASES["mixtures"]
    task = runner.Task(case, case.settings[0], OURS)
    found = runner.run(task, results, runner.Asked(threads=1))
    assert set(found["errors"]) == {case.metric}
    assert min(found["seconds"], found["processor"], found["peak MB"]) > 0
    kept = json.loads(results.path.read_text())
    assert kept["figures"]["mixtures"][case.settings[0].title][OURS]["version"]
    assert set(kept["machine"]) == {"processor", "cores", "memory GB", "system"}


def test_the_judge_of_mixtures_sums_densities_of_what_is_observed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 3))
    X[rng.random(X.shape) < 0.3] = np.nan
    found = Mixture(
        np.array([0.3, 0.7]), rng.normal(size=(2, 3)), rng.uniform(0.5, 2.0, size=(2, 3))
    )
    naive = [
        np.log(
            sum(
                w * np.prod([norm.pdf(x, m, np.sqrt(v)) for x, m, v in cells if not np.isnan(x)])
                for w, cells in (
                    (
                        found.weights[c],
                        list(zip(one, found.means[c], found.variances[c], strict=True)),
                    )
                    for c in range(2)
                )
            )
        )
        for one in X
    ]
    assert normals.loss(X, found) == pytest.approx(-np.mean(naive))
    whole = Mixture(found.weights, found.means, np.array([np.diag(v) for v in found.variances]))
    X = rng.normal(size=(7, 3))
    density = sum(w * multivariate_normal(m, C).pdf(X) for w, m, C in zip(*whole, strict=True))
    assert normals.loss(X, whole) == pytest.approx(-np.log(density).mean())


def test_the_judge_of_chains_sums_over_all_paths():
    data = chains.drawn(2, 4, 2)
    found = chains.chain(np.random.default_rng(1), 2, chains.D)
    total = 0.0
    for start in (0, 4):
        rows = data.X[start : start + 4]
        heights = np.array(
            [norm.pdf(rows, m, s).prod(axis=1) for m, s in zip(*found[2:], strict=True)]
        )
        paths = 0.0
        for path in product(range(2), repeat=4):
            chance = found.start[path[0]] * heights[path[0], 0]
            for t in range(1, 4):
                chance *= found.transition[path[t - 1], path[t]] * heights[path[t], t]
            paths += chance
        total += np.log(paths)
    assert chains.judge(data, found)["nats a row"] == pytest.approx(-total / 8)


def test_versions_of_r_are_asked_of_rscript(monkeypatch):
    told = SimpleNamespace(returncode=0, stdout="3.1\n")
    monkeypatch.setattr(peers, "which", lambda name: "Rscript")
    monkeypatch.setattr(peers.subprocess, "run", lambda *_, **__: told)
    assert peers._of_r("mice") == "3.1"
    monkeypatch.setattr(peers, "which", lambda name: None)
    assert peers._of_r("mice") is None


def test_the_guard_fails_beyond_a_quarter_and_for_what_is_not_kept():
    kept = {"fit": 10.0, "other": 1.0}
    assert guard.slower({"fit": 12.4, "other": 0.5}, kept) == []
    assert guard.slower({"fit": 12.6, "new": 0.1}, kept) == ["fit", "new"]


def test_what_is_guarded_is_kept():
    assert set(results_file.figures(guard.NAME)) == set(guard.fits())


def test_the_guard_ends_with_what_became_slower(monkeypatch, capsys):
    asked = []

    def measured(names):
        asked.append(names)
        return dict.fromkeys(names, 2.0) | ({"fit": 10.0} if "fit" in names else {})

    monkeypatch.setattr(guard, "fits", lambda: {"fit": None, "other": None})
    monkeypatch.setattr(guard, "measured", measured)
    monkeypatch.setattr(results_file, "kept", lambda name: {"fit": 5.0, "other": 2.0})
    monkeypatch.setattr("sys.argv", ["guard"])
    with pytest.raises(SystemExit, match=r"More than 25 % slower than kept: fit\. Find what"):
        guard.main()
    assert asked == [["fit", "other"], ["fit"], ["fit"]]
    assert "kept 5.0" in capsys.readouterr().out


def test_the_judge_of_classes_is_the_models_own_score():
    data = classes.drawn(300, 2)
    model = LatentClass(2, kinds=classes.KINDS, random_state=0, n_jobs=1).fit(data.X)
    found = classes.judge(data, classes.ours(data, 1))
    assert found["nats a row"] == pytest.approx(-model.score(data.X))


def test_the_energy_of_draws_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    truth, draws = rng.normal(size=(3, 4)), rng.normal(size=(5, 3, 4))
    hidden = rng.random((3, 4)) < 0.6
    each = []
    for i in range(3):
        own = hidden[i]
        if own.any():
            to = np.mean([np.linalg.norm(d[i, own] - truth[i, own]) for d in draws])
            among = [np.linalg.norm(a[i, own] - b[i, own]) for a, b in permutations(draws, 2)]
            each.append((to - 0.5 * np.mean(among)) / np.sqrt(own.sum()))
    assert filling._energy(truth, draws, hidden) == pytest.approx(np.mean(each))


def test_intervals_of_draws_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    covered = filling._coverage(rng.normal(size=(200, 4000)), rng.normal(size=4000))
    assert covered == pytest.approx(0.9, abs=0.015)


@pytest.mark.parametrize("entrant", ["StepMix", "StepMix, shorter"])
def test_what_is_kept_is_fifty_times_as_fast_as_stepmix_at_equal_likelihood(entrant):
    rows = results_file.figures("bench")["mixtures"]["100,000 × 10, diag, overlapping"]
    ours, theirs = rows[OURS], rows[entrant]
    assert theirs["processor"] >= 50 * ours["processor"]
    assert ours["errors"]["nats a row"] <= theirs["errors"]["nats a row"] + 1e-4
