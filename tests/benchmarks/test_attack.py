"""A short run of every attacker finds nothing, and every check that they make can fail."""

import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import typer

from benchmarks import results_file
from benchmarks.attack import (
    commands,
    files,
    filled,
    filling,
    forked,
    laws,
    learning,
    model_files,
    options,
    ours,
    watch,
    words,
)
from benchmarks.attack.__main__ import main
from benchmarks.attack.containers import CONTAINERS, as_floats, taken
from benchmarks.attack.defect import Defect
from benchmarks.attack.kinds import KINDS, Kind
from benchmarks.attack.word_containers import WORD_CONTAINERS, as_cells
from benchmarks.attack.worker import outcome
from halfseen import DataError, Imputer
from halfseen.inference.parameters import declared
from halfseen.io.formats import FORMATS
from halfseen.io.sparse_matrix import MARKETS
from halfseen.models import MODELS
from tests.benchmarks.planted import CARELESS
from tests.benchmarks.wrong_attacks import EVERY, WRONG

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked to be hurt"),
    pytest.mark.filterwarnings("ignore"),
]
every_model = pytest.mark.parametrize("name", MODELS)


def told(tally):
    return [watch.again(tally.kind, found) for found in tally.defects]


@pytest.mark.parametrize(
    ("kind", "number"), [("tables", 80), ("gaps", 50), ("files", 40), ("models", 80)]
)
def test_a_short_attack_finds_no_defect(kind, number):
    tally = watch.attacked(kind, number, math.inf, 0, jobs=1)
    assert told(tally) == []
    assert tally.number == number
    assert len(tally.words) > 1  # not all of them are refused


def test_a_few_signals_writers_disks_and_limits_find_no_defect(monkeypatch):
    monkeypatch.setitem(KINDS, "processes", Kind("tests.benchmarks.planted:processes", "", 0))
    tally = watch.attacked("processes", 12, math.inf, 0, jobs=1)
    assert told(tally) == []
    assert tally.number == 12


def test_interrupts_are_heard_also_where_they_are_ignored(monkeypatch, tmp_path):
    """As they are by what a shell runs in the background."""

    def main():
        signal.raise_signal(signal.SIGINT)
        raise SystemExit(0)

    monkeypatch.setattr(forked, "main", main)
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ended = forked.end(forked.begin([], tmp_path / "told"), tmp_path / "told", 30.0)
    finally:
        signal.signal(signal.SIGINT, heard)
    assert ended.code not in (None, 0)


def test_attacks_that_go_wrong_are_defects_and_the_others_go_on(monkeypatch):
    monkeypatch.setitem(KINDS, "wrong", Kind("tests.benchmarks.wrong_attacks:attack", "", 0))
    tally = watch.attacked("wrong", len(EVERY), math.inf, 0, jobs=1, limit=1.0)
    assert tally.words == {word: len(several) for word, several in WRONG.items()}
    assert {found.law for found in tally.defects} == set(WRONG) - {"refused", "fine"}
    assert len(told(tally)) == len(EVERY) - 2
    law = next(found for found in tally.defects if found.law == "a law")
    shown = f"python -m benchmarks.attack wrong --number 1 --seed {law.seed}  # a law: the details"
    assert watch.again("wrong", law) == shown


