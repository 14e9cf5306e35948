"""Weights compared and asked for, concerns told, and rows that depend on each other, by command."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import GammaPoisson, GaussianMixture, compare_weights, load, simulate
from halfseen.cli.app import app
from halfseen.cli.messages import in_options
from halfseen.data.messages import setting
from halfseen.report.registry import portrait_of
from tests.cli.options import DIAG

NAMES = ["age", "pulse", "lactate", "crp", "sodium"]
MEANS = np.array([[0.0, 0, 0, 0, 0], [4, 3, -3, 4, 2], [-2, 4, 3, -2, 4]])


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


AS_IT_IS = ("--scale", "none")


def words(result):
    return " ".join(result.output.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three visits of each patient, one of whom has no name; a column that says nothing."""
    path, rng = tmp_path_factory.mktemp("weighed"), np.random.default_rng(0)
    once, _ = simulate.gaussian_mixture(300, [0.4, 0.3, 0.3], MEANS, 1.0, rng)
    X = np.repeat(once, 3, axis=0) + 0.05 * rng.normal(size=(900, 5))
    X = simulate.independent_gaps(X, [1, 1, 1, 0.6, 0.4], rng).round(4)
    frame = pd.DataFrame(X, columns=NAMES)
    frame["patient"] = np.repeat([f"P{number:03}" for number in range(300)], 3)
    frame["ward"] = np.repeat(np.arange(300) % 30 + 0.5, 3)
    frame["nameless"] = frame["patient"].where(frame["patient"] != "P007")
    frame.to_csv(path / "visits.csv", index=False)
    alone = simulate.gaussian_mixture(900, [0.4, 0.3, 0.3], MEANS, 1.0, rng)[0]
    alone = simulate.independent_gaps(alone, [1, 1, 1, 0.6, 0.4], rng).round(4)
    plain = pd.DataFrame(alone, columns=NAMES)
    plain.to_csv(path / "plain.csv", index=False)
    noise = np.random.default_rng(2).normal(size=900).round(4)
    plain.assign(noise=noise).to_csv(path / "noisy.csv", index=False)
    topics = rng.dirichlet(np.ones(5), 2)
    counts, _ = simulate.gamma_poisson(300, topics, [1.0, 1.0], 0.05, rng)
    pd.DataFrame(counts.astype(int), columns=NAMES).to_csv(path / "counts.csv", index=False)
    return path


def test_weigh_shows_every_way_with_the_option_that_asks_for_it(folder):
    result = succeed("weigh", folder / "plain.csv", "-k", 3, *AS_IT_IS)
    found = compare_weights(pd.read_csv(folder / "plain.csv"), n_components=3)
    said = words(result)
    assert "With 3 components, log-likelihood of held-out rows" in said
    for way, option in [
        ("observed", "--weights observed"),
        ("sqrt", "--weights sqrt"),
        ("signal", "--weights signal"),
        ("adjusted", "--moments adjusted"),
    ]:
        one = next(one for one in found.ways if one.way == way)
        assert re.search(rf"{way}\W+{one.log_likelihood:.4f}\W.*{option}", result.output)
    assert found.reason in said
    assert said.index(found.reason) > said.index("--moments adjusted")


def test_weigh_tells_machines_the_same(folder):
    told = json.loads(succeed("weigh", folder / "plain.csv", "-k", 3, *AS_IT_IS, "--json").stdout)
    found = compare_weights(pd.read_csv(folder / "plain.csv"), n_components=3)
    assert (told["best"], told["usual"], told["reason"]) == (found.best, "observed", found.reason)
    assert told["n_components"] == 3
    assert [way["way"] for way in told["ways"]] == [way.way for way in found.ways]
    for ours, theirs in zip(told["ways"], found.ways, strict=True):
        assert ours["parameters"] == theirs.parameters
        assert ours["log_likelihood"] == pytest.approx(theirs.log_likelihood)
        assert (ours["gain"], ours["error"]) == pytest.approx((theirs.gain, theirs.error))


def test_weigh_chooses_how_many_if_it_is_not_told(folder):
    told = json.loads(succeed("weigh", folder / "plain.csv", "--json").stdout)
    assert told["n_components"] == 3


