"""The kept figures of robustness, starts and time are those the project claims."""

import pytest

from benchmarks import real_tables, results_file
from benchmarks.contaminated import SETTINGS

DIAG, TIED = "diag", "tied_diag"
FLOORS = {  # of the mean agreement, of both types
    "typos .2 %": 0.95,
    "typos 1 %": 0.95,
    "rows x15": 0.93,
    "t3": 0.88,
    "spike": 0.93,
}
FLOORS_OF_DIAG = {"spikes informative": 0.78, "spikes as nuisance": 0.75, "0/1 columns": 0.80}
CEILINGS_OF_TOPICS = {"one wild cell": 0.07, "five long rows": 0.08}


def kept(name):
    if not (results_file.FOLDER / f"{name}.json").exists():
        pytest.skip(f"{name} has not been measured yet")
    return results_file.figures(name)


def test_outliers_hardly_change_what_is_found():
    figures = kept("robustness")
    for setting, floor in FLOORS.items():
        assert all(figures[setting][kind]["mean"] >= floor for kind in (DIAG, TIED)), setting
    for setting, floor in FLOORS_OF_DIAG.items():
        assert figures[setting][DIAG]["mean"] >= floor, setting
    assert figures["real tables"][TIED]["mean"] >= 0.75
    assert figures["real tables"][DIAG]["mean"] >= 0.63


def test_every_setting_is_measured_on_twenty_tables():
    for setting, row in kept("robustness").items():
        assert {"tied_spherical", TIED, DIAG} <= set(row), setting
        assert all(of["tables"] >= 20 for of in row.values()), setting


def test_nothing_is_found_worse_than_in_0_1():
    figures, before = kept("robustness"), kept("robustness_of_0_1")
    for setting, row in before.items():
        for kind in ("tied_spherical", DIAG):
            lost = row[kind]["mean"] - figures[setting][kind]["mean"]
            assert lost <= (0.002 if setting == "Gauss" else 0.005), (setting, kind)
        # The type with a variance a column takes the place of that with one for all.
        assert row["tied_spherical"]["mean"] - figures[setting][TIED]["mean"] <= 0.005, setting


def test_no_fit_is_better_than_an_oracle_by_more_than_chance():
    for setting in SETTINGS:
        row = kept("robustness_of_0_1")[setting]
        assert row["tied_spherical"]["mean"] <= row["oracle"]["mean"] + 0.002


def test_topics_are_found_in_spite_of_wild_cells_and_long_rows():
    figures, before = kept("topic_outliers"), kept("topic_outliers_of_0_1")
    for kind, ceiling in CEILINGS_OF_TOPICS.items():
        assert figures[kind]["moments"]["mean"] <= ceiling, kind
    assert figures["clean"]["moments"]["mean"] <= 1.02 * before["clean"]["moments"]["mean"]


def test_starts_are_about_as_good_as_twenty_random_ones_in_a_third_of_their_passes():
    """The aim is worse in 15 % and no more often than better: not reached on real tables yet."""
    figures = kept("starts")
    assert figures["tables"] >= 14
    assert len(real_tables.TABLES) >= 14
    real, simulated = figures["real tables"], figures["simulated"]
    assert real["worse %"] <= 30
    assert real["better %"] >= 10
    assert real["passes / theirs"] <= 1 / 3
    assert simulated["worse %"] <= 1


def test_a_fit_takes_little_longer_than_in_0_1():
    ratio = kept("fit_time")["ratio"]
    assert all(of <= 1.5 for of in ratio["clean"].values())
    assert all(of <= 5 for of in ratio["contaminated"].values())
