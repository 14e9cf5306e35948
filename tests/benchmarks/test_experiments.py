"""The experiments run, and the figures that were kept are those the project claims."""

import json
import sys

import numpy as np
import pytest

from benchmarks import (
    advice,
    alarm_tables,
    alarms,
    cluster_overhead,
    cluster_schedule,
    contaminated,
    coverage,
    defaults,
    fit_time,
    implicit_accuracy,
    implicit_speed,
    imputation,
    number_of_components,
    out_of_core,
    pass_costs,
    refinement,
    results_file,
    robustness,
    rows_way,
    sparse_growth,
    sparse_topics,
    starts,
    third_moment_speed,
    topic_outliers,
    topic_refinement,
    weighting,
)
from benchmarks.comparison import errors, geometric_ratio
from benchmarks.reproduce import data_folder, paper, sepsis
from benchmarks.reproduce.synthetic import PATTERNS, gaussian_world, table
from benchmarks.stage_watch import WITH_ROWS


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


def test_the_default_mixture_is_nearly_as_good_as_em_from_the_truth():
    figures = kept("refinement")["figures"]
    ours, truth, random = (
        figures[name] for name in ("default", "EM from truth", "best of 5 random EM")
    )
    assert ours["ratio to truth"] <= 1.15
    assert ours["median error"] <= 1.05 * truth["median error"]
    assert ours["ratio to truth"] < random["ratio to truth"]
    assert ours["seconds"] <= random["seconds"] / 5
    assert ours["rmse / paper"] <= 0.55


def test_stochastic_em_helps_and_regression_beats_division():
    figures = kept("topic_refinement")["figures"]
    assert figures["saem"]["ratio to moments"] <= 0.85
    assert figures["saem"]["ratio to saem from truth"] <= 1.10
    assert figures["moments"]["L1 / divided, w = p"] <= 0.75


def test_mixtures_impute_better_than_means():
    figures = kept("imputation")["figures"]
    assert figures["mixture, K=18"]["rmse"] < figures["column means"]["rmse"]


def test_the_passes_of_a_fit_cost_a_few_plain_sums():
    figures = kept("pass_costs")["figures"]
    for threads in ("1", "2"):
        before, after = (figures[version][threads] for version in ("before", "after"))
        assert after["total"] <= 25
        assert after["total"] <= before["total"] / 2
        for stage in pass_costs.STAGES:
            assert after[stage] <= max(before[stage], 0.1)


def test_the_way_of_a_row_through_the_moments_goes_through_as_many_modules_as_there_are_concepts():
    assert rows_way.entered(["a", "a", "b", "a", "c", "c"]) == {"a": 2, "b": 1, "c": 1}
    way = rows_way.entered(rows_way.called(rows_way.table(), **rows_way.MOMENTS))
    assert {"data.engines.memory", "moments.survey"} <= set(way)
    odd_tables = {
        "moments.numerical_checks",
        "data.compiled",
        "io.validation",
    }
    words = {"io.coding"}  # asked whether any column holds categories
    assert len(set(way) - odd_tables - words - {"data.interrupts", "inference.small_tables"}) <= 35
    assert way.total() <= kept("rows_way")["figures"]["by moments"]["switches"]


def test_an_em_iteration_costs_little_more_than_its_products():
    for row in kept("em_speed")["figures"].values():
        assert row["ratio"] <= 2


def test_the_implicit_third_moment_is_as_accurate_as_the_explicit_one():
    for name, row in kept("implicit_accuracy")["figures"].items():
        limit = 0.02 if name.startswith("independent") else 0.03
        assert abs(row["implicit / explicit"] - 1) <= limit


def test_a_fit_that_never_forms_the_third_moment_is_fast_and_as_accurate():
    figures = kept("implicit_speed")["figures"]
    assert figures["times faster"] >= 40
    assert abs(figures["implicit / explicit error"] - 1) <= 0.03


def test_the_product_of_chances_is_far_off_where_features_are_missing_together():
    for name, row in kept("implicit_accuracy")["figures"].items():
        if name.startswith("together"):
            assert row["product / explicit"] >= 2
        if name.startswith("entangled"):
            assert abs(row["implicit / explicit"] - 1) <= 0.03


def test_a_large_sparse_table_is_fitted_in_little_time_and_memory():
    figures = kept("sparse_topics")["figures"]
    assert figures["fit / product"] <= 50
    assert figures["peak memory GB"] <= 3 * figures["matrix GB"] + 1
    assert figures["mean angle"] <= 0.08