def test_weigh_leaves_the_column_of_groups_out_and_goes_by_it(folder):
    only = ("--columns", ",".join(NAMES), *AS_IT_IS)
    frame = pd.read_csv(folder / "visits.csv")
    told = json.loads(
        succeed(
            "weigh", folder / "visits.csv", "-k", 3, *only, "--groups", "patient", "--json"
        ).stdout
    )
    found = compare_weights(frame[NAMES], n_components=3, groups=frame["patient"])
    assert [way["error"] for way in told["ways"]] == pytest.approx([w.error for w in found.ways])
    numbers = json.loads(
        succeed(
            "weigh", folder / "visits.csv", "-k", 3, *AS_IT_IS, "--groups", "ward", "--json"
        ).stdout
    )
    found = compare_weights(frame[NAMES], n_components=3, groups=frame["ward"])
    assert [way["error"] for way in numbers["ways"]] == pytest.approx([w.error for w in found.ways])


def test_weigh_prepares_columns_as_fit_does(folder):
    told = json.loads(
        succeed("weigh", folder / "plain.csv", "-k", 3, "--standardise", "--json").stdout
    )
    frame = pd.read_csv(folder / "plain.csv")
    found = compare_weights((frame - frame.mean()) / frame.std(), n_components=3)
    assert [way["way"] for way in told["ways"]] == [way.way for way in found.ways]
    assert told["ways"][0]["log_likelihood"] == pytest.approx(
        found.ways[0].log_likelihood, abs=0.02
    )


def test_weigh_compares_for_topics(folder, monkeypatch):
    monkeypatch.setattr("halfseen.models.gamma_poisson.MOST_SCORED", 30)
    told = json.loads(
        succeed(
            *("weigh", folder / "counts.csv", "--model", "gamma-poisson", "-k", 2, "--json"),
        ).stdout
    )
    assert told["usual"] == "signal"


REFUSED = {
    "unknown groups": (
        ("--groups", "pateint"),
        2,
        "--groups names 'pateint', but visits.csv has 'age', 'pulse',",
    ),
    "a hint": (("--groups", "pateint"), 2, "Did you mean 'patient'?"),
    "labels missing": (
        ("--groups", "nameless"),
        2,
        "Some labels in groups are missing. Give rows that belong to no group a label",
    ),
    "unknown drop": (("--drop", "pulze"), 2, "--drop names 'pulze'"),
    "k": (("-k", "few"), 2, "-k must be a whole number of at least 1, or auto. Got 'few' instead."),
    "log of counts": (
        ("--model", "gamma-poisson", "--log", "age"),
        2,
        "--log and --scale standard make fractions of counts.",
    ),
}


@pytest.mark.parametrize(("options", "code", "text"), REFUSED.values(), ids=REFUSED)
def test_weigh_refuses_what_cannot_be(folder, options, code, text):
    result = run("weigh", folder / "visits.csv", *options)
    assert result.exit_code == code
    assert text in words(result)


def test_fit_takes_weights_and_moments(folder, tmp_path):
    out = tmp_path / "m.halfseen"
    succeed(
        *("fit", folder / "plain.csv", "-k", 3, "--no-refine", "--out", out),
        *("--weights", "sqrt", "--moments", "adjusted"),
    )
    model = load(out)
    assert (model.feature_weights, model.moments) == ("sqrt", "adjusted")
    frame = pd.read_csv(folder / "plain.csv")
    expected = GaussianMixture(3, feature_weights="sqrt", moments="adjusted", refine=None)
    np.testing.assert_allclose(model.means_, expected.fit(frame).means_)
    np.testing.assert_allclose(model.feature_weights_, np.sqrt(model.observed_fraction_))


@pytest.mark.parametrize("option", ["--weights", "--moments"])
def test_fit_knows_no_other_weights_and_moments(folder, tmp_path, option):
    out = tmp_path / "m.halfseen"
    result = run("fit", folder / "plain.csv", "-k", 3, *DIAG, "--out", out, option, "heavy")
    assert result.exit_code == 2
    assert "'heavy'" in result.output
    assert not out.exists()


def test_what_cannot_be_adjusted_is_said_in_options(folder, tmp_path):
    result = run(
        *("fit", folder / "plain.csv", "-k", 1, "--columns", "crp,sodium"),
        *("--moments", "adjusted", "--out", tmp_path / "m.halfseen"),
    )
    assert result.exit_code == 1
    assert (
        "--moments adjusted predicts incomplete features from complete ones, but none is complete. "
        "Lower --complete-above, or use --moments available." in words(result)
    )


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Use " + setting(moments="available") + ".", "Use --moments available."),
        (setting(feature_weights="sqrt") + " is known.", "--weights sqrt is known."),
        (
            "The " + setting(third_moment="explicit") + " stays.",
            "The third_moment='explicit' stays.",
        ),
        ("Use " + setting(overwrite=True) + ".", "Use --force."),
        ("Second moments are words.", "Second moments are words."),
    ],
)
def test_parameters_are_shown_as_options(message, shown):
    assert in_options(message) == shown


