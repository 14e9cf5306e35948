"""Claims are judged by what was measured, and pages say so."""

import pytest

from benchmarks.reproduce import page, pictures, store
from benchmarks.reproduce.claims import OUR_CLAIMS, PAPERS_CLAIMS
from benchmarks.reproduce.figures import FIGURES
from benchmarks.reproduce.figures.synthetic import HIGH
from benchmarks.reproduce.methods import METHODS
from benchmarks.reproduce.verdicts import FAILS, HOLDS, UNTESTED


def verdict(start, measured):
    claims = [claim for claim in (*PAPERS_CLAIMS, *OUR_CLAIMS) if claim.text.startswith(start)]
    assert claims
    return {claim.judged(measured).verdict for claim in claims if claim.figure in measured}


def as_the_paper_says(point, method):
    full, partial = (0.3, 0.5) if point.group == HIGH else (0.5, 0.3)
    return {"full": full, "partial": partial}.get(method, 0.2)


def the_other_way(point, method):
    return 0.1 / as_the_paper_says(point, method)


@pytest.mark.parametrize("name", ["gaussian", "gamma-poisson", "random-topics"])
def test_claims_on_weighting_and_baselines_hold_or_not_with_the_numbers(made_up, name):
    for numbers, expected in ((as_the_paper_says, HOLDS), (the_other_way, FAILS)):
        measured = {name: made_up(name, numbers)}
        assert verdict("Weighting is never worse", measured) == {expected}
        about = [c for c in PAPERS_CLAIMS if c.figure == name and c.rule == "better"]
        assert {claim.judged(measured).verdict for claim in about} == {expected}


def test_weighting_is_compared_with_the_better_of_both_in_each_setting(made_up):
    between = made_up("gaussian", lambda p, m: {"full": 0.1, "partial": 0.9}.get(m, 0.5))
    assert verdict("Weighting is never worse", {"gaussian": between}) == {FAILS}


def test_the_crossover(made_up):
    crossing = made_up(
        "crossover", lambda p, m: {"full": 0.1, "partial": 30 / p.x**0.6}.get(m, 1.0)
    )
    assert verdict("There is a crossover", {"crossover": crossing}) == {HOLDS}
    never = made_up("crossover", lambda p, m: {"full": 0.1, "partial": 0.2}.get(m, 1.0))
    assert verdict("There is a crossover", {"crossover": never}) == {FAILS}


def test_partial_samples_do_little_only_where_lines_are_flat(made_up):
    for slope, expected in ((-0.02, HOLDS), (-0.5, FAILS)):
        measured = {"partial-samples": made_up("partial-samples", lambda p, m, s=slope: p.x**s)}
        assert verdict("More partial samples do little", measured) == {expected}


def test_extra_features_help_only_where_they_do(made_up):
    for step, expected in ((-0.05, HOLDS), (0.05, FAILS)):
        numbers = made_up("dimensionality", lambda p, m, s=step: 1 + s * p.gaps.n_used)
        measured = {"dimensionality": numbers}
        assert verdict("Ignoring extra features", measured) == {expected}


def test_the_partial_method_falls_steadily_only_where_it_does(made_up):
    for slope, expected in ((-0.3, HOLDS), (0.3, FAILS)):
        measured = {"crossover": made_up("crossover", lambda p, m, s=slope: p.x**s)}
        assert verdict("The error of the partial method falls", measured) == {expected}


def test_likelihoods_are_better_when_higher(made_up):
    def numbers(point, method):
        return {"full": -25.0, "partial": -30.0, "weighted": -20.0}.get(method, -10.0)

    up, down = (
        {"icu": made_up("icu", lambda p, m, s=sign: -27.0 + s * (numbers(p, m) + 27.0))}
        for sign in (1, -1)
    )
    assert verdict("On ICU data", up) == {HOLDS}
    assert verdict("On ICU data", down) == {FAILS}
    assert verdict("Our moments", up) == {HOLDS}


@pytest.mark.parametrize("start", ["w = p and w = √p are indistinguishable", "Weighting costs no"])
def test_equal_numbers_are_alike_and_others_not(made_up, start):
    name = "cost" if "costs" in start else "weights"
    assert verdict(start, {name: made_up(name, lambda p, m: 0.4)}) == {HOLDS}
    apart = made_up(name, lambda p, m: 0.6 if m in ("sqrt", "weighted") else 0.4)
    apart_by_root = made_up(name, lambda p, m: 0.6 if m == "sqrt" else 0.4)
    assert verdict(start, {name: apart if name == "cost" else apart_by_root}) == {FAILS}


@pytest.mark.parametrize("runs", [0, 2])
def test_what_was_not_measured_is_not_judged(made_up, runs):
    measured = {"gaussian": made_up("gaussian", as_the_paper_says, runs)}
    assert {found for _, found in page.verdicts(measured)} == {UNTESTED}
    assert "run `halfseen reproduce gaussian`" in page.page(measured)


def test_every_claim_has_a_row_and_every_figure_a_picture(made_up, tmp_path):
    measured = {name: made_up(name, as_the_paper_says) for name in FIGURES}
    for results in measured.values():
        results.write(tmp_path)
    text = page.write(tmp_path).read_text(encoding="utf-8")
    assert text == page.page(page.gather(tmp_path))
    assert UNTESTED not in text
    for claim in (*PAPERS_CLAIMS, *OUR_CLAIMS):
        assert f"| {claim.text} | {claim.place} | [{claim.figure}](#{claim.figure}) |" in text
    for name in FIGURES:
        assert f"](reproduction/{name}.png)" in text
    assert "**Some of this is a quick run**" in text


def test_a_page_of_somebody_else_is_not_replaced(tmp_path):
    (tmp_path / page.NAME).write_text("mine")
    with pytest.raises(store.ResultsError, match=r"was not written by this command\. Move it away"):
        page.write(tmp_path)
    assert (tmp_path / page.NAME).read_text() == "mine"


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_small(made_up, tmp_path, name):
    path = pictures.draw(made_up(name, as_the_paper_says, 3, quick=False), tmp_path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 100_000


def test_a_method_has_one_colour_and_one_marker_of_its_own():
    assert len({method.colour for method in METHODS.values()}) == len(METHODS)
    assert len({method.marker for method in METHODS.values()}) == len(METHODS)
