"""Each kind of concern, raised where there is cause and told with the numbers that it rests on."""

from copy import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

from benchmarks import alarms
from halfseen import GaussianMixture, choose_components
from halfseen.diagnostics.concerns import concerns_of
from halfseen.diagnostics.number_of_components import N_REPLICATES, rank_test
from halfseen.latent.mixture_concerns import OVERLAP
from halfseen.moments.resampling import Influence

N_ROWS = 1500
NOISE = (alarms.noise_feature, alarms.noise_word)
FEWER_GAPS = np.array([1.0, 1, 1, 1, 1, 0.9, 0.8, 0.8])
"""With these so few rows can tell that a feature is hardly related to others."""
WORLDS = [(kind, world) for kind, some in alarms.CAUSES.items() for world in some]
pytestmark = pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")


@cache
def told(world, seed=0):
    """A table of a world, the model that was fitted to it, and the concerns by kind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alarms, "N_ROWS", N_ROWS)
        if world in NOISE:
            patch.setattr(alarms, "OBSERVED", FEWER_GAPS)
        X, model = world(np.random.default_rng(seed))
    model.fit(X)
    return X, model, [(concern.kind, str(concern)) for concern in model.concerns(X)]


def sentence(world, kind, seed=0):
    return next(sentence for this, sentence in told(world, seed)[2] if this == kind)


@pytest.mark.parametrize("world", alarms.SOUND)
def test_a_sound_model_gives_no_concern(world):
    assert told(world)[2] == []


@pytest.mark.parametrize(("kind", "world"), WORLDS)
def test_a_cause_raises_its_concern(kind, world):
    assert kind in dict(told(world)[2])


# What a cause may raise beside its own kind: one cause can have several signs.
ALSO = {
    "one_too_many": {"overlapping_components", "small_component"},
    "one_topic_too_many": {"overlapping_components", "correlated_components"},
    "one_too_few": {"not_spherical", "dependent_within", "heavy_tails"},
    "overlapping": {"noise_only_feature", "too_many_components", "one_cloud"},
    "uneven_noise": {"too_few_components"},
    "shared_noise": {"too_few_components"},
    "heavy_tails": {"too_few_components", "not_spherical", "too_sure_of_values"},
    "bursty_words": {"too_few_components", "too_sure_of_values", "routes_disagree"},
    "heavy_loadings": {"wild_counts", "long_rows"},
    "noise_word": {"too_sure_of_values"},  # of that word: topics say less of it than they claim
    "shares_that_go_along": {"noise_only_feature"},  # words that hardly any row has
    # Where totals hardly vary, more of one topic is less of the others.
    "fixed_lengths": {"too_many_components", "too_sure_of_values", "correlated_components"},
    "poisson_lengths": {"too_many_components", "too_sure_of_values", "correlated_components"},
}


@pytest.mark.parametrize(("kind", "world"), WORLDS)
def test_a_cause_raises_no_concern_that_it_has_nothing_to_do_with(kind, world):
    assert {this for this, _ in told(world)[2]} <= {kind} | ALSO.get(world.__name__, set())


def test_informative_gaps_are_told_with_the_shift_of_means():
    X, _, _ = told(alarms.telling_gaps)
    missing, first = np.isnan(X[:, 5]), X[:, 0]
    apart = first[missing].mean() - first[~missing].mean()
    error = np.sqrt(first[missing].var() / missing.sum() + first[~missing].var() / (~missing).sum())
    assert sentence(alarms.telling_gaps, "missing_not_at_random").startswith(
        "Gaps are informative: where '5' is missing, '0' is lower by "
        f"{-apart / first.std():.2g} standard deviations ({-apart / error:.0f} standard errors). "
        "Plain averages of columns with gaps may be off. Refinement by likelihood allows for gaps "
        "that depend on what is observed."
    )
    moments = GaussianMixture(3, refine=None).fit(X)
    (found,) = (c for c in moments.concerns(X) if c.kind == "missing_not_at_random")
    assert found.sentence.endswith(
        "Trust what rests on complete columns, and refine by likelihood, which allows for gaps "
        "that depend on what is observed."
    )


def test_blocks_are_told_with_their_columns():
    assert sentence(alarms.blocks, "missing_together") == (
        "Gaps come in groups: these columns are missing together: '5', '6' and '7'. That is "
        "allowed for, but a row that lacks one of them mostly lacks the others, from which it "
        "could be worked out."
    )


def test_rare_pairs_are_told_with_their_rows():
    X, _, _ = told(alarms.rare_pairs)
    together = (~np.isnan(X[:, 6]) & ~np.isnan(X[:, 7])).sum()
    assert 0 < together < 30
    assert sentence(alarms.rare_pairs, "few_joint_observations") == (
        f"Features '6' and '7' are observed together in only {together} rows, too few to say how "
        "they go along: what the model says of that rests on the other columns. Add rows that hold "
        "both if it matters."
    )


@pytest.mark.parametrize("rare", [0, 3])
def test_a_rare_feature_is_told_by_itself_wherever_it_stands(rare):
    X, model, _ = told(alarms.sound_mixture)
    X = X[:, :5].copy()
    X[20:, rare] = np.nan
    model = type(model)(3).fit(X)
    (found,) = (c for c in model.concerns(X) if c.kind == "few_joint_observations")
    assert found.sentence == (
        f"Feature '{rare}' is observed in only 20 rows, too few to say how it goes along with "
        f"others. Leave out ['{rare}'], or add rows that hold more."
    )


@pytest.mark.parametrize("world", NOISE)
def test_unrelated_features_are_named(world):
    assert sentence(world, "noise_only_feature") == (
        "'6' is not related to any other column, as far as these rows can tell, and adds only "
        "noise. Leave out ['6']."
    )


def test_several_unrelated_features_are_told_together():
    X, model, _ = told(alarms.noise_feature)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=len(X))])
    found = dict(type(model)(3).fit(X).concerns(X))["noise_only_feature"]
    assert found.startswith("'6' and '8' are not related to any other column")
    assert found.endswith("and add only noise. Leave out ['6', '8'].")


def of_rank(model, X, number):
    """The rank test of so many components, on the bins that concerns are judged by."""
    case = model.case(X)
    multipliers = np.random.default_rng(0).standard_normal((N_REPLICATES, case.bins.n))
    complete = case.seen.complete[case.features]
    return rank_test(case.pairs, case.fitted.model.cumulants, complete, number, multipliers)


def test_too_many_components_are_told_with_the_test_of_one_fewer():
    X, model, _ = told(alarms.one_too_many)
    test = of_rank(model, X, 3)
    assert sentence(alarms.one_too_many, "too_many_components") == (
        "4 components are more than the second moments support: with 3 the largest eigenvalue "
        f"left, {test.eigenvalue:.3g}, is already within the noise, {test.noise:.3g}. Use fewer, "
        "or n_components='auto' to have the number chosen."
    )


@pytest.mark.parametrize("world", [alarms.one_too_many, alarms.one_too_few])
def test_a_number_that_was_chosen_is_not_called_wrong(world):
    X, model, _ = told(world)
    choice = choose_components(X)
    model = clone(model).fit(X)
    model.diagnostics_ = replace(model.diagnostics_, choice=choice)
    kinds = {concern.kind for concern in model.concerns(X)}
    assert not kinds & {"too_many_components", "too_few_components"}


def test_too_few_components_are_told_with_their_own_test():
    X, model, _ = told(alarms.one_too_few)
    test = of_rank(model, X, 2)
    assert sentence(alarms.one_too_few, "too_few_components") == (
        f"2 components leave an eigenvalue of {test.eigenvalue:.3g} in the second moments, above "
        f"the noise, {test.noise:.3g}. There may be more of them, or columns go along with each "
        "other within components, which the model does not allow for."
    )


def test_overlap_is_told_with_the_shares_that_rows_have_of_two_components():
    X, model, _ = told(alarms.overlapping)
    shares = model.predict_proba(X)
    k = shares.shape[1]
    overlap = np.zeros((k, k))
    for i in range(k):
        for j in range(i):
            both = np.sum(shares[:, i] * shares[:, j])
            overlap[j, i] = both / shares[:, i].sum() + both / shares[:, j].sum()
    i, j = np.unravel_index(overlap.argmax(), overlap.shape)
    assert overlap[i, j] > OVERLAP
    assert sentence(alarms.overlapping, "overlapping_components").startswith(
        f"Component {i} and component {j} overlap: what is observed in a row often cannot tell "
        f"which it is from (overlap {overlap[i, j]:.2f}; 0 is apart, 1 the same)."
    )


def test_topics_that_are_alike_are_told_with_their_cosine():
    _, model, _ = told(alarms.one_topic_too_many, 1)
    a, b = model.components_[[1, 3]]
    cosine = a @ b / np.sqrt(a @ a * (b @ b))
    assert sentence(alarms.one_topic_too_many, "overlapping_components", 1) == (
        f"Component 1 and component 3 are nearly the same (cosine {cosine:.2f}), so loadings are "
        "traded between them. Use fewer topics."
    )


def residuals(X, model, i, j):
    """Mean products of what components leave of two features, in units of the noise."""
    both = ~np.isnan(X[:, i]) & ~np.isnan(X[:, j])
    shares = model.predict_proba(X)[both]
    left = (X[both][:, None, [i, j]] - model.means_[None, :, [i, j]]) / np.sqrt(model.covariances_)
    return float(np.sum(shares * left.prod(axis=2)) / both.sum())


def test_uneven_noise_is_told_as_a_multiple():
    X, model, _ = told(alarms.uneven_noise)
    multiple = np.sum(model.predict_proba(X) * (X[:, 2, None] - model.means_[:, 2]) ** 2) / (
        len(X) * model.covariances_
    )
    assert sentence(alarms.uneven_noise, "not_spherical") == (
        "The noise is not alike in all columns, as the model assumes: within components the "
        f"variance is, as a multiple of what is assumed, {multiple:.2g} for '2'. Let each column "
        "have its own: covariance_type='tied_diag'."
    )


def test_noise_that_goes_along_is_told_with_its_covariance():
    X, model, _ = told(alarms.shared_noise)
    assert sentence(alarms.shared_noise, "dependent_within") == (
        "'0' and '1' go along with each other within components (covariance "
        f"{residuals(X, model, 0, 1):.2g} times the noise), which the model does not allow for. "
        "Some components may stand for that. Let them: covariance_type='auto'."
    )


def test_where_held_out_rows_chose_the_covariance_nobody_is_sent_to_choose_again():
    X, model, _ = told(alarms.shared_noise)
    chosen = copy(model)
    chosen.diagnostics_ = replace(model.diagnostics_, covariance_reason="Rows did.")
    found = next(str(one) for one in chosen.concerns(X) if one.kind == "dependent_within")
    assert found.endswith(
        "Some components may stand for that. Held-out rows were less likely where columns may go "
        "along."
    )


def test_cells_that_look_mistyped_are_told_with_their_column_and_the_furthest():
    X, _, _ = told(alarms.mistyped_cells)
    n_cells = np.count_nonzero(X[:, 2] == 60.0)
    share = n_cells / np.isfinite(X).sum()
    assert sentence(alarms.mistyped_cells, "outlying_cells") == (
        f"{n_cells} cells ({share:.2%}) look mistyped, or are far from all others: '2' ({n_cells}, "
        "such as 60.0). Such cells count for nothing. Look at them; correct them, or mark them as "
        "missing."
    )


def test_heavy_tails_are_not_called_errors():
    found = sentence(alarms.heavy_tails, "heavy_tails")
    assert "of the known cells are further out than components of normal columns" in found
    assert found.endswith(
        "So many are no errors: columns have heavier tails than the model's, or there are more "
        "components than were learned. Such cells count little."
    )


def test_row_totals_are_told_with_their_excess_variance():
    X, _, _ = told(alarms.poisson_lengths)
    full = np.where(np.isnan(X), np.random.default_rng(0).poisson(12.0, X.shape), X)
    model = told(alarms.poisson_lengths)[1]
    total = full.sum(axis=1)
    excess = total.var(ddof=1) / total.mean() ** 2 - 1 / total.mean()
    case = type(model)(1).fit(full).case(full)
    (found,) = (c for c in concerns_of(case) if c.kind == "not_over_dispersed")
    assert f"their excess variance is {excess:.2g} ± " in found.sentence
    assert found.sentence.startswith("Row totals hardly vary more than Poisson counts do: ")
    assert found.sentence.endswith(
        "gamma-Poisson topics are read off just that. They are not to be trusted here. If rows "
        "were cut to a length, or hold a fixed number of items, this is the wrong model."
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_routes_that_disagree_are_told_with_their_ratio(seed):
    _, model, _ = told(alarms.heavy_loadings, seed)
    ratio = 4 / np.asarray(model.diagnostics_.strengths) ** 2 / model.shapes_
    worst = int(np.argmax(np.abs(np.log(ratio))))
    assert sentence(alarms.heavy_loadings, "routes_disagree", seed) == (
        f"Two routes to the shape of component {worst} disagree: third moments give "
        f"{ratio[worst]:.2g} times what second moments give. Loadings are then not "
        "gamma-distributed, or there are more topics; take shapes and likelihoods with care."
    )


def test_the_topic_of_a_disagreement_is_the_models_own_whatever_the_order():
    X, model, _ = told(alarms.heavy_loadings)
    before = sentence(alarms.heavy_loadings, "routes_disagree")
    model = type(model)(3).fit(X)
    model.components_, model.shapes_ = model.components_[::-1], model.shapes_[::-1]
    after = dict(model.concerns(X))["routes_disagree"]
    number = int(before.split("component ")[1][0])
    assert after == before.replace(f"component {number}", f"component {2 - number}")


def case_of(model, X, names, **options):
    """The case of a model whose columns have other names."""
    case = model.case(X)
    return replace(case, fitted=replace(case.fitted, names=names), **options)


def test_names_and_what_components_are_called_are_the_callers():
    X, model, _ = told(alarms.overlapping)
    names = tuple(f"column {letter}" for letter in "abcdefgh")
    told_so = dict(concerns_of(case_of(model, X, names, called="group {:+d}".format)))
    plain = sentence(alarms.overlapping, "overlapping_components")
    i, j = (int(part[0]) for part in plain.lower().split("component ")[1:3])
    assert told_so["overlapping_components"].startswith(f"Group +{i} and group +{j} overlap")
    X, model, _ = told(alarms.noise_feature)
    (found,) = concerns_of(case_of(model, X, names))
    assert found.sentence.startswith("'column g' is not related to any other column")


def test_groups_of_rows_that_depend_on_each_other_have_larger_errors():
    X, model, _ = told(alarms.sound_topics)
    X = np.repeat(X[:300], 5, axis=0)
    by_row, by_group = (
        Influence.on(lambda sums: sums.moments(True).covariance, model.case(X, groups=g).pairs)
        for g in (None, np.repeat(np.arange(300), 5))
    )
    np.testing.assert_allclose(by_row.value, by_group.value)
    ratio = np.median(by_group.error / by_row.error)
    assert 1.9 < ratio < 2.6  # √5 = 2.24


def test_groups_keep_a_chance_finding_from_being_a_concern():
    # What few groups of rows share looks like a component if rows are taken for independent.
    X, model, _ = told(alarms.sound_mixture)
    groups = np.arange(N_ROWS) % 20
    X = X + 0.7 * np.random.default_rng(0).normal(size=(20, X.shape[1]))[groups]
    model = type(model)(3).fit(X)
    assert "too_few_components" in dict(model.concerns(X))
    assert model.concerns(X, groups=groups) == []


def test_a_few_gaps_together_are_no_concern():
    X, model, _ = told(alarms.sound_mixture)
    X = X.copy()
    X[:20, :3] = np.nan
    assert "missing_together" not in dict(clone(model).fit(X).concerns(X))


def test_bursts_are_told_with_their_columns_and_their_size():
    found = sentence(alarms.bursty_words, "bursts")
    assert found.startswith("Counts of '")
    middle = float(found.split("(dispersion ")[1].split(")")[0])
    assert middle == pytest.approx(0.5, rel=0.35)  # the variance of Gamma(2, 1/2)
    assert f"with a standard deviation of {np.sqrt(middle):.0%}"[:-3] in found
    assert found.endswith(
        "What comes in bursts looks like a topic of its own: do not trust topics that are mostly "
        "one such column, nor likelihoods, and compare with a fit without these columns."
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_models_own_draws_do_not_come_in_bursts(seed):
    X, model = alarms.sound_topics(np.random.default_rng(100 + seed))
    kinds = {one.kind for one in model.fit(X).concerns(X)}
    assert not kinds & {"bursts", "wild_counts", "long_rows"}


def test_a_topic_too_few_is_not_taken_for_bursts():
    X, model, _ = told(alarms.sound_topics)
    fewer = type(model)(2).fit(X)
    assert "bursts" not in {one.kind for one in fewer.concerns(X)}


def test_wild_counts_are_told_with_their_column():
    found = sentence(alarms.wild_count, "wild_counts")
    assert found.startswith(
        "1 count is far beyond what the others of the same column allow: in '1', where it should "
        "be at most "
    )
    assert found.endswith(" It was left out of what was learned. Look whether it is an error.")


def test_wild_counts_in_several_columns_are_counted():
    X, model, _ = told(alarms.sound_topics)
    X = X.copy()
    X[7:10, 2], X[11, 4] = 9_000.0, 8_000.0
    found = dict(type(model)(3).fit(X).concerns(X))["wild_counts"]
    assert found == (
        "4 counts are far beyond what the others of the same column allow: most in '2'. They were "
        "left out of what was learned. Look whether they are errors."
    )


def test_long_rows_are_counted():
    found = sentence(alarms.long_rows, "long_rows")
    assert found.startswith("3 rows are far longer than the others: more than ")
    assert found.endswith(
        " is counted there beside the largest count. They were left out of what was learned. Look "
        "whether they are errors."
    )


def test_what_was_not_left_out_may_decide_the_topics():
    X, model, _ = told(alarms.wild_count)
    found = dict(type(model)(3, outliers=None).fit(X).concerns(X))["wild_counts"]
    assert found.endswith(
        " It may decide the topics. Look whether it is an error, or use outliers='auto'."
    )
