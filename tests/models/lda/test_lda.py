"""Latent Dirichlet allocation against enumeration, quadrature and known truth."""

import itertools
import re

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array
from scipy.special import digamma, gammaln

from halfseen import (
    DroppedFeatureWarning,
    GammaPoisson,
    LatentDirichletAllocation,
    WeakMomentsWarning,
)
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block
from halfseen.diagnostics.recovery import match
from halfseen.latent.importance_sampling import importance_sample
from halfseen.latent.loadings import loading_means, unrecorded, variance_along
from halfseen.latent.topic_refinement import document_completion, should_refine
from halfseen.models.lda import Shares, given_length
from halfseen.models.lda.parameters import TURNS, LdaParameters, found_lengths
from halfseen.models.lda.stochastic_em import Sweeps, likeliest_alpha
from halfseen.moments.survey import survey
from tests.models.geweke import FAR, apart

ALPHA = np.array([0.5, 0.9, 0.6])
TOPICS = np.array([[0.6, 0.2, 0.1, 0.1], [0.1, 0.1, 0.5, 0.3], [0.1, 0.5, 0.1, 0.3]])
TWO = LdaParameters(TOPICS[:2], ALPHA[:2], 1.7, 0.2)


def documents(length):
    """Every row of ``length`` items with its chance, from all sequences of topics and words."""
    k, d = TOPICS.shape
    found = {}
    for topics in itertools.product(range(k), repeat=length):
        held = np.bincount(topics, minlength=k)
        log = gammaln(ALPHA.sum()) - gammaln(ALPHA.sum() + length)
        log += (gammaln(ALPHA + held) - gammaln(ALPHA)).sum()
        words = TOPICS[topics[0]]
        for topic in topics[1:]:
            words = words[..., None] * TOPICS[topic]
        for row, chance in np.ndenumerate(words):
            counts = tuple(np.bincount(row, minlength=d))
            found[counts] = found.get(counts, 0.0) + chance * np.exp(log)
    return np.array(list(found), float), np.array(list(found.values()))


@pytest.fixture(scope="module")
def population():
    """Rows of three and of five items with the gaps that they may have, chances and lengths."""
    rows, chances = [], []
    for length, share in ((3, 0.4), (5, 0.6)):
        X, p = documents(length)
        for mask in itertools.product([True, False], repeat=2):
            seen = np.array([True, True, *mask])
            often = np.prod(np.where(mask, [0.7, 0.4], [0.3, 0.6]))
            rows.append(np.where(seen, X, np.nan))
            chances.append(np.column_stack([share * often * p, np.full(len(p), length)]))
    return np.vstack(rows), *np.vstack(chances).T


def fitted(X, chances, **options):
    model = LatentDirichletAllocation(
        3, concentration=2.0, refine=None, outliers=None, incomplete_features="divide"
    )
    model.fit(X, sample_weight=1e14 * chances, **options)
    order = match(model.components_, TOPICS)
    return model.components_[order], model.alpha_[order]


def test_topics_of_all_documents_there_can_be_are_those_that_they_come_from(population):
    X, chances, _ = population
    whole = ~np.isnan(X).any(axis=1)
    topics, alpha = fitted(X[whole], chances[whole])
    np.testing.assert_allclose(topics, TOPICS, atol=1e-10)
    np.testing.assert_allclose(alpha, ALPHA, atol=1e-10)


def test_so_are_those_of_documents_with_gaps_whose_lengths_are_known(population):
    X, chances, lengths = population
    topics, alpha = fitted(X, chances, totals=lengths)
    np.testing.assert_allclose(topics, TOPICS, atol=1e-10)
    np.testing.assert_allclose(alpha, ALPHA, atol=1e-10)


def test_gaps_taken_for_zeros_lead_elsewhere(population):
    X, chances, _ = population
    topics, _ = fitted(np.nan_to_num(X), chances)
    assert np.abs(topics - TOPICS).sum(axis=1).mean() > 0.05


