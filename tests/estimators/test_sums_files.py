"""Files of sums, and plans: what is written is read again, and nothing else is."""

import json
from dataclasses import replace

import numpy as np
import pytest

from halfseen import (
    DataError,
    GammaPoisson,
    GaussianMixture,
    ModelFileError,
    Plan,
    Stream,
    simulate,
    summed,
)
from halfseen.data.engines.precomputed import MoreSumsNeeded
from halfseen.federated.sums import Stream as Sums
from halfseen.moments import symmetric_tensors

RNG = np.random.default_rng(0)
X = simulate.gaussian_mixture(300, [0.5, 0.5], RNG.normal(0, 4, (2, 4)), 1.0, RNG)[0]
PLAN = Plan.of(X, GaussianMixture(2))
SUMS = summed(X, PLAN)
MODEL = GaussianMixture(2).fit(SUMS)
AT_MODEL = summed(X, PLAN, at=MODEL)


def same(one, other):
    mine, others = one._arrays(), other._arrays()
    assert mine.keys() == others.keys()
    for name, values in mine.items():
        np.testing.assert_array_equal(values, others[name])


@pytest.mark.parametrize("sums", [SUMS, AT_MODEL, GaussianMixture(2).partial_fit(X).stream_])
def test_sums_are_read_as_they_were_written(sums, tmp_path):
    sums.save(tmp_path / "a.sums")
    found = Stream.load(tmp_path / "a.sums")
    assert (found.names, found.plan) == (sums.names, sums.plan)
    same(found, sums)
    assert found.dumped() == sums.dumped()


def test_a_plan_is_read_as_it_was_written(tmp_path):
    PLAN.noised(0.5).save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json") == PLAN.noised(0.5)


def with_first(**changed):
    return replace(SUMS, sums=replace(SUMS.sums, **changed))


def spoiled(array, value, place=0):
    copy = array.copy()
    copy.flat[place] = value
    return copy


FIRST = SUMS.sums
HOSTILE = {
    "no number": (with_first(second=spoiled(FIRST.second, np.nan)), "holds what is no number"),
    "infinite": (with_first(third=spoiled(FIRST.third, np.inf)), "holds what is no number"),
    "short": (with_first(third=FIRST.third[:-1]), "'third' of it is not of 4 columns"),
    "one-sided": (with_first(second=spoiled(FIRST.second, 7.0, 1)), "not those of pairs"),
    "unit": (with_first(unit=-FIRST.unit), "a unit of it is not above zero"),
    "kind": (with_first(whole=FIRST.count[0]), "'whole' of it is not of 4 columns"),
    "counts": (with_first(n_rows=3.0), "it counts rows as no table can"),
    "other plan": (with_first(origin=FIRST.origin + 1), "its sums are not those of its plan"),
    "names": (replace(SUMS, names=("0", "1", "2", "z")), "its sums are not those of its plan"),
    "fewer names": (replace(SUMS, names=("0", "1")), "is not of 2 columns"),
    "round": (replace(SUMS, rounds=({"x": np.array([np.inf])},)), "a round of it holds what is no"),
}


@pytest.mark.parametrize(("sums", "message"), HOSTILE.values(), ids=HOSTILE)
def test_sums_that_cannot_be_are_refused(sums, message):
    with pytest.raises(ModelFileError, match=f"^it does not hold whole sums: .*{message}"):
        Sums.read(sums.dumped(), "it")


def test_many_names_take_no_memory():
    many = replace(SUMS, names=tuple(map(str, range(200_000))))
    with pytest.raises(ModelFileError, match="is not of 200000 columns"):
        Sums.read(many.dumped(), "it")


@pytest.mark.parametrize("place", [9, 40, 120, 700, -5])
def test_a_changed_byte_is_refused(place):
    data = bytearray(SUMS.dumped())
    data[place] ^= 1
    with pytest.raises(ModelFileError):
        Sums.read(bytes(data), "it")


def test_a_model_is_no_file_of_sums_and_sums_are_no_model(tmp_path):
    MODEL.save(tmp_path / "m.halfseen")
    SUMS.save(tmp_path / "a.sums")
    with pytest.raises(ModelFileError, match="is not a file of sums written by halfseen"):
        Stream.load(tmp_path / "m.halfseen")
    from halfseen import load

    with pytest.raises(ModelFileError, match="is not a model saved by halfseen"):
        load(tmp_path / "a.sums")


def test_what_a_round_was_not_asked_for_is_refused():
    wrong = replace(AT_MODEL, rounds=({"share": np.ones(2)},))
    with pytest.raises(DataError, match=r"summed in round 2 is not what is asked there.*Sum again"):
        GaussianMixture(2).fit(wrong)
    with pytest.raises(ModelFileError, match="The model in the sums is not a model saved by"):
        GaussianMixture(2).fit(replace(AT_MODEL, model=b"x" * 300))


