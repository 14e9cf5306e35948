"""A file whose checksum and forms are right, but whose numbers no fit gives, is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.attack.model_files import good_models
from halfseen import GaussianMixture, LatentClass, ModelFileError, load
from halfseen.estimators.serialisation import kind_of
from halfseen.inference.parameters import FRACTION, POSITIVE, SHARE, declared
from halfseen.latent.mixture import OneClass
from halfseen.models import MODELS
from halfseen.persistence import model_file
from halfseen.persistence.container import pack, unpack
from halfseen.persistence.model_file import loads

KINDS = {kind.name: kind for kind in map(kind_of, MODELS.values())}
FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.halfseen"))
WRONG = {POSITIVE: (0.0, -1.0), SHARE: (-0.5, 2.0), FRACTION: (-0.5, 2.0)}


@pytest.fixture(scope="module")
def robust():
    """A model with wild cells and spikes, which has every parameter that there is."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4)) + (np.arange(400) % 2 * 6)[:, None]
    X[:3, 0], X[::3, 1], X[:, 3], X[5:40, 2] = 900.0, 0.0, np.arange(400) % 2, np.nan
    return GaussianMixture(2, covariance_type="tied_diag").fit(X)


def _with_array(data, name, change):
    metadata, arrays = unpack(data, "it")
    values = arrays[name].copy()
    change(values)
    return pack(metadata, arrays | {name: values})


def _with_json(data, section, name, value):
    metadata, arrays = unpack(data, "it")
    content = json.loads(metadata[section])
    content[name] = value
    return pack(metadata | {section: json.dumps(content)}, arrays)


def _refused(data):
    with pytest.raises(ModelFileError, match=r"^it does not hold a whole ") as told:
        loads(data, "it", KINDS)
    return str(told.value)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_what_is_learned_is_finite_and_on_its_scale_in_every_model(path):
    data, model = path.read_bytes(), load(path)
    known = unpack(data, "it")[1]
    for one in declared(model.Parameters):
        name = f"learned.{one.name}"
        if name not in known:
            continue
        place = (..., int(np.flatnonzero(model.kept_features_)[0])) if "d" in one.axes[-1] else ...
        for wrong in (np.inf, -np.inf, *WRONG.get(one.scale, ())):

            def change(values, wrong=wrong, place=place):
                values[place] = wrong

            assert f"'{one.name}' holds" in _refused(_with_array(data, name, change))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS)
def test_no_form_of_any_model_is_loaded_with_numbers_that_no_fit_gives(model):
    """Also of covariances between columns, of words, and of gaps that tell."""
    tried = 0
    for data in (good.data for good in good_models() if good.model == model):
        known, estimator = unpack(data, "it")[1], loads(data, "it", KINDS)
        kept = np.flatnonzero(estimator.kept_features_)[0]
        axes = estimator._model().axes
        for one in declared(estimator.learns(vars(estimator))):
            name, sides = f"learned.{one.name}", axes.get(one.field, one.axes[-1])
            if name not in known or not known[name].size:
                continue
            place = tuple(kept if side in "de" else 0 for side in sides)
            for wrong in (np.inf, -np.inf, *WRONG.get(one.scale, ())):

                def change(values, wrong=wrong, place=place):
                    values[place] = wrong

                words = _refused(_with_array(data, name, change))
                assert f"'{one.name}' holds" in words or "fit together" in words
                tried += 1
    assert tried > 20


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
@pytest.mark.parametrize("name", ["feature_weights_", "observed_fraction_", "value_ranges_"])
def test_what_every_model_has_is_looked_at_too(path, name):
    data = path.read_bytes()
    if f"learned.{name}" not in unpack(data, "it")[1]:
        pytest.skip("a file from before there was such")
    words = _refused(_with_array(data, f"learned.{name}", lambda values: values.fill(np.nan)))
    assert f"'{name}' holds nan, and must be" in words


def test_shares_sum_to_one(robust):
    data = model_file.dumps(robust, kind_of(GaussianMixture))
    words = _refused(_with_array(data, "learned.weights_", lambda values: values.fill(0.4)))
    assert "'weights_' sums to 0.8, and shares sum to 1" in words


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("typical_spreads_", np.nan),
        ("typical_values_", np.nan),
        ("spike_values_", 2.0),
        ("spike_shares_", 0.0),
    ],
)
def test_parameters_that_do_not_fit_together_are_found_by_a_trial(name, value, robust):
    data = model_file.dumps(robust, kind_of(GaussianMixture))
    changed = _with_array(data, f"learned.{name}", lambda values: values.fill(value))
    assert "does not fit together" in _refused(changed)


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("spike_shares_", "spike_values_"),
        ("second_values_", "spike_values_"),
        ("typical_values_", "typical_spreads_"),
        ("typical_spreads_", "typical_values_"),
    ],
)
@pytest.mark.parametrize("feature", range(4))
def test_what_only_some_features_have_no_other_has(name, beside, feature, robust):
    data = model_file.dumps(robust, kind_of(GaussianMixture))

    def known(values):
        values[..., feature] = 0.5

    def unknown(values):
        values[feature] = np.nan

    changed = _with_array(data, f"learned.{beside}", unknown)
    changed = _with_array(changed, f"learned.{name}", known)
    assert f"is known of a feature of which '{beside}' is not" in _refused(changed)