def test_the_time_of_a_sparse_fit_grows_as_what_it_holds():
    figures = kept("sparse_growth")["figures"]
    assert len(figures) >= 5
    for series in sparse_growth.SERIES:
        ratios = np.array(sparse_growth.ratios(figures, series))
        assert 1.7 <= np.exp(np.log(ratios).mean()) <= 2.3
        assert (ratios <= 2.3).all()


def test_files_are_fitted_in_little_memory_and_few_passes():
    figures = kept("out_of_core")["figures"]
    assert figures["peak memory GB"] < 1.5
    for stage in ("features", "pairs of features", "triples of features"):
        assert figures[f"{stage}: of a plain scan's speed"] >= 0.3


def tables_of(experiment):
    return {f"{world}, {gaps}" for world in experiment.WORLDS for gaps in experiment.PATTERNS}


def test_the_right_number_of_components_is_chosen_nearly_always():
    figures = kept("number_of_components")["figures"]
    assert set(figures) == tables_of(number_of_components)
    assert len(figures) == 3
    for ways in figures.values():
        assert ways["halfseen"]["exact"] >= 0.88


def test_clouds_are_called_one_and_groups_are_counted_in_few_fits():
    figures = kept("number_of_groups")["figures"]["summary"]
    for n, least in ((300, 0.9), (1000, 0.9), (5000, 0.8)):
        for gaps in ("complete", "30 % gaps"):
            row = figures[f"clouds, n = {n}, {gaps}"]
            assert row["called one"] >= least, (n, gaps)
            assert row["clear groups"] <= 0.02, (n, gaps)
            assert row["most fits"] <= 60, (n, gaps)
    assert figures["clouds, n = 100000, complete"]["most fits"] <= 25
    assert figures["groups"]["exact"] >= 0.75
    assert figures["groups"]["adjusted Rand"] >= 0.80
    assert figures["labelled"]["adjusted Rand"] >= 0.60


def test_confidence_intervals_hold_the_truth_as_often_as_they_say():
    figures = kept("coverage_mixtures")["figures"]
    assert set(figures) == tables_of(coverage)
    for held in figures.values():
        for name in {"means_", "weights_", "components_"} & set(held):
            assert 0.92 <= held[name] <= 0.98
        assert held["times a fit"] <= 60


def test_intervals_of_probabilities_near_zero_and_one_hold_the_truth():
    figures = kept("coverage_probabilities")["figures"]
    assert set(figures) == set(coverage.PROBABILITIES)
    for name, cell in figures.items():
        assert cell["tables"] >= 200 - cell["fewer components"]
        truths = {f"{one:g}" for one in coverage.TRUTHS} & set(cell)
        assert len(truths) == (0 if "states" in name else 4)
        assert all(0.90 <= cell[one] <= 0.99 for one in truths), name
        assert cell.get("transition_", 1.0) >= 0.90, name


def test_concerns_are_raised_where_there_is_cause_and_hardly_ever_elsewhere():
    figures = kept("alarms")["figures"]
    assert set(figures) == set(alarms.CAUSES)
    for kind, row in figures.items():
        sound = {one.__name__ for one in (*alarms.SOUND, *alarms.ALSO_SOUND.get(kind, ()))}
        assert set(row["detected"]) == {world.__name__ for world in alarms.CAUSES[kind]}
        assert all(rate >= 0.90 for rate in row["detected"].values()), kind
        assert set(row["false alarms"]) == sound
        assert all(rate <= 0.05 for rate in row["false alarms"].values()), kind


def test_sound_tables_of_every_model_raise_hardly_any_concern_and_five_faults_are_found():
    figures = kept("alarms_every_model")["figures"]
    faulty = [world for worlds in alarm_tables.FAULTS.values() for world in worlds]
    assert set(figures) == {world.__name__ for world in (*alarm_tables.SOUND, *faulty)}
    assert all(row["tables"] >= 200 for row in figures.values())
    for world in alarm_tables.SOUND:
        assert figures[world.__name__]["false alarms"] <= 0.05, world
    for world in faulty:
        assert figures[world.__name__]["detected"] >= 0.80, world


def test_advice_is_right_when_it_is_printed_and_printed_where_there_is_cause():
    figures = kept("advice")["figures"]
    assert set(figures) == {judge.__name__ for judge in advice.KINDS}
    for judge, worlds in advice.KINDS.items():
        row = figures[judge.__name__]
        assert set(row["printed"]) == {world.__name__ for world in worlds}
        assert row["right"] >= 0.95, judge
        assert row["printed"][worlds[0].__name__] >= 0.7, judge