def test_unknown_lengths_are_right_on_average_and_so_are_the_shares_of_features(population):
    X, chances, lengths = population
    rows = MemoryRows(X, tuple("abcd"), 1e6 * chances)
    mean = np.nansum(chances[:, None] * X, axis=0) / (chances @ ~np.isnan(X))
    found = found_lengths(rows, mean, False, None)
    np.testing.assert_allclose(found.share, ALPHA / ALPHA.sum() @ TOPICS, atol=1e-10)
    each = found(Block.from_table(X))
    for seen in np.unique(~np.isnan(X), axis=0):
        own = chances * (~np.isnan(X) == seen).all(axis=1)
        assert own @ each == pytest.approx(own @ lengths, rel=1e-10)


def test_lengths_and_shares_are_found_by_turns_as_by_hand():
    _, _, _, X = simulated(n=50, d=6)
    names, mean = tuple("abcdef"), np.arange(1.0, 7.0)
    found = found_lengths(MemoryRows(X, names), mean, False, None)
    share, lengths = mean / mean.sum(), np.zeros(50)
    for _ in range(TURNS):
        for n, row in enumerate(X):
            seen = sum(share[d] for d in range(6) if not np.isnan(row[d]))
            lengths[n] = np.nansum(row) / seen if seen > 0 else 0.0
        held = ~np.isnan(X)
        share = np.array([np.nansum(X[:, d]) / lengths[held[:, d]].sum() for d in range(6)])
        share /= share.sum()
    np.testing.assert_allclose(found.share, share, atol=1e-12)


def integrated(counts, observed, law, rest=None, points=4000):
    """``p(x)`` of two topics by quadrature over θ and the closed form over the length."""
    u = (np.arange(points) + 0.5) / points
    first = stats.beta.ppf(u, *law.shapes)
    shares = np.column_stack([first, 1 - first]) @ law.topics  # (m, d)
    seen = shares[:, observed].sum(axis=1)
    x, exposure = counts[observed], seen
    log = (x * np.log(shares[:, observed])).sum(axis=1) - gammaln(x + 1).sum()
    if rest is not None:
        log += rest * np.log(1 - seen) - gammaln(rest + 1)
        exposure, x = np.ones(points), np.append(x, rest)
    total, shape = x.sum(), law.length_shape
    log += gammaln(shape + total) - gammaln(shape) + shape * np.log(law.rate)
    log -= (shape + total) * np.log(law.rate + exposure)
    return np.log(np.exp(log).mean())


@pytest.mark.parametrize("shape", [0.4, 1.7, 300.0])
@pytest.mark.parametrize("rest", [None, 0.0, 6.0])
def test_likelihoods_are_integrals_over_shares_and_lengths(shape, rest):
    law = LdaParameters(TOPICS[:2], ALPHA[:2], shape, shape / 9)
    X = np.array([[3, 0, np.nan, 2.0], [0, 4, 1, np.nan], [1, 1, np.nan, np.nan]])
    block = Block.from_table(X)
    known = None if rest is None else unrecorded(block, law.topics, np.nansum(X, axis=1) + rest)
    found = importance_sample(block, law, 0, rest=known)
    for row, log, error in zip(X, found.log_likelihood, found.standard_error, strict=True):
        exact = integrated(row, ~np.isnan(row), law, rest)
        assert abs(log - exact) < 5 * error + 1e-3


def test_items_given_their_number_have_the_probabilities_of_sequences():
    X, chances = documents(3)
    law = LdaParameters(TOPICS, ALPHA, 1.0, 0.1)
    log, items = given_length(Block.from_table(X), law)
    ways = np.exp(gammaln(4) - gammaln(X + 1).sum(axis=1))
    np.testing.assert_allclose(np.exp(log), chances / ways, rtol=0.1)  # of 512 draws
    assert (np.exp(log) * ways).sum() == pytest.approx(1, abs=0.01)
    assert (items == 3).all()