def test_fit_says_what_to_be_careful_about(folder, tmp_path):
    result = succeed(
        "fit",
        folder / "noisy.csv",
        "-k",
        4,
        *AS_IT_IS,
        "--seed",
        0,
        "--out",
        tmp_path / "m.halfseen",
    )
    said = words(result)
    careful = said[said.index("What to be careful about:") :]
    assert "- 'noise' is not related to any other column" in careful
    assert "- 4 groups are more than the second moments support" in careful
    model = load(tmp_path / "m.halfseen")
    told = {c.kind: c.sentence for c in model.concerns(pd.read_csv(folder / "noisy.csv"))}
    i, j = map(int, re.findall(r"omponent (\d)", told["overlapping_components"])[:2])
    place = np.argsort(portrait_of(model).order) + 1
    assert f"- Group {place[i]} and group {place[j]} overlap" in careful


def test_fit_tells_machines_its_concerns(folder, tmp_path):
    result = succeed(
        *("fit", folder / "noisy.csv", "-k", 3, *DIAG, "--out", tmp_path / "m.halfseen", "--json"),
    )
    (concern,) = json.loads(result.stdout)["concerns"]
    assert concern["kind"] == "noise_only_feature"
    assert concern["sentence"].startswith("'noise' is not related to any other column")


def test_a_sound_fit_says_nothing_of_care(folder, tmp_path):
    plain = succeed("fit", folder / "plain.csv", "-k", 3, *DIAG, "--out", tmp_path / "m.halfseen")
    assert "What to be careful about" not in plain.output
    told = succeed(
        "fit", folder / "plain.csv", "-k", 3, *DIAG, "--out", tmp_path / "n.halfseen", "--json"
    )
    assert json.loads(told.stdout)["concerns"] == []


def test_concerns_of_prepared_columns_are_told_by_their_own_names(folder, tmp_path):
    out = tmp_path / "m.halfseen"
    result = succeed(
        *("fit", folder / "noisy.csv", "-k", 3, *DIAG, "--standardise", "--out", out, "--json")
    )
    concerns = {one["kind"]: one["sentence"] for one in json.loads(result.stdout)["concerns"]}
    assert "'noise'" in concerns["noise_only_feature"]


def test_topics_have_concerns_too(folder, tmp_path):
    result = succeed(
        *("fit", folder / "counts.csv", "--model", "gamma-poisson", "-k", 3),
        *("--out", tmp_path / "m.halfseen", "--json"),
    )
    kinds = {one["kind"] for one in json.loads(result.stdout)["concerns"]}
    frame = pd.read_csv(folder / "counts.csv").astype(float)
    assert kinds == {one.kind for one in GammaPoisson(3).fit(frame).concerns(frame)}
    assert "too_many_components" in kinds


@pytest.fixture(scope="module")
def visits(folder):
    out = folder / "visits.halfseen"
    succeed(
        "fit", folder / "visits.csv", "-k", 3, *DIAG, "--columns", ",".join(NAMES), "--out", out
    )
    return out


def widths(page):
    """Of the intervals on a page, in the order of the cells."""
    ends = re.findall(r"\(between (-?[\d.]+) and (-?[\d.]+)\)", page)
    return np.array([float(high) - float(low) for low, high in ends])


def test_report_widens_intervals_by_groups(folder, visits, tmp_path):
    pages = []
    for groups in ((), ("--groups", "patient")):
        out = tmp_path / f"{len(groups)}.html"
        succeed("report", visits, folder / "visits.csv", "--out", out, *groups)
        pages.append(out.read_text("utf-8"))
    assert "from a bootstrap of rows, taken to be independent of each other" in pages[0]
    assert "from a bootstrap of whole groups of rows" in pages[1]
    by_row, by_patient = map(widths, pages)
    assert len(by_row) == len(by_patient) >= 15
    assert 1.4 < np.median(by_patient / by_row) < 2.1  # √3 = 1.73


def test_report_names_a_column_of_groups_that_is_not_there(folder, visits, tmp_path):
    out = tmp_path / "page.html"
    result = run("report", visits, folder / "visits.csv", "--out", out, "--groups", "pateint")
    assert result.exit_code == 2
    said = words(result)
    assert "--groups names 'pateint', but visits.csv has 'age', 'pulse'" in said
    assert "Did you mean 'patient'?" in said
    assert not out.exists()


def test_report_refuses_rows_without_a_label(folder, visits, tmp_path):
    out = tmp_path / "page.html"
    result = run("report", visits, folder / "visits.csv", "--out", out, "--groups", "nameless")
    assert result.exit_code == 2
    assert "Some labels in groups are missing." in words(result)
    assert not out.exists()