@pytest.mark.parametrize("judge", advice.KINDS)
def test_advice_is_judged_by_a_table_of_the_world(judge):
    cause, *others = advice.KINDS[judge]
    assert True in advice.verdicts(judge, cause, range(3))
    assert None in advice.verdicts(judge, others[-1], range(3))


def test_alarms_are_those_of_a_table_of_the_world(monkeypatch):
    monkeypatch.setattr(alarms, "N_ROWS", 1200)
    assert alarms.raised(alarms.sound_mixture, 0) == set()
    assert alarms.raised(alarms.blocks, 0) == {"missing_together"}
    assert alarms.raised(alarms.rare_pairs, 0) == {"few_joint_observations"}


def test_choices_are_counted_by_their_errors():
    found = [
        {"true": 2, "halfseen": 2},
        {"true": 3, "halfseen": 4},
        {"true": 4, "halfseen": 4},
        {"true": 2, "halfseen": 1},
    ]
    assert number_of_components._summary(found) == {
        "halfseen": {
            "exact": 0.5,
            "errors": {"-1": 1, "0": 2, "1": 1},
            "exact of 2": 0.5,
            "exact of 3": 0.0,
            "exact of 4": 1.0,
        }
    }


def test_every_way_of_choosing_is_tried_on_a_table(monkeypatch):
    monkeypatch.setattr(number_of_components, "MOST", 3)
    found = number_of_components.choices("gamma-Poisson", "high", 400, seed=1)
    assert found["true"] == 3
    assert set(found) == {"true", "halfseen", "spectrum alone", "BIC, spherical", "BIC, full"}
    assert all(1 <= number <= 3 for number in found.values())


@pytest.mark.parametrize("world", coverage.WORLDS)
def test_intervals_of_one_table_hold_most_of_the_truth(world):
    found = coverage.held(world, "high", 0)
    assert found.pop("times a fit") > 0
    assert len(found) == 3
    assert all(0 <= share <= 1 for share in found.values())
    assert found.get("means_", found.get("components_")) >= 0.8


@pytest.mark.parametrize("name", ["2 classes, 200 rows, complete", "2 states, 20 x 10 rows, gaps"])
def test_intervals_of_probabilities_of_one_table_hold_most_of_the_truth(name):
    found = coverage.quietly(coverage.PROBABILITIES[name], 0)
    assert np.mean(np.concatenate([one.ravel() for one in found.values()])) >= 0.7


def test_fits_survive_a_worker_killed_in_every_stage():
    figures = kept("dying_workers")["figures"]
    assert figures["right results"] == figures["fits"] >= 20
    assert figures["largest difference from memory"] <= 1e-9
    assert set(figures["workers killed"]) == set(WITH_ROWS)
    assert all(number >= 20 for number in figures["workers killed"].values())


def test_worker_processes_cost_little_more_than_threads():
    figures = kept("cluster_overhead")["figures"]
    assert figures["folder GB"] >= 4
    assert figures["workers / threads"] <= 1.8
    assert figures["client's peak memory GB"] < 0.6
    assert figures["largest difference"] <= 1e-9
    planned = cluster_overhead.planned(figures["stages s"])
    assert figures["bytes to the client"] == pytest.approx(planned, rel=0.2)


def test_the_simulated_schedule_agrees_with_the_formula_and_with_real_workers():
    figures = kept("cluster_schedule")["figures"]
    for name in ("mixture", "topics"):
        hours = figures[name]["hours"]
        assert list(map(int, hours)) == cluster_schedule.WORKERS
        for row in hours.values():
            assert row["simulated"] == pytest.approx(row["formula"], rel=0.25)
        assert hours["16"]["simulated"] <= hours["1"]["simulated"] / 12
    for row in figures["check"].values():
        assert row["simulated s"] == pytest.approx(row["measured s"], rel=0.2)


def test_the_page_on_scale_shows_what_was_kept():
    page = (cluster_schedule.DOCS / "scale.md").read_text(encoding="utf-8")
    made = cluster_schedule.tables(kept("cluster_schedule")["figures"])
    assert cluster_schedule.filled(page, made) == page
    with pytest.raises(ValueError, match="the page has no place for 'check'"):
        cluster_schedule.filled("", {"check": ""})


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