def test_nothing_recorded_says_nothing_and_completion_knows_half():
    X = np.array([[0.0, 0, 0, 0], [400, 100, 0, 0], [0, 0, np.nan, 300]])
    log, items = given_length(Block.from_table(X), TWO)
    assert log[0] == items[0] == 0
    log, items = document_completion(Block.from_table(X), TWO)
    np.testing.assert_allclose(items, [0, 250, 150], atol=40)
    assert log[2] == pytest.approx(items[2] * np.log(0.3 / 0.5), rel=0.1)  # topic two, but a gap


def test_means_and_variances_of_loadings_are_those_of_draws():
    drawn = Shares(1, 0.1, None).drawn(TWO, 200_000, np.random.RandomState(0))
    np.testing.assert_allclose(drawn.mean(axis=0), loading_means(TWO), rtol=0.02)
    along = np.array([[1.0, 0.3], [0.0, 1.0]])
    np.testing.assert_allclose((drawn @ along.T).var(axis=0), variance_along(TWO, along), rtol=0.04)


@pytest.mark.parametrize("totals_known", [False, True])
def test_sweeps_leave_the_law_of_loadings_and_counts_as_it_is(totals_known):
    """Counts drawn given loadings, and loadings by a sweep given counts, by turns (Geweke)."""
    rng, kind = np.random.default_rng(0), Shares(1, 0.1, None)
    fresh, loadings = (kind.drawn(TWO, 6000, np.random.RandomState(s)) for s in (1, 2))
    seen = rng.random((6000, 4)) < [1, 0.7, 0.5, 0.6]
    for number in range(4):
        whole = rng.poisson(loadings @ TWO.topics)
        X = np.where(seen, whole, np.nan)
        sweeps = Sweeps(3, whole.sum(axis=1).astype(float) if totals_known else None)
        step = sweeps.drawn(TWO, number)
        loadings = step(Block.from_table(X), loadings)[1]

    def functions(a):
        logs = np.log(np.maximum(a, 1e-12))
        return np.hstack([a, a**2, logs, a[:, :1] * a[:, 1:], a.sum(axis=1, keepdims=True) > 8])

    assert apart(functions(fresh), functions(loadings)) < FAR


def test_the_likeliest_alpha_solves_its_equation():
    mean_log = np.log(np.random.default_rng(0).dirichlet(ALPHA, 500)).mean(axis=0)
    found = likeliest_alpha(np.ones(3), mean_log)
    np.testing.assert_allclose(digamma(found) - digamma(found.sum()), mean_log, atol=1e-9)


def simulated(n=700, d=40, seed=5, length=30):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(d, 0.3), 3)
    lengths = 3 + rng.poisson(rng.gamma(2.0, length / 2, n))
    shares = rng.dirichlet(np.full(3, 0.3), n) @ topics
    X = np.array([rng.multinomial(m, p) for m, p in zip(lengths, shares, strict=True)], float)
    return topics, lengths, X, np.where(rng.random(X.shape) < np.linspace(0.4, 1.2, d), X, np.nan)


def off(model, topics):
    return np.abs(model.components_[match(model.components_, topics)] - topics).sum(axis=1).mean()


def test_refinement_comes_nearer_to_topics_with_gaps_and_says_why_it_was_done():
    topics, lengths, _, X = simulated()
    bare = LatentDirichletAllocation(3, random_state=0, refine=None).fit(X, totals=lengths)
    model = LatentDirichletAllocation(3, random_state=0, n_sweeps=40).fit(X, totals=lengths)
    unknown = LatentDirichletAllocation(3, random_state=0, n_sweeps=40).fit(X)
    assert off(model, topics) < 0.8 * off(bare, topics)
    assert off(unknown, topics) < 0.9 * off(bare, topics)
    assert "less than 1 moments alone are noisy" in model.diagnostics_.refine_reason
    assert model.n_iter_ == 40
    assert bare.diagnostics_.refine_reason == ""


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
def test_batches_and_sparse_matrices_are_refined_to_what_one_table_gives():
    _, _, X, gappy = simulated(n=300)
    ours = LatentDirichletAllocation(3, random_state=0, n_sweeps=5)
    whole = ours.fit(gappy).components_
    parts = ours.fit([gappy[:7], gappy[7:200], gappy[200:]]).components_
    np.testing.assert_allclose(parts, whole, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        ours.fit(csr_array(X)).components_, ours.fit(X).components_, rtol=1e-7, atol=1e-10
    )