def test_commands_that_break_their_promises_are_noticed():
    """In a process of its own, in which commands are replaced by careless ones."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.planted"],
        cwd=watch.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == list(CARELESS)


def test_the_program_fails_on_a_defect_and_only_then(monkeypatch, capsys, tmp_path):
    def attacked(kind, number, seconds, seed, jobs, limit):
        tally = watch.Tally(kind)
        for one in range(seed, seed + number):
            defect = kind == "files"
            line = {"word": "it", "details": "", "defect": defect, "seed": one}
            tally.add(line | {"took": 1.0, "worked": 0.25})
        return tally

    monkeypatch.setattr(results_file, "FOLDER", tmp_path)
    monkeypatch.setattr("benchmarks.attack.__main__.attacked", attacked)
    assert main(["tables", "--number", "2"]) == 0
    assert "tables: 2 attacks in" in capsys.readouterr().out
    assert main(["tables", "files", "--number", "2", "--seed", "7"]) == 1
    assert "files --number 1 --seed 8  # it" in capsys.readouterr().out
    assert main(["tables", "models"]) == 0
    assert "tables: 100000 attacks in" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert not list(tmp_path.iterdir())
    for seed in ("5", "90"):
        main(["tables", "--number", "3", "--seed", seed, "--keep"])
    assert results_file.figures("attack") == {
        "tables": {
            "attacks": 6,
            "defects": 0,
            "slowest": 0.2,
            "runs": [{"seed": 5, "attacks": 3}, {"seed": 90, "attacks": 3}],
            "outcomes": {"it": 6},
        }
    }


def test_no_defect_is_left_of_the_attacks_that_are_kept():
    for kind, found in results_file.figures("attack").items():
        assert found["defects"] == 0, kind
        assert found["attacks"] == sum(run["attacks"] for run in found["runs"])
        assert found["slowest"] < watch.LIMIT
        assert kind in KINDS


def test_what_was_raised_on_purpose_is_told_from_what_was_not():
    def raised(function, *given):
        with pytest.raises(Exception) as error:  # noqa: PT011
            function(*given)
        return ours.is_ours(error.value)

    model = MODELS["gaussian"]
    assert raised(model(0).fit, [[1.0, 2.0]] * 5)
    assert raised(model(1).fit, np.empty((0, 2)))
    assert not raised(np.linalg.inv, np.zeros((2, 2)))
    assert not raised(int, "x")

    def nameless():
        raise DataError("No.")

    assert not raised(nameless)


@every_model
def test_every_option_that_is_documented_is_drawn(name):
    known = options.documented(MODELS[name])
    assert set(known) == set(MODELS[name]().get_params())
    assert all(choices for option, choices in known.items()), known
    rng = np.random.default_rng(0)
    drawn = [options.draw(rng, MODELS[name], (50, 6)) for _ in range(3000)]
    for option, choices in known.items():
        usual = {repr(MODELS[name]().get_params()[option])}
        seen = {repr(one[option]) for one in drawn if option in one} | usual
        if isinstance(choices[0], str):
            assert seen >= {repr(choice) for choice in choices}, option


def test_every_option_of_imputers_is_drawn():
    known = options.documented(Imputer)
    assert set(known) == set(Imputer().get_params())
    rng = np.random.default_rng(0)
    drawn = [filling.drawn_options(rng) for _ in range(300)]
    for option in {*known} - {"kinds", "verbose"}:
        assert len({repr(one[option]) for one in drawn if option in one}) > 1, option


def test_every_choice_of_a_fit_is_drawn_on_the_command_line(monkeypatch, tmp_path):
    said = []
    monkeypatch.setattr(
        commands,
        "run",
        lambda *words: said.append(words) or SimpleNamespace(exit_code=1, stderr=""),
    )
    rng = np.random.default_rng(0)
    for _ in range(800):
        commands.fit(rng, tmp_path / "t.csv", tmp_path / "m", ["c0"])
    pairs = {pair for words in said for pair in pairwise(words)}
    assert {option for option, _ in pairs} > {"--model", "--covariance", "--gaps", "--kind"}
    for option, every in commands.choices("fit").items():
        assert {(option, one) for one in every} <= pairs


def test_files_of_every_format_are_written():
    assert {*FORMATS, MARKETS[0]} <= set(files.WRITERS)


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers_hold_the_numbers_that_they_are_said_to(container):
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, np.nan]])
    given, numbers = CONTAINERS[container](X)
    if hasattr(given, "toarray"):
        given = given.toarray()
    elif container == "masked":
        given = given.filled(np.nan)
    np.testing.assert_array_equal(as_floats(given), numbers)


@pytest.mark.parametrize("container", WORD_CONTAINERS)
def test_containers_of_words_hold_the_cells_that_they_are_said_to(container):
    X = np.array([["a", 2.0, True], ["b", 4.0, False], ["a", None, None]], dtype=object)
    given, cells = WORD_CONTAINERS[container](np.random.default_rng(0), X)
    back = as_cells(given)
    assert back.shape == cells.shape
    for now, was in zip(back.flat, cells.flat, strict=True):
        assert filled.is_gap(now) if was is None else filled.same(was, now)


@pytest.mark.parametrize("container", [*CONTAINERS, *WORD_CONTAINERS])
def test_rows_are_taken_in_another_order(container):
    rng, order = np.random.default_rng(0), np.array([2, 0, 1])
    if container in CONTAINERS:
        given, cells = CONTAINERS[container](np.array([[1.0, 2.0], [3.0, 4.0], [5.0, np.nan]]))
    else:
        given, cells = WORD_CONTAINERS[container](rng, np.array([["a"], ["b"], [None]], object))
    found = taken(given, order)
    if found is None:
        assert container in ("batches", "csc", "coo", "lil", "bsr")
        return
    assert type(found) is type(given)
    if container == "masked":
        found = found.filled(np.nan)
    found = as_cells(found.toarray() if hasattr(found, "toarray") else found)
    for now, was in zip(found.flat, cells[order].flat, strict=True):
        assert filled.is_gap(now) if filled.is_gap(was) else filled.same(was, now)


@pytest.mark.parametrize("way", words.WAYS)
def test_words_are_drawn_for_every_cell_and_gaps_stay(way, monkeypatch):
    monkeypatch.setattr(words, "WAYS", {way: (1.0, words.WAYS[way][1])})
    monkeypatch.setattr(words, "WORDED", 1.0)
    X = np.where(np.arange(40).reshape(20, 2) % 7 == 0, np.nan, np.arange(40.0).reshape(20, 2))
    cells = words.draw(np.random.default_rng(0), X)
    np.testing.assert_array_equal(filled.gaps_in(cells), np.isnan(X))


def table(about):
    rng = np.random.default_rng(0)
    rates = np.array([[2.0, 9, 4, 12], [10, 3, 9, 2]])[np.arange(60) % 2]
    X = rng.poisson(rates * rng.gamma(5, 0.2, (60, 1))).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X if about.counts else X + rng.normal(size=X.shape)


@pytest.fixture(params=MODELS)
def learned(request):
    X = table(MODELS[request.param].about)
    return MODELS[request.param](2, random_state=0, outliers=None).fit(X), X


def noticed(law, function, *given, **options):
    with pytest.raises(Defect) as defect:
        function(*given, **options)
    assert law in defect.value.law
    return True


def test_a_model_that_is_right_passes_all_laws(learned, tmp_path):
    model, X = learned
    learning.hold_to_laws(np.random.default_rng(0), model, X, X, None, tmp_path)
    laws.file_gives_it_back(model, X)
    laws.concerns_are_sentences(model, X)
    laws.draws_are_rows(model)
    laws.gaps_are_filled(model, X, X, return_std=True)
    laws.gaps_are_filled(model, X, X, draws=2)
    laws.order_is_immaterial(model, model, X)


def test_numbers_that_are_none_are_noticed_in_all_that_is_learned(learned):
    model, _ = learned
    for one in declared(model.Parameters):
        was = getattr(model, one.name)
        if not np.size(was):
            continue  # values of columns that this table has none of
        setattr(model, one.name, np.full_like(was, np.inf) if np.ndim(was) else np.inf)
        assert noticed("infinite", laws.learned_is_finite, model)
        setattr(model, one.name, was)
        may_be_none = one.name in laws._may_say_none(
            type(model).__doc__
        )  # of some kinds of columns
        if one.role.counts and np.isfinite(was).all() and not may_be_none:
            setattr(model, one.name, np.full_like(was, np.nan) if np.ndim(was) else np.nan)
            assert noticed("NaN", laws.learned_is_finite, model)
            setattr(model, one.name, was)
    model.lower_bound_ = np.nan
    assert noticed("lower_bound_", laws.learned_is_finite, model)


def with_cell(values, value):
    values = np.array(values, dtype=float)
    values.flat[0] = value
    return values


def test_hidden_values_that_are_no_law_are_noticed(learned):
    model, X = learned
    right = model.hidden(X)
    for wrong in (right[:-1], with_cell(right, np.nan), with_cell(right, -1.0)):
        model.hidden = lambda X, wrong=wrong: wrong
        assert noticed("hidden", laws.hidden_is_a_law, model, X)
    if model.about.labels:
        model.hidden = lambda X: 2 * right
        assert noticed("does not sum to one", laws.hidden_is_a_law, model, X)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_are_noticed(value, learned):
    model, X = learned
    model.score_samples = lambda X: with_cell(np.zeros(len(X)), value)
    assert noticed("score_samples", laws.scores_are_numbers, model, X)


def test_bounds_that_are_no_mean_score_are_noticed(learned):
    model, X = learned
    laws.bound_is_the_mean_score(model, X, None)
    if model.lower_bound_ is not None and not model.about.sequences:
        model.lower_bound_ += 0.01
        assert noticed("not the mean score", laws.bound_is_the_mean_score, model, X, None)


def test_columns_that_hardly_vary_are_told_from_others():
    assert laws.hardly_varies(np.array([[1.0, 5.0], [1.0 + 1e-13, np.nan], [np.nan, 3.0]]))
    assert not laws.hardly_varies(np.array([[1.0, 5.0], [1.001, np.nan], [np.nan, 5.0]]))
    assert not laws.hardly_varies(np.array([["a", 1.0], ["b", 2.0]], dtype=object))
    assert laws.hardly_varies(np.array([["a", 1.0], ["b", 1.0 + 1e-13]], dtype=object))


@pytest.mark.parametrize("value", [np.nan, 1.5, -0.5])
def test_shares_of_the_unusual_that_are_none_are_noticed(value, learned):
    model, X = learned
    model.unusual = lambda X: with_cell(np.zeros(len(X)), value)
    assert noticed("unusual", laws.unusual_is_a_share, model, X)


def test_tables_that_are_filled_wrongly_are_noticed(learned):
    model, X = learned
    gaps, right = np.isnan(X), model.impute(X)
    wrong = {
        "changes the shape": right[:-1],
        "touches observed cells": right + 1e-9,
        "leaves gaps": X,
        "what is impossible": np.where(gaps, 1e6, right),
    }
    for law, table in wrong.items():
        known = laws.learned_columns(model), filled.possible_ends(model.fitted.possible)
        assert noticed(law, filled.check_filled, X, table, *known)
        model.impute = lambda X, table=table, **options: [table]
        assert noticed(law, laws.gaps_are_filled, model, X, X, draws=1)
    for spread in (-1.0, np.inf):
        model.impute = lambda X, s=spread, **options: (right, np.where(gaps, s, 0.0))
        assert noticed("std", laws.gaps_are_filled, model, X, X, return_std=True)
    model.impute = lambda X, **options: (right, np.ones(X.shape))
    assert noticed("std to observed", laws.gaps_are_filled, model, X, X, return_std=True)


WORDS = np.array([["a", 1.0, "x"], [None, 3.0, "x"], ["b", None, None]], dtype=object)


@pytest.mark.parametrize(
    ("law", "change"),
    [
        ("changes the shape", lambda made: made[:-1]),
        ("touches observed cells", lambda made: with_object(made, (0, 0), "b")),
        ("touches observed cells", lambda made: with_object(made, (0, 1), 1.5)),
        ("leaves gaps", lambda made: with_object(made, (1, 0), "NA")),
        ("what is impossible", lambda made: with_object(made, (1, 0), "c")),
        ("what is impossible", lambda made: with_object(made, (2, 1), 3.5)),
        ("fills what was never seen", lambda made: with_object(made, (2, 2), "x")),
    ],
)
def test_tables_of_words_that_are_filled_wrongly_are_noticed(law, change):
    made = np.array([["a", 1.0, "x"], ["b", 3.0, "x"], ["b", 2.0, None]], dtype=object)
    known = np.array([True, True, False]), np.array([[0.0, 1.0, 0.0], [1.0, 3.0, 0.0]])
    filled.check_filled(WORDS, made, *known)
    assert noticed(law, filled.check_filled, WORDS, change(made), *known)


def with_object(made, place, cell):
    made = made.copy()
    made[place] = cell
    return made


@pytest.mark.parametrize("wrong", [[[0.5, 0.6]], [[np.nan, 1.0]], [[-0.5, 1.5]], [[0.5, 0.5]] * 2])
def test_chances_that_are_none_are_noticed(wrong):
    filled.check_chances({"a": np.array([[0.25, 0.75]])}, 1)
    assert noticed("chances", filled.check_chances, {"a": np.array(wrong)}, 1)


def test_imputers_that_fill_wrongly_are_noticed(monkeypatch):
    X = table(next(iter(MODELS.values())).about)
    right = Imputer().fit(X)
    filling.hold_to_laws(np.random.default_rng(0), right, X, X)
    monkeypatch.setattr(Imputer, "transform", lambda self, X, **options: X)
    assert noticed("leaves gaps", filling.hold_to_laws, np.random.default_rng(0), right, X, X)


def test_other_words_about_cells_that_are_wrong_are_noticed():
    X = table(next(iter(MODELS.values())).about)
    right = {"surprisal": lambda X: np.zeros(X.shape), "kept_features_": np.ones(4, bool)}
    wrong = {
        "surprisal is NaN": {"surprisal": lambda X: np.full(X.shape, np.nan)},
        "surprisal is infinite": {"surprisal": lambda X: np.full(X.shape, np.inf)},
        "surprisal has another": {"surprisal": lambda X: np.zeros(4)},
        "dependence is negative": {"dependence": lambda: -np.ones((2, 2))},
        "dependence is infinite": {"dependence": lambda: np.full((2, 2), np.inf)},
        "dependence is not mutual": {"dependence": lambda: np.array([[0.0, 1.0], [2.0, 0.0]])},
        "says nan": {"explain": lambda: "about nan of it"},
    }
    for law, answers in wrong.items():
        model = SimpleNamespace(**right | answers)
        assert noticed(law, laws.cells_are_told_apart, model, X)


def test_other_answers_that_are_wrong_are_noticed(learned, monkeypatch):
    model, X = learned
    model.sample = lambda n: (np.full((n, 4), np.nan), None)
    assert noticed("sample", laws.draws_are_rows, model)
    model.concerns = lambda X: [SimpleNamespace(sentence="")]
    assert noticed("says nothing", laws.concerns_are_sentences, model, X)
    for low, high, law in ((np.nan, 1.0, "NaN"), (2.0, 1.0, "reversed")):
        one = SimpleNamespace(low=np.array(low), high=np.array(high), std=np.array(1.0))
        model.intervals = lambda X, one=one, **options: {"lower_bound_": one}
        model.lower_bound_ = 1.5
        assert noticed(law, laws.intervals_are_numbers, model, X, None)
    other = type(model)(1).fit(X)
    assert noticed("order", laws.order_is_immaterial, model, other, X)
    better = SimpleNamespace(lower_bound_=1.6)
    assert noticed("one component", laws.one_component_is_no_better, model, better, 60)
    monkeypatch.setattr(laws, "loads", lambda *given: type(model)(2).fit(X + 1))
    assert noticed("differs", laws.file_gives_it_back, model, X)


def test_verbs_that_fail_or_refuse_their_own_table_are_noticed(learned):
    model, X = learned
    assert noticed("ZeroDivisionError that is not ours in it", laws.asked, "it", lambda: 1 // 0)
    assert noticed("it refuses the table", laws.asked, "it", model.hidden, X[:, :2])
    assert laws.asked("it", model.hidden, X[:, :2], may_refuse=True) is None


def test_a_store_that_looks_at_nothing_is_noticed(monkeypatch, tmp_path):
    def trusting():
        return {name: replace(kind, check=lambda model: None) for name, kind in real().items()}

    real = model_files.kinds
    model_files.good_models()
    monkeypatch.setattr(model_files, "kinds", trusting)
    unseen = {"of a loaded model is not finite", "a loaded model fails with"}
    for seed in range(300):
        law, _, defect = outcome(model_files.attack, seed, tmp_path)
        unseen -= {word for word in unseen if defect and word in law}
        if not unseen:
            break
    assert not unseen


def test_commands_that_do_not_speak_in_sentences_are_noticed(monkeypatch):
    app = typer.Typer()

    @app.command()
    def escape():
        print("\x1b[31m")

    @app.command()
    def another_code():
        raise typer.Exit(7)

    @app.command()
    def silent():
        raise typer.Exit(1)

    @app.command()
    def divide():
        print(1 // 0)

    @app.command()
    def disguised():
        try:
            int("x")
        except ValueError as error:
            print(f"Error: {error}, and so on and so on", file=sys.stderr)
            raise typer.Exit(2)  # noqa: B904

    monkeypatch.setattr(commands, "app", app)
    assert noticed("control codes", commands.run, "escape")
    assert noticed("another code", commands.run, "another-code")
    assert noticed("does not say why", commands.run, "silent")
    assert noticed("ZeroDivisionError escapes", commands.run, "divide")
    assert noticed("tells of ValueError, not ours", commands.run, "disguised")


def test_a_command_that_writes_and_fails_is_noticed(monkeypatch, tmp_path):
    def run(*words):
        (tmp_path / "m").write_bytes(b"")
        return SimpleNamespace(exit_code=1, stderr="")

    monkeypatch.setattr(commands, "run", run)
    rng = np.random.default_rng(0)
    assert noticed("disagree", commands.fit, rng, tmp_path / "t.csv", tmp_path / "m")
