"""The page begins with three sentences, and warnings stand where they matter, once."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from halfseen import GammaPoisson, GaussianMixture, HiddenMarkov, LatentClass, simulate
from halfseen.diagnostics.concerns import concerns_of
from halfseen.diagnostics.concerns.concern import Concern, Gravity, Subject
from halfseen.report.export import report_as
from halfseen.report.registry import portrait_of
from halfseen.report.report import PLACES, report_of
from halfseen.report.summary import first_sentence


def measured(n=900, k=2, seed=0):
    rng = np.random.default_rng(seed)
    means = 5.0 * np.arange(k)[:, None] * np.array([1, -1, 0.0])
    shares = np.arange(k, 0, -1) / np.arange(1, k + 1).sum()
    X, _ = simulate.gaussian_mixture(n, shares, means, 1.0, rng)
    return pd.DataFrame(X, columns=["age", "pulse", "noise"])


def test_groups_are_told_by_what_sets_them_apart_most():
    X = measured()
    short = report_of(GaussianMixture(2).fit(X).case(X)).summary
    assert re.fullmatch(
        r"The 900 rows fall into 2 groups: group 1 \(6\d%\) with (lower age, higher pulse|higher "
        r"pulse, lower age); and group 2 \(3\d%\) with (higher age, lower pulse|lower pulse, "
        r"higher age)\.",
        short.found,
    )
    assert re.fullmatch(
        r"\S+% of rows belong to one group with a probability of at least 90%; you asked for 2 "
        r"groups, their number was not estimated\.",
        short.sure,
    )


def test_a_number_that_was_chosen_comes_with_how_far_halves_agree():
    X = measured()
    model = GaussianMixture("auto", covariance_type="diag").fit(X)
    short = report_of(model.case(X)).summary
    (chosen,) = [one for one in model.diagnostics_.choice.tried if one.n_components == 2]
    assert "the groups are clear, and fits to halves of the rows agree on them to " in short.sure
    assert f" {chosen.stability:.2f} (1 is the same, 0 is chance)." in short.sure


def test_one_group_is_told_as_such():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=list("abc"))
    given = report_of(GaussianMixture(1).fit(X).case(X)).summary
    assert given.found == "All 300 rows are described together: you asked for one group."
    assert given.sure == "You asked for one group."
    chosen = report_of(GaussianMixture("auto", covariance_type="diag").fit(X).case(X)).summary
    assert chosen.found == "All 300 rows are described together: no groups stand out."
    assert chosen.sure.startswith("One cloud, no groups: held-out rows are ")


def test_many_topics_are_told_by_words_and_the_rest_is_counted():
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(8), np.ones(3)) / 3
    counts, _ = simulate.gamma_poisson(600, topics, np.full(8, 0.5), 0.02, rng)
    model = GammaPoisson(8, refine=None).fit(
        csr_array(counts), vocabulary=[f"word{d}" for d in range(24)]
    )
    report = report_of(model.case(csr_array(counts)))
    assert report.summary.found.startswith("The 600 rows are mixtures of 8 topics: topic 1 (1")
    assert re.search(r"; and 2 smaller ones \((1|2)\d%\)\.$", report.summary.found)
    first = re.search(r"topic 1 \(\d+%\) with (.*?);", report.summary.found)[1].split(", ")
    assert len({int(word[4:]) // 3 for word in first}) == 1


def test_groups_that_begin_alike_are_told_by_what_is_their_own():
    rng = np.random.default_rng(0)
    z = rng.integers(3, size=900)
    shift = np.array([[0.0, 0, 0], [8, 8, -2], [8, 8, 2]])[z]
    X = pd.DataFrame(shift + rng.normal(size=(900, 3)) * [1, 1, 0.5], columns=["a", "b", "own"])
    briefs = portrait_of(GaussianMixture(3, covariance_type="diag").fit(X)).briefs()
    assert len(set(briefs)) == 3


def test_the_gravest_concern_is_the_one_that_is_told():
    X = measured()
    model = GaussianMixture(2).fit(X)
    mild = report_of(model.case(X)).summary
    assert (mild.worst.kind, mild.worst.gravity) == ("noise_only_feature", Gravity.KNOW)
    model.converged_ = False
    report = report_of(model.case(X))
    assert report.summary.worst.kind == "not_converged"
    assert report.summary.distrust.startswith("The likelihood was still rising")
    assert report.worst_anchor == "components"
    assert len(report.concerns) == 2


def test_without_a_concern_it_is_what_is_taken_for_granted():
    X = measured()
    X["noise"] += 4.0 * (X["age"] > 2.5)
    short = report_of(GaussianMixture(2).fit(X).case(X)).summary
    assert short.worst is None
    assert short.distrust.startswith(
        "Nothing in the diagnostics stands out. What the model assumes:"
    )


def test_warnings_stand_once_and_in_the_chapter_that_they_are_about():
    X = measured(2000)
    X.loc[X["age"] > 3, "noise"] = np.nan
    X.iloc[:9, 1] = 400.0
    model = GaussianMixture(2).fit(X)
    concerns = concerns_of(model.case(X).in_words())
    assert {one.about for one in concerns} >= {Subject.GAPS, Subject.VALUES}
    page = html.unescape(report_as(model.case(X)))
    for one in concerns:
        said = one.sentence.partition(" (")[0]
        chapter = page[page.index(f'<section id="{PLACES[one.about]}"') :]
        chapter = chapter[: chapter.index("</section>")]
        listed = re.search(r'<ul class="warnings".*?</ul>', chapter, re.DOTALL)[0]
        assert listed.count(said) == 1
        assert page.count(f"{said}") <= 2  # in short, too, if it is the gravest
    shift = "Gaps depend on values: where 'noise' is missing"
    assert shift not in page  # which is what one of the warnings says
    named = re.search(r'<p class="where">(\d+) warnings', page)
    assert int(named[1]) == len(concerns)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("One thing. And another.", "One thing."),
        ("Of 'No. Of rooms' (1.5). Use fewer.", "Of 'No. Of rooms' (1.5)."),
        ("No end", "No end"),
    ],
)
def test_first_sentences(words, first):
    assert first_sentence(words) == first


def test_concerns_are_pairs_with_more_beside_them():
    one = Concern("gaps", "There are some.", Subject.GAPS, Gravity.KNOW)
    assert dict([one]) == {"gaps": "There are some."}
    assert (one.about, one.gravity, str(one)) == (Subject.GAPS, Gravity.KNOW, "There are some.")


def test_states_and_classes_have_their_three_sentences():
    rng = np.random.default_rng(0)
    z = np.repeat(rng.integers(2, size=60), 10)
    X = pd.DataFrame({"pulse": rng.normal(6.0 * z), "ward": np.where(z, "A", "B")})
    X["ward"] = X["ward"].where(rng.random(600) < 0.9, "C")
    classes = report_of(LatentClass(2, random_state=0).fit(X).case(X)).summary
    assert "higher pulse, ward 'A'" in classes.found or "ward 'A', higher pulse" in classes.found
    X["who"], X["day"] = np.repeat(np.arange(60), 10), np.tile(np.arange(10), 60)
    states = HiddenMarkov(2, random_state=0).fit(X, sequence="who", order="day")
    found = report_of(states.case(X)).summary.found
    assert found.startswith("The 600 rows fall into 2 states: state 1 (")


def test_what_sounds_like_an_outcome_is_told_where_groups_were_made_of_it():
    X = measured().rename(columns={"noise": "In-hospital_death"})
    told = html.unescape(report_as(GaussianMixture(2).fit(X).case(X)))
    assert (
        "'In-hospital_death' sounds like an outcome, and the groups were made of it too. To see "
        "how groups that know nothing of it differ, leave it out of the fit and give it to the "
        "report as an outcome." in told
    )
    X["hospdead"] = X["age"] + np.random.default_rng(0).normal(size=len(X))
    told = html.unescape(report_as(GaussianMixture(2).fit(X).case(X)))
    assert (
        "'In-hospital_death' and 'hospdead' sound like outcomes, and the groups were made of"
        in told
    )
    plain = measured()
    assert "sounds like" not in report_as(GaussianMixture(2).fit(plain).case(plain))