SMALL = {
    pass_costs: "--rows 3000 --repeats 1 --rounds 1",
    rows_way: "",
    coverage: "probabilities --sets 1 --jobs 1 --only 20",
    weighting: "--rows 4000 --seeds 2",
    defaults: "--rows 4000 --seeds 2",
    third_moment_speed: "--rows 4000 --features 8",
    refinement: "--rows 4000 --seeds 1",
    implicit_accuracy: "--rows 3000 --seeds 2",
    implicit_speed: "--rows 3000",
    out_of_core: "--rows 20000",
    cluster_overhead: "--rows 20000",
    cluster_schedule: "--small",
    sparse_topics: "--rows 1500 --words 600 --topics 2",
    topic_refinement: "--rows 3000 --seeds 1 --sweeps 20 --jobs 1",
    contaminated: "--seeds 1",
    robustness: "--settings Gauss iris --seeds 1 --types diag",
    topic_outliers: "--rows 1500 --seeds 1 --kinds clean --ways moments",
    starts: "--tables iris --numbers 2 --starts 2 --simulated 0",
    fit_time: "--rows 3000 --repeats 1 --rounds 1",
}


@pytest.mark.parametrize("module", SMALL)
def test_every_experiment_runs_small_and_keeps_nothing_unless_asked(module, monkeypatch, capsys):
    def refuse(*args):
        raise AssertionError("nothing was to be kept")

    monkeypatch.setattr(sys, "argv", ["x", *SMALL[module].split()])
    monkeypatch.setattr(results_file, "write", refuse)
    module.main()
    assert capsys.readouterr().out


def test_half_of_the_words_of_the_sparse_experiment_are_complete_and_none_is_counted_in_a_gap():
    data = sparse_topics.documents(3000, 100, 2)
    block, seen = data.observed.arrays(*data.counts.shape)
    assert np.bincount(block).tolist() == [50, 13, 13, 12, 12]
    np.testing.assert_allclose(seen.mean(axis=0), sparse_topics.OBSERVED, atol=0.03)
    table = data.counts.toarray()
    assert (table[~seen[:, block]] == 0).all()
    lengths = table[:, block == 0].sum(axis=1)
    expected = sparse_topics.MEAN_LENGTH * data.topics[:, block == 0].sum(axis=1).mean()
    np.testing.assert_allclose(lengths.mean(), expected, rtol=0.15)
    again = sparse_topics.documents(3000, 100, 2)
    np.testing.assert_array_equal(table, again.counts.toarray())


def test_results_are_kept_with_their_command(tmp_path, monkeypatch):
    monkeypatch.setattr(results_file, "FOLDER", tmp_path / "results")
    path = results_file.write("thing", "python -m thing", {"figure": 1.5})
    content = json.loads(path.read_text())
    assert content["command"] == "python -m thing"
    assert content["figures"] == {"figure": 1.5}
    assert "numpy" in content["versions"]


@pytest.mark.parametrize("name", imputation.IMPUTERS)
@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
def test_every_imputer_fills_every_gap_and_nothing_else(name):
    rng = np.random.default_rng(0)
    table = rng.standard_normal((400, 20)) + rng.integers(3, size=(400, 1))
    gappy = np.where(rng.random(table.shape) < 0.02, np.nan, table)
    filled = imputation.IMPUTERS[name](gappy[:300], gappy[300:])
    seen = ~np.isnan(gappy[300:])
    assert np.isfinite(filled).all()
    np.testing.assert_allclose(filled[seen], gappy[300:][seen])


@pytest.mark.skipif(data_folder.find(sepsis.FILE) is None, reason="the sepsis table is not at hand")
def test_the_sepsis_table_is_split_by_patient_and_standardised():
    stays = sepsis.load()
    train, test = sepsis.split_by_patient(stays, 0.2, seed=0)
    assert len(stays.names) == 32
    assert len(train) + len(test) == len(stays.values)
    assert abs(np.nanmean(train)) < 0.02
    assert np.nanmax(np.abs(test)) <= sepsis.LIMIT


def test_a_missing_sepsis_table_is_told_with_where_to_get_it(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HALFSEEN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="Get training set A of the PhysioNet/CinC Chall"):
        sepsis.load()


def test_the_sepsis_table_has_telling_gaps_in_blocks_and_patients_that_widen_intervals():
    figures = kept("sepsis_sureness")["figures"]
    said = " ".join(figures["the report says"])
    assert "Gaps are informative" in said
    assert "these columns are missing together" in said
    assert all(ratio["median"] > 2 for ratio in figures["interval by patient / by row"].values())


def test_adjusted_moments_are_at_least_as_good_as_available_ones():
    for patterns in kept("adjusted")["figures"].values():
        assert set(patterns) == set(PATTERNS)
        assert all(ratio <= 1.0 for ratio, _ in patterns.values())