def test_tables_of_many_items_a_cell_are_left_to_their_moments():
    names = ("a", "b")
    few, many = (
        survey(MemoryRows(np.random.default_rng(0).poisson(m, (50, 2)).astype(float), names), 0.9)
        for m in (0.3, 4)
    )
    assert should_refine(few)[0]
    refinement, why = should_refine(many)
    assert not refinement
    assert "Topics are those of the moments: a cell counts 4.3 items" in why


def test_a_given_concentration_is_kept():
    _, _, X, _ = simulated(n=300)
    model = LatentDirichletAllocation(3, concentration=1.5, random_state=0, n_sweeps=3).fit(X)
    assert model.alpha_.sum() == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concentration": 0.0}, "must be a number from 1e-09 to 1e.09, or 'auto'. Got 0.0"),
        ({"concentration": 1e30}, "must be a number from 1e-09 to 1e.09, or 'auto'. Got 1e.30"),
        ({"concentration": [1.0]}, r"must be a number from .* Got \[1.0\]"),
        ({"concentration": "low"}, "must be a number from 1e-09 to 1e.09, or 'auto'. Got 'low'"),
        (
            {"smoothing": -1.0},
            "'smoothing' parameter of .* must be a number of at least 0",
        ),
        ({"n_sweeps": 10**30}, "must be an int from 1 to 1,000,000. Got 1000"),
        ({"n_sweeps": 0}, "'n_sweeps' parameter of LatentDirichletAllocation must be an int"),
        ({"refine": "em"}, "must be 'auto', 'saem' or None"),
    ],
)
def test_parameters_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        LatentDirichletAllocation(2, **options).fit(simulated(n=20)[2])


def test_what_cannot_be_asked_is_refused_with_what_to_do():
    _, lengths, X, _ = simulated(n=100)
    model = LatentDirichletAllocation(2, random_state=0, n_sweeps=2)
    with pytest.raises(ValueError, match="totals must hold one finite number"):
        model.fit(X, totals=-lengths)
    with pytest.raises(ValueError, match="No row counts 3 items or more"):
        model.fit(np.eye(10))
    model.fit(X)
    with pytest.raises(ValueError, match="There are no intervals for latent Dirichlet"):
        model.intervals(X)
    with pytest.raises(ValueError, match="method must be 'importance' or 'completion'"):
        model.perplexity(X, method="guess")
    assert model.perplexity(X[:20]) > 1
    assert model.perplexity(X, method="completion") > 1
    assert model.transform(X, totals=lengths).sum(axis=1) == pytest.approx(1)
    assert not hasattr(model, "partial_fit")


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
def test_many_columns_have_no_array_of_all_pairs_and_give_the_same():
    _, _, X, _ = simulated(n=400, d=520, length=60)
    few = LatentDirichletAllocation(3, refine=None, outliers=None)
    thin, whole = few.fit(csr_array(X)).components_, few.fit(X).components_
    np.testing.assert_allclose(thin[match(thin, whole)], whole, atol=1e-6)


def test_totals_of_other_rows_are_refused():
    X = np.random.default_rng(0).poisson(2.0, (30, 4)).astype(float)
    with pytest.raises(ValueError, match="totals are 29 numbers for 30 rows"):
        LatentDirichletAllocation(2, refine=None).fit(X, totals=np.full(29, 9.0))


def test_totals_are_refused_where_parts_of_the_rows_are_compared():
    X = np.random.default_rng(0).poisson(2.0, (30, 4)).astype(float)
    with pytest.raises(ValueError, match="Choose the number without totals"):
        LatentDirichletAllocation("auto").fit(X, totals=np.full(30, 9.0))