def test_rounds_of_different_models_do_not_add():
    other = summed(X, PLAN, at=GaussianMixture(2).fit(AT_MODEL))
    with pytest.raises(DataError, match="not asked for by the same round"):
        AT_MODEL + other
    with pytest.raises(DataError, match="of different plans and cannot be added"):
        SUMS + summed(X, replace(PLAN, least_rows=3))


def test_a_place_answers_only_what_is_asked():
    with pytest.raises(DataError, match="These sums are enough, and nothing more is asked"):
        summed(X, PLAN, at=SUMS)


def edited(**changed):
    return json.dumps(json.loads(PLAN.to_json()) | changed)


def column(**changed):
    return edited(columns=[json.loads(PLAN.to_json())["columns"][0] | changed])


PLANS = {
    "no JSON": ("{", "is not a plan that halfseen can follow"),
    "another": ('{"a": 1}', "it does not say that it is one"),
    "newer": (edited(**{"halfseen plan": 2}), "it is of version 2, and this halfseen knows 1"),
    "unknown": (edited(code="x"), "it says 'code', which plans do not have"),
    "no columns": (edited(columns=[]), "a plan needs columns, each of another name"),
    "list": (edited(columns={}), "its columns are no list"),
    "range": (column(low=5, high=5), "needs low below high"),
    "text": (column(low="x"), "needs low, high, origin and scale, which are numbers"),
    "kind": (column(kind="secret"), "is of kind 'secret', which there is not"),
    "values": (column(kind="categorical"), "needs 2 to 1000 values, as it is categorical"),
    "twice": (column(kind="binary", values=["a", "a"]), "has a value twice"),
    "least": (edited(least_rows=-1), "least_rows is a whole number from 0 on, and not -1"),
    "noise": (
        edited(noise={"epsilon": -1, "delta": 0.1, "norm": 1}),
        "an epsilon and a norm",
    ),
}


@pytest.mark.parametrize(("text", "message"), PLANS.values(), ids=PLANS)
def test_plans_that_cannot_be_followed_say_why(text, message):
    with pytest.raises(DataError, match=message):
        Plan.from_json(text, "plan.json")


def test_a_plan_for_a_model_that_there_is_not_is_refused():
    with pytest.raises(DataError, match="for a model 'magic', and there are gaussian"):
        summed(X, replace(PLAN, model="magic"))
    with pytest.raises(DataError, match="do not make a GaussianMixture"):
        summed(X, replace(PLAN, parameters={"n_components": 0}))


def test_a_plan_needs_a_number_of_components():
    with pytest.raises(ValueError, match=r"a plan is for rows that are not at hand. Say how many"):
        Plan.of(X, GaussianMixture("auto"))


def test_the_size_of_a_file_is_as_the_formula_says():
    for d in (3, 8, 20):
        plan = Plan.of(np.random.default_rng(d).normal(size=(50, d)), GaussianMixture(2))
        none = Stream(plan.names, SUMS.empty().sums, plan)
        size = len(summed(np.random.default_rng(0).normal(size=(50, d)), plan).dumped())
        numbers = symmetric_tensors.size(2 * d) + (2 * d) ** 2 + 4 * d + 2
        assert 8 * numbers <= size <= 8 * numbers + 2500 + 250 * d
        assert none.names == plan.names


def test_many_columns_take_two_rounds_and_little_room():
    rng = np.random.default_rng(0)
    wide = simulate.gaussian_mixture(400, [0.5, 0.5], rng.normal(0, 2, (2, 200)), 1.0, rng)[0]
    plan = Plan.of(wide, GaussianMixture(2))
    first = summed(wide[:200], plan) + summed(wide[200:], plan)
    with pytest.raises(MoreSumsNeeded, match="GaussianMixture asks for more sums than these: 1"):
        GaussianMixture(2).fit(first)
    both = summed(wide[:200], plan, at=first) + summed(wide[200:], plan, at=first)
    assert len(both.dumped()) < 2e6
    own = {"refine": None, "outliers": None, "third_moment": "implicit"}
    wanted, found = GaussianMixture(2, **own).fit(wide), GaussianMixture(2).fit(both)
    np.testing.assert_allclose(found.means_, wanted.means_, rtol=1e-9, atol=1e-9)


def test_models_that_sums_are_not_enough_for_say_so():
    from halfseen.models.hidden_markov import HiddenMarkov

    with pytest.raises(ValueError, match="HiddenMarkov learns from rows that follow each other"):
        HiddenMarkov(2).fit(SUMS)
    with pytest.raises(ValueError, match="'auto' holds rows out to choose, and sums hold none"):
        GaussianMixture(2, covariance_type="auto").fit(SUMS)
    with pytest.raises(ValueError, match="Topics are refined by draws for every row, which sums"):
        GammaPoisson(2)._model().step(None, None)
