"""Kept figures of classes of mixed columns are those that the project claims."""

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def kept(name):
    return json.loads((RESULTS / f"{name}.json").read_text())["figures"]


def test_with_many_rows_the_moments_alone_lead_to_the_best_optimum():
    figures = kept("class_starts_10000")
    assert figures["all"]["tables"] == 240
    assert all(one["moments alone at the best %"] >= 95 for one in figures.values())


def test_with_few_rows_fits_are_no_more_often_worse_than_ten_random_starts_than_better():
    figures = kept("class_starts_1000")["all"]
    assert figures["default worse than ten random %"] <= 5
    assert figures["default worse than ten random %"] <= figures["default better than ten random %"]


def test_one_call_reaches_what_fifty_random_starts_find_on_surveys():
    figures = kept("class_agreement")
    for of in ("all", "not tuned on"):
        assert figures[of]["at the best %"] >= 95  # within .01 nats, five seeds of each fit
        assert figures[of]["least nats more"] > -0.05


@pytest.mark.parametrize("name", ["beside_stepmix_1000", "beside_stepmix_20000"])
def test_fifty_starts_of_stepmix_find_nothing_higher_that_is_nearer_to_the_truth(name):
    for one in kept(name):
        assert one["nats more"] >= -0.1 or one["nats more, other rows"] > 1
        assert one["times faster"] > 30


def test_leaving_out_what_is_said_twice_finds_classes_where_it_is_told():
    for one in kept("class_repeats").values():
        before, after = one["agreement where told, before and after"]
        assert after > before + 0.3
        before, after = one["where not told"]
        assert after == pytest.approx(before, abs=0.02)


def test_bounded_features_begin_nearer_and_find_classes_of_spread_alone():
    figures = kept("class_features")
    assert figures.pop("spread alone found %") >= 95
    assert all(one["ratio"] > 1.05 for one in figures.values())  # the aim was 1.3
    assert figures["10000 rows, spreads tell most"]["ratio"] >= 1.3