def test_a_column_that_meets_others_in_short_rows_only_is_named():
    rng = np.random.default_rng(0)
    long = rng.multinomial(12, [0.3, 0.3, 0.2, 0.2], size=40).astype(float)
    long[:, 3] = np.nan
    single = np.eye(4)[rng.integers(4, size=20)]  # of one item, which has no pairs
    with pytest.warns(WeakMomentsWarning):
        model = LatentDirichletAllocation(2, refine=None).fit(np.vstack([long, single]))
    told = {"3": "never observed together with another where moments can be taken"}
    assert model.diagnostics_.never_together == told


def test_two_topics_are_found_where_columns_never_meet():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([1, 1], size=200) @ [[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]]
    X = np.array([rng.multinomial(30, share) for share in shares], dtype=float)
    X[:100, 0], X[100:, 1] = np.nan, np.nan
    model = LatentDirichletAllocation(2, refine=None, random_state=0).fit(X)
    assert set(model.diagnostics_.never_together) <= {"0", "1"}
    assert np.isfinite(model.components_).all()


def test_one_topic_has_a_page(tmp_path):
    X = np.random.default_rng(0).poisson(2.0, (40, 4)).astype(float)
    LatentDirichletAllocation(1).fit(X).report(X, tmp_path / "page.html")
    assert "How sure we are" in (tmp_path / "page.html").read_text("utf-8")


def test_items_that_were_not_recorded_are_among_those_of_known_totals():
    X, chances = documents(3)
    gappy = np.where([True, True, False, False], X, np.nan)
    together = {}  # rows that look the same, once columns are gaps
    for row, chance in zip(gappy, chances, strict=True):
        together[tuple(row[:2])] = together.get(tuple(row[:2]), 0.0) + chance
    rows = np.array([[*seen, np.nan, np.nan] for seen in together])
    law, block = LdaParameters(TOPICS, ALPHA, 1.0, 0.1), Block.from_table(rows)
    log, items = given_length(block, law, unrecorded(block, TOPICS, np.full(len(rows), 3.0)))
    first, second = rows[:, 0], rows[:, 1]
    ways = np.exp(gammaln(4) - gammaln(first + 1) - gammaln(second + 1))
    ways /= np.exp(gammaln(4 - first - second))
    np.testing.assert_allclose(np.exp(log) * ways, list(together.values()), rtol=0.1)
    assert (items == 3).all()


def test_known_totals_of_new_rows_tell_likelihoods_and_gaps():
    _, lengths, X, gappy = simulated(n=700)
    model = LatentDirichletAllocation(3, random_state=0, refine=None).fit(gappy, totals=lengths)
    few, of_few = gappy[:40], lengths[:40].astype(float)
    knowing = Shares(1, 0.1, None, of_few)
    block, law = Block.from_table(few), model.fitted.parameters
    expected = importance_sample(block, law, 0, rest=knowing.rest(block, law)).log_likelihood
    np.testing.assert_allclose(model.score_samples(few, totals=of_few), expected)
    assert model.perplexity(few, totals=of_few) != model.perplexity(few)
    halves = [model.perplexity(few, method="completion", totals=t) for t in (None, of_few)]
    assert halves[0] != halves[1]
    told, untold = model.impute(few, totals=of_few), model.impute(few)
    hidden = np.isnan(few)
    assert np.abs(told - X[:40])[hidden].mean() < np.abs(untold - X[:40])[hidden].mean()
    assert not hasattr(model, "_totals_given")


def test_totals_that_cannot_be_those_of_the_rows_are_refused():
    X = np.random.default_rng(0).poisson(2.0, (200, 4)).astype(float)
    lengths, model = X.sum(axis=1), LatentDirichletAllocation(2, refine=None).fit(X)
    with pytest.raises(ValueError, match="totals are 200 numbers for 20 rows"):
        model.score_samples(X[:20], totals=lengths)
    with pytest.raises(ValueError, match="which parts of a table do not know"):
        model.impute([X[:20], X[20:]], totals=lengths)


def test_what_refinement_gained_and_took_is_told():
    _, _, X, _ = simulated(n=300, length=12)
    said = LatentDirichletAllocation(3, random_state=0, n_sweeps=20).fit(X).diagnostics_
    assert said.refine_gain > 0
    assert said.seconds["polishing"] > 0
    assert "Topics were refined: a cell counts" in said.refine_told
    assert re.search(
        r"Refinement took \d+\.\d seconds and made perplexity \d+% lower", said.refine_told
    )
    bare = LatentDirichletAllocation(3, refine=None).fit(X).diagnostics_
    assert bare.refine_gain is None
    assert bare.refine_told == ""