@pytest.mark.parametrize(
    ("section", "name", "value", "words"),
    [
        ("features", "count", True, "it says that it has True features"),
        ("features", "count", 0, "it says that it has 0 features"),
        ("features", "names", ["a", "b", "a", "c"], "it gives several features one name"),
        ("features", "names", "abcd", "it does not name its 4 features"),
        ("learned", "n_components_", 0, "and not"),
        ("learned", "n_iter_", -1, "'n_iter_' holds -1, and must be finite and at least 0"),
        ("learned", "lower_bound_", {"float": "nan"}, "'lower_bound_' holds nan, and must be fini"),
        ("learned", "covariances_", 1.0, r"'covariances_' has shape (), and its parameters make"),
        ("parameters", "tol", -1.0, "The 'tol' parameter of GaussianMixture must be a number of"),
        ("parameters", "method", "best", "The 'method' parameter of GaussianMixture must be"),
        ("parameters", "n_components", 0, "The 'n_components' parameter of GaussianMixture must"),
        ("parameters", "n_jobs", 0, "The 'n_jobs' parameter of GaussianMixture must be an int o"),
    ],
)
def test_what_is_no_array_is_looked_at_too(section, name, value, words, robust):
    data = model_file.dumps(robust, kind_of(GaussianMixture))
    assert words in _refused(_with_json(data, section, name, value))


def test_fields_of_records_are_of_their_types(robust):
    data = model_file.dumps(robust, kind_of(GaussianMixture))
    content = json.loads(unpack(data, "it")[0]["learned"])["diagnostics_"]
    for name, value in (("spectrum", "none"), ("n_empty_rows", 1.5), ("seconds", [3])):
        changed = json.loads(json.dumps(content))
        changed["record"]["fields"][name] = value
        words = _refused(_with_json(data, "learned", "diagnostics_", changed))
        assert f"'{name}' of its Diagnostics is not " in words


def test_a_feature_that_is_not_used_has_its_constant(robust):
    data = model_file.dumps(robust, kind_of(GaussianMixture))

    def leave_out(values):
        values[0] = False

    words = _refused(_with_array(data, "learned.kept_features_", leave_out))
    assert "a feature that it does not use has no constant value" in words


def test_a_model_that_cannot_be_used_is_not_saved(robust, tmp_path):
    broken = GaussianMixture(2).fit(np.random.default_rng(0).normal(size=(90, 3)))
    broken.means_ = broken.means_ * np.nan
    with pytest.raises(ModelFileError, match="'means_' holds nan, and must be finite"):
        broken.save(tmp_path / "m.halfseen")
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def mixed():
    """Classes of a measurement, a count and answers."""
    rng = np.random.default_rng(1)
    group = rng.integers(2, size=300)
    X = np.column_stack(
        [rng.normal(4 * group), rng.poisson(2.0 + 6 * group), rng.integers(3, size=300)]
    )
    return LatentClass(2, kinds={1: "count", 2: "categorical"}, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("kind_codes_", 0, 2.0, "a column of few values has from 1 to 1e+06 of them"),
        ("kind_codes_", 0, 1.0, "does not fit together"),
        ("most_counts_", 1, 1e11, "a column of few values has from 1 to 1e+06 of them"),
        ("most_counts_", 1, -9.0, "a column of few values has from 1 to 1e+06 of them"),
        ("level_values_", (0, 2), np.nan, "values of a column of few values ascend"),
        ("level_values_", (0, 2), 1.0, "values of a column of few values ascend"),
        ("level_shares_", (0, 0, 2), np.nan, "holds shares that do not sum to 1"),
    ],
)
def test_columns_of_few_values_have_them_in_order(name, place, value, words, mixed):
    data = model_file.dumps(mixed, kind_of(LatentClass))

    def change(values):
        values[place] = value

    assert words in _refused(_with_array(data, f"learned.{name}", change))


def test_what_is_drawn_is_tried_too(robust, monkeypatch):
    data = model_file.dumps(robust, kind_of(GaussianMixture))
    loads(data, "it", KINDS)
    monkeypatch.setattr(OneClass, "draw", lambda *given: (np.full((8, 4), np.nan), None))
    assert "it says of rows what is no number" in _refused(data)
