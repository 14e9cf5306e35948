"""What follows from declared parameters, for a model that has every kind of them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.inference.parameters import (
    ANY,
    BEHIND,
    BESIDE,
    GIVEN,
    POSITIVE,
    SHARE,
    SHOWN,
    attributes,
    declared,
    forms,
    learned,
    n_free,
    parameters_of,
    reordered,
    scales,
    select,
)

SPREADS = ("", "k", "d", "kd")


@dataclass(frozen=True, eq=False)
class Waves:
    shares: np.ndarray = learned("shares_", "k", SHARE)
    places: np.ndarray = learned("places_", "kd", ANY)
    spreads: np.ndarray = learned("spreads_", SPREADS, POSITIVE, 0.0)
    drift: np.ndarray = learned("drift_", "d", ANY, -1.0)
    rate: float = learned("rate_", "", POSITIVE)


every_sharing = pytest.mark.parametrize("shared", SPREADS)
some_model = given(seed=st.integers(0, 2**16), k=st.integers(1, 4), d=st.integers(1, 5))
LAW = settings(max_examples=25, deadline=None, derandomize=True)


def waves(rng, k, d, shared="kd"):
    """Spreads (k, d) that differ only along the ``shared`` axes."""
    sides = [k if "k" in shared else 1, d if "d" in shared else 1]
    spreads = np.broadcast_to(rng.random(sides), (k, d))
    return Waves(rng.random(k), rng.normal(size=(k, d)), spreads, rng.random(d), rng.random())


def with_dropped(rng, d):
    """A mask of kept features, d of them, and the constants of the others."""
    kept = rng.permutation(np.repeat([True, False], [d, 3]))
    return kept, np.where(kept, np.nan, rng.normal(size=d + 3))


def assert_same(ours, theirs):
    for one in declared(Waves):
        np.testing.assert_array_equal(getattr(ours, one.field), getattr(theirs, one.field))


def test_every_field_says_its_name_axes_and_scale():
    assert [one.field for one in declared(Waves)] == list(Waves.__dataclass_fields__)
    assert [one.name for one in declared(Waves)] == list(forms(Waves))
    model = waves(np.random.default_rng(0), 2, 3)
    assert declared(model) == declared(Waves)


@some_model
@LAW
def test_selecting_takes_features_from_what_has_features(seed, k, d):
    rng = np.random.default_rng(seed)
    model, features = waves(rng, k, d), rng.random(d) < 0.5
    part = select(model, features)
    np.testing.assert_array_equal(part.places, model.places[:, features])
    np.testing.assert_array_equal(part.spreads, model.spreads[:, features])
    np.testing.assert_array_equal(part.drift, model.drift[features])
    np.testing.assert_array_equal(part.shares, model.shares)
    assert part.rate == model.rate


@some_model
@LAW
def test_reordering_moves_what_components_have(seed, k, d):
    rng = np.random.default_rng(seed)
    model, order = waves(rng, k, d), rng.permutation(k)
    other = reordered(model, order)
    np.testing.assert_array_equal(other.shares, model.shares[order])
    np.testing.assert_array_equal(other.places, model.places[order])
    np.testing.assert_array_equal(other.spreads, model.spreads[order])
    np.testing.assert_array_equal(other.drift, model.drift)
    assert other.rate == model.rate
    assert_same(reordered(other, np.argsort(order)), model)


@some_model
@LAW
def test_selecting_and_reordering_do_not_mind_which_is_first(seed, k, d):
    rng = np.random.default_rng(seed)
    model, features, order = waves(rng, k, d), rng.random(d) < 0.5, rng.permutation(k)
    assert_same(
        reordered(select(model, features), order), select(reordered(model, order), features)
    )


@every_sharing
@some_model
@LAW
def test_parameters_come_back_from_the_attributes(shared, seed, k, d):
    rng = np.random.default_rng(seed)
    model, (kept, constants) = waves(rng, k, d, shared), with_dropped(rng, d)
    axes = {"spreads": shared}
    values = attributes(model, kept, constants, axes)
    assert_same(parameters_of(Waves, values, kept, k, axes), model)


@every_sharing
@some_model
@LAW
def test_attributes_come_back_from_the_parameters(shared, seed, k, d):
    rng = np.random.default_rng(seed)
    kept, constants = with_dropped(rng, d)
    axes = {"spreads": shared}
    values = attributes(waves(rng, k, d, shared), kept, constants, axes)
    again = attributes(parameters_of(Waves, values, kept, k, axes), kept, constants, axes)
    assert again.keys() == values.keys()
    for name, value in values.items():
        np.testing.assert_array_equal(again[name], value, strict=True)


@every_sharing
def test_attributes_have_the_shape_of_their_axes(shared):
    rng = np.random.default_rng(0)
    kept, constants = with_dropped(rng, 4)
    found = attributes(waves(rng, 2, 4, shared), kept, constants, {"spreads": shared})
    shapes = {"": (), "k": (2,), "d": (7,), "kd": (2, 7)}
    assert np.shape(found["spreads_"]) == shapes[shared]
    assert isinstance(found["rate_"], float)
    assert isinstance(found["spreads_"], float) == (shared == "")
    assert {name: np.shape(found[name]) for name in ("shares_", "places_", "drift_")} == {
        "shares_": (2,),
        "places_": (2, 7),
        "drift_": (7,),
    }


def test_features_that_were_left_out_have_their_constant_or_what_was_declared():
    rng = np.random.default_rng(1)
    model = waves(rng, 2, 2)
    kept, constants = np.array([False, True, True]), np.array([7.0, np.nan, np.nan])
    found = attributes(model, kept, constants, {})
    np.testing.assert_array_equal(found["places_"][:, 0], [7.0, 7.0])
    np.testing.assert_array_equal(found["spreads_"][:, 0], [0.0, 0.0])
    assert found["drift_"][0] == -1.0
    np.testing.assert_array_equal(found["places_"][:, 1:], model.places)


def test_what_may_be_shared_has_a_form_for_each_way_of_sharing():
    assert forms(Waves) == {
        "shares_": ("float64[k]",),
        "places_": ("float64[k,d]",),
        "spreads_": ("float", "float64[k]", "float64[d]", "float64[k,d]"),
        "drift_": ("float64[d]",),
        "rate_": ("float",),
    }


def test_every_attribute_has_the_scale_of_its_field():
    assert scales(Waves) == {
        "shares_": SHARE,
        "places_": ANY,
        "spreads_": POSITIVE,
        "drift_": ANY,
        "rate_": POSITIVE,
    }


@pytest.mark.parametrize(("shared", "n_spreads"), [("", 1), ("k", 3), ("d", 5), ("kd", 15)])
def test_free_numbers_are_those_counted_by_hand(shared, n_spreads):
    by_hand = (3 - 1) + 3 * 5 + n_spreads + 5 + 1
    waves_ = waves(np.random.default_rng(0), 3, 5)
    assert n_free(waves_, {"spreads": shared}) == by_hand


def test_one_component_has_no_free_share():
    waves_ = waves(np.random.default_rng(0), 1, 2)
    assert n_free(waves_, {"spreads": ""}) == 0 + 2 + 1 + 2 + 1


def test_what_some_features_do_not_have_is_no_free_number():
    waves_ = waves(np.random.default_rng(0), 3, 5)
    drift = np.where(np.arange(5) < 2, np.nan, waves_.drift)
    whole, part = (n_free(one, {}) for one in (waves_, replace(waves_, drift=drift)))
    assert part == whole - 2


@dataclass(frozen=True, eq=False)
class Roles:
    """One field in each role; (k, d) but for the last."""

    seen: np.ndarray = learned("seen_", "kd", ANY, role=SHOWN)
    own: np.ndarray = learned("own_", "kd", ANY, role=BEHIND)
    beside: np.ndarray = learned("beside_", "kd", ANY, role=BESIDE)
    fact: float = learned("fact_", "", ANY, role=GIVEN, default=1.0)


def test_only_what_is_learned_counts_and_only_what_is_shown_has_intervals():
    numbers = np.ones((2, 3))
    assert n_free(Roles(numbers, numbers, numbers), {}) == 2 * 2 * 3
    assert list(scales(Roles)) == ["seen_"]
    assert list(forms(Roles)) == ["seen_", "own_", "beside_", "fact_"]