def test_words_of_topics_and_their_coherence_are_those_of_their_definitions():
    _, _, X, _ = simulated(n=200, d=12)
    model = LatentDirichletAllocation(3, random_state=0, refine=None)
    model.fit(X, vocabulary=[f"w{d}" for d in range(12)])
    likely = [[f"w{d}" for d in np.argsort(-topic)[:3]] for topic in model.components_]
    assert model.top_words(3, relevance=1) == likely
    held, expected = X > 0, []
    for words in likely:
        places = [int(word[1:]) for word in words]
        pairs = []
        for i, j in itertools.combinations(places, 2):
            both = (held[:, i] & held[:, j]).mean()
            pairs.append(np.log(both / held[:, i].mean() / held[:, j].mean()) / -np.log(both))
        expected.append(np.mean(pairs))
    np.testing.assert_allclose(model.coherence(X, n_words=3, relevance=1), expected)
    np.testing.assert_allclose(model.coherence(csr_array(X), n_words=3, relevance=1), expected)
    with pytest.raises(ValueError, match="relevance must be from 0 to 1"):
        model.top_words(relevance=2)


@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
def test_gaps_of_many_columns_that_depend_are_said_to_be_taken_as_independent():
    _, _, X, _ = simulated(n=300, d=700, length=60)
    rng = np.random.default_rng(0)
    often = np.where(rng.random((300, 1)) < 0.5, 0.3, 0.95)  # some rows lack most
    X[:, 350:][rng.random((300, 350)) > often] = np.nan
    stored = csr_array(np.where(np.isnan(X) | (X > 0), 1.0, 0.0))
    stored.data = X[stored.nonzero()]
    with pytest.warns(WeakMomentsWarning, match="but they are not .largest deviation"):
        model = LatentDirichletAllocation(2, refine=None, outliers=None).fit(stored)
    assert model.diagnostics_.third_moment == "implicit"
    assert "depend on each other" in model.diagnostics_.third_moment_reason
    assert "and are taken not to" in model.diagnostics_.third_moment_reason


@pytest.mark.filterwarnings("ignore::halfseen.WeakMomentsWarning")
@pytest.mark.filterwarnings("ignore::halfseen.DroppedFeatureWarning")
@pytest.mark.parametrize(("d", "length"), [(12, 30), (300, 15)])  # by draws; text, by expectations
def test_dask_refined_to_what_memory_does(d, length):
    da = pytest.importorskip("dask.array")
    _, _, _, X = simulated(n=200, d=d, length=length)
    model = LatentDirichletAllocation(3, refine="saem", random_state=0, n_sweeps=10)
    here = model.fit(X).components_
    assert model.n_iter_ == (10 if d == 12 else 11)
    there = model.fit(da.from_array(X, chunks=(60, -1))).components_
    np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [LatentDirichletAllocation, GammaPoisson])
def test_gaps_of_sparse_matrices_are_filled_as_those_of_arrays_and_nothing_else_is(kind):
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.ones(6), 2)
    X = rng.poisson(rng.gamma(1.0, 20.0, (200, 2)) @ topics).astype(float)
    X[:, 5] = 3.0
    X[rng.random(X.shape) < 0.2] = np.nan
    stored = csr_array(np.where(np.isnan(X), 1.0, X))
    stored.data = X[stored.nonzero()]
    with pytest.warns(DroppedFeatureWarning):
        model = kind(2, refine=None, random_state=0).fit(X)
    filled = model.impute(stored)
    assert filled.nnz == stored.nnz
    np.testing.assert_allclose(filled.toarray(), model.impute(X), rtol=1e-9)
    assert np.isnan(stored.data).any()
    with pytest.raises(ValueError, match="filled by expectations only, without draws"):
        model.impute(stored, draws=2)
