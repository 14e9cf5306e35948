"""Whatever can be fitted can be asked for concerns."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from halfseen import GammaPoisson, GaussianMixture, ObservedBlocks, load, simulate
from halfseen.diagnostics.concerns import concern as contexts
from halfseen.diagnostics.concerns.concern import Concern

N_ROWS, D = 900, 6
OBSERVED = [1, 1, 1, 1, 0.6, 0.5]
rng = np.random.default_rng(4)
MEANS = rng.normal(0, 3, (3, D))
TOPICS = rng.dirichlet(np.ones(D), 3)
WHOLE = simulate.gaussian_mixture(N_ROWS, [0.4, 0.3, 0.3], MEANS, 1.0, rng)[0]
WHOLE_COUNTS = simulate.gamma_poisson(N_ROWS, TOPICS, np.ones(3), 0.03, rng)[0]
X = simulate.independent_gaps(WHOLE, OBSERVED, rng)
COUNTS = simulate.independent_gaps(WHOLE_COUNTS, OBSERVED, rng)


def kinds(model, table, **options):
    found = model.concerns(table, **options)
    assert all(isinstance(one, Concern) and str(one) == one.sentence for one in found)
    return {one.kind for one in found}


def apart(table):
    """The two features with gaps are never in one row."""
    table = table.copy()
    table[::2, 4] = table[1::2, 5] = np.nan
    return table


@pytest.mark.parametrize("covariance_type", ["tied_spherical", "spherical", "diag"])
@pytest.mark.parametrize("refine", ["em", None])
def test_a_sound_mixture_of_any_shape_gives_none(covariance_type, refine):
    if (covariance_type, refine) != ("diag", None):
        model = GaussianMixture(3, covariance_type=covariance_type, refine=refine)
        assert kinds(model.fit(X), X) == set()


@pytest.mark.parametrize(
    "changed",
    [{"form": "raw"}, {"feature_weights": "signal"}, {"moments": "adjusted"}, {"method": "full"}],
)
def test_a_sound_mixture_learned_in_any_way_gives_none(changed):
    assert kinds(GaussianMixture(3, **changed).fit(X), X) == set()


@pytest.mark.parametrize(
    "changed", [{}, {"feature_weights": "sqrt"}, {"moments": "adjusted"}, {"method": "partial"}]
)
def test_sound_topics_learned_in_any_way_give_none(changed):
    assert kinds(GammaPoisson(3, **changed).fit(COUNTS), COUNTS) == set()


def test_tables_without_gaps_give_none():
    assert kinds(GaussianMixture(3).fit(WHOLE), WHOLE) == set()
    assert kinds(GammaPoisson(3).fit(WHOLE_COUNTS), WHOLE_COUNTS) == set()


def test_one_component_of_several_is_too_few():
    assert "too_few_components" in kinds(GaussianMixture(1).fit(X), X)
    assert "too_few_components" in kinds(GammaPoisson(1).fit(COUNTS), COUNTS)


@pytest.mark.parametrize("n_features", [1, 2])
def test_one_component_of_one_or_two_features_is_not_too_few(n_features):
    noise = np.random.default_rng(0).normal(size=(300, n_features))
    assert kinds(GaussianMixture(1).fit(noise), noise) == set()
    table = WHOLE_COUNTS[:, :n_features]
    assert kinds(GammaPoisson(n_features).fit(table), table) <= {"too_many_components"}


@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
def test_features_that_were_left_out_are_no_concern():
    more = np.column_stack([np.full(N_ROWS, 7.0), X, np.full(N_ROWS, np.nan)])
    assert kinds(GaussianMixture(3).fit(more), more) == set()
    more = np.column_stack([np.full(N_ROWS, 7.0), COUNTS, np.full(N_ROWS, np.nan)])
    assert kinds(GammaPoisson(3).fit(more), more) == set()


@pytest.mark.parametrize(("kind", "table"), [(GaussianMixture, X), (GammaPoisson, COUNTS)])
def test_features_never_together_are_told_and_stop_no_other_check(kind, table):
    model = kind(3, method="partial").fit(apart(table))
    found = {one.kind: one.sentence for one in model.concerns(apart(table))}
    assert set(found) == {"missing_together", "few_joint_observations"}
    assert found["few_joint_observations"].startswith(
        "Features '4' and '5' are never observed together: what the model says of how they go "
    )
    assert found["missing_together"].startswith(
        "Columns are not missing independently of each other: '4' and '5' rather one instead of "
        "the other."
    )


def test_sparse_counts_give_what_dense_ones_do():
    topics = np.vstack([TOPICS[:2], TOPICS[:2].mean(axis=0)])
    table = simulate.gamma_poisson(N_ROWS, topics, np.ones(3), 0.03, np.random.default_rng(0))[0]
    table = simulate.independent_gaps(table, OBSERVED, np.random.default_rng(1))
    dense = GammaPoisson(3).fit(table).concerns(table)
    sparse = GammaPoisson(3).fit(csr_array(table)).concerns(csr_array(table))
    assert [one.kind for one in sparse] == [one.kind for one in dense]
    assert "too_many_components" in dict(dense)
    assert dict(sparse)["too_many_components"] == dict(dense)["too_many_components"]


def test_blocks_of_sparse_counts_are_told_if_they_are_given():
    block = np.array([0, 0, 0, 0, 1, 1])
    has = np.column_stack([np.ones(N_ROWS, bool), np.random.default_rng(0).random(N_ROWS) < 0.5])
    table = simulate.without_blocks(csr_array(WHOLE_COUNTS), block, has)
    observed = ObservedBlocks(block, has)
    model = GammaPoisson(3).fit(table, observed=observed)
    assert kinds(model, table, observed=observed) == {"missing_together"}


def test_files_batches_frames_and_loaded_models_give_the_same(tmp_path):
    frame = pd.DataFrame(np.round(apart(X), 3), columns=list("abcdef"))
    frame.to_csv(tmp_path / "data.csv", index=False)
    model = GaussianMixture(3, method="partial").fit(frame)
    model.save(tmp_path / "model.halfseen")
    expected = model.concerns(frame)
    assert "'e' and 'f'" in expected[0].sentence
    assert model.concerns(tmp_path / "data.csv") == expected
    assert model.concerns([frame[:400], frame[400:]]) == expected
    loaded = load(tmp_path / "model.halfseen")
    assert loaded.concerns(frame) == expected
    assert loaded.concerns(frame[list("fedcba")]) == expected


def test_rows_without_weight_in_the_fit_do_no_harm():
    weights = np.ones(N_ROWS)
    weights[:50] = 0
    assert kinds(GaussianMixture(3).fit(X, sample_weight=weights), X) == set()
    assert kinds(GammaPoisson(3).fit(COUNTS, sample_weight=weights), COUNTS) == set()


def test_of_wide_tables_pairs_of_the_most_telling_features_are_looked_at(monkeypatch):
    monkeypatch.setattr(contexts, "MOST_FEATURES", 5)
    means = np.random.default_rng(0).normal(0, 3, (3, 140)) * np.linspace(0.5, 1.5, 140)
    table = simulate.gaussian_mixture(400, [0.4, 0.3, 0.3], means, 1.0, np.random.default_rng(1))[0]
    table[:200, 139] = np.nan
    model = GaussianMixture(3).fit(table)
    case = model.case(table)
    observed, variance = (~np.isnan(table)).mean(axis=0), np.nanvar(table, axis=0)
    assert set(np.flatnonzero(case.features)) == set(np.argsort(-observed * variance)[:5])
    assert kinds(model, table) == set()


def test_wide_tables_of_counts_are_asked_too():
    topics = np.random.default_rng(0).dirichlet(np.ones(140), 2)
    table = simulate.gamma_poisson(150, topics, np.ones(2), 0.005, np.random.default_rng(1))[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contexts, "MOST_FEATURES", 20)
        patch.setattr("halfseen.diagnostics.intervals.MOST_BYTES", 1e6)
        assert kinds(GammaPoisson(2).fit(table), table) == set()


def test_what_is_not_fitted_or_another_table_is_refused():
    with pytest.raises(NotFittedError):
        GaussianMixture(3).concerns(X)
    with pytest.raises(ValueError, match=r"X has other columns than the model was learned from"):
        GaussianMixture(3).fit(X).concerns(X[:, :5])
    with pytest.raises(ValueError, match=r"groups must hold one label a row, 900 in all"):
        GaussianMixture(3).fit(X).concerns(X, groups=[1, 2])
    with pytest.raises(ValueError, match=r"groups has 2 different labels, too few"):
        GaussianMixture(3).fit(X).concerns(X, groups=np.arange(N_ROWS) % 2)


def test_few_groups_give_parts_that_are_all_there():
    groups = np.arange(N_ROWS) % 12
    assert kinds(GammaPoisson(3).fit(COUNTS), COUNTS, groups=groups) == set()


def rare_events(n_rows, chance, seed):
    """A table of zeros and a few ones."""
    return (np.random.default_rng(seed).random((n_rows, 4)) < chance).astype(float)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("n_rows", "chance"), [(100, 0.03), (300, 0.01), (1000, 0.004)])
def test_rare_events_can_be_asked_about(n_rows, chance, seed):
    """Without some of the rows a column may hold nothing but zeros."""
    table = rare_events(n_rows, chance, seed)
    table = table[:, table.any(axis=0)]
    if np.linalg.matrix_rank(np.cov(table.T)) < 2:
        return  # which a fit refuses, in words
    kinds(GammaPoisson(2).fit(table), table)


@pytest.mark.filterwarnings("ignore")
def test_more_components_than_second_moments_can_tell_apart_can_be_asked_about():
    table = rare_events(100, 0.03, 1)[:, :1]
    model = GaussianMixture(3, outliers=None).fit(table)
    kinds(model, table)
    for interval in model.intervals(table).values():
        assert np.isfinite(interval.low).all()
        assert np.isfinite(interval.high).all()
