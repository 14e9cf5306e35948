"""One group is not shown by its averages, but by the line along which its rows differ."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from halfseen import GammaPoisson, GaussianMixture, HiddenMarkov, LatentClass
from halfseen.report.export import as_data, as_json, as_markdown, report_as, schema
from halfseen.report.main_line import NO_LINE, TITLE, groups_anyway, main_line
from halfseen.report.registry import portrait_of
from halfseen.report.report import report_of


def patients(n=600, seed=0):
    """One disease of which rows have more or less, and a column that has no part in it."""
    rng = np.random.default_rng(seed)
    severity = rng.normal(size=n)
    table = pd.DataFrame(
        {
            "age": rng.normal(60, 10, n),
            "albumin": 3.5 - 0.5 * severity + rng.normal(0, 0.3, n),
            "bilirubin": np.exp(1.0 * severity + rng.normal(0, 0.5, n)),
            "platelets": 250 - 40 * severity + rng.normal(0, 60, n),
        }
    )
    return table.mask(rng.random(table.shape) < 0.1)


def with_words(n=600, seed=0):
    table, rng = patients(n, seed), np.random.default_rng(seed + 1)
    high = table["bilirubin"].fillna(1).rank(pct=True) + rng.normal(0, 0.2, n)
    stage = np.array(["early", "middle", "late"])[np.digitize(high, [0.35, 0.7])]
    table["stage"], table["sex"] = stage, rng.choice(["f", "m"], n)
    return table


@pytest.fixture(scope="module")
def one():
    table = with_words()
    return LatentClass(1).fit(table).case(table)


def test_the_page_of_one_group_shows_the_line_and_no_card():
    table = patients()
    report = report_of(GaussianMixture(1).fit(table).case(table))
    chapter = report.sections[0]
    assert (chapter.title, chapter.anchor) == (TITLE, "components")
    assert chapter.sentences[0] == (
        "Rows differ most along one line: from low bilirubin, high albumin and high platelets to "
        "high bilirubin, low albumin and low platelets."
    )
    assert re.search(r"on average it explains \d\d% of a column's variance", chapter.sentences[1])
    assert "age hardly changes along it." in chapter.sentences[1]
    assert not report.cards
    assert report.summary.found.endswith(chapter.sentences[0])


def test_columns_come_by_strength_with_their_own_units_in_fifths_of_the_rows():
    table = patients()
    report = report_of(GaussianMixture(1).fit(table).case(table))
    along, where = report.sections[0].figures
    assert along.head == (
        "column", "lowest fifth", "middle fifth", "highest fifth", "correlation",
    )  # fmt: skip
    assert [row[0] for row in along.rows] == ["bilirubin", "albumin", "platelets", "age"]
    numbers = {row[0]: [float(cell) for cell in row[1:]] for row in along.rows}
    assert numbers["bilirubin"][0] < 0.5 < 3 < numbers["bilirubin"][2]
    assert numbers["albumin"][0] > 3.9 > 3.1 > numbers["albumin"][2]
    assert numbers["bilirubin"][3] > 0.7
    assert numbers["albumin"][3] < -0.7
    assert sum(int(row[1].replace(",", "")) for row in where.rows) == 600


def test_averages_of_fifths_are_plain_averages(one):
    line = main_line(one, 10)
    change = next(change for change in line.changes() if change.name == "albumin")
    albumin = with_words()["albumin"].to_numpy()
    for text, fifth in zip(change.texts, line.trait.fifths.T, strict=True):
        assert float(text) == pytest.approx(np.nanmean(albumin[fifth]), abs=0.005)


def test_categories_are_told_by_shares(one):
    line = main_line(one, 10)
    names = {change.name: change.texts for change in line.changes()}
    assert {"stage: late", "stage: early", "sex: m"} <= set(names)
    late = [float(text.strip("<>%")) for text in names["stage: late"]]
    assert max(late[:2]) < 10 < 80 < late[2]
    ends = next(line.ends(i) for i in line.order if line.name(i) == "stage")
    assert ends == ("stage more often 'early'", "stage more often 'late'")


def test_what_few_rows_stand_behind_is_not_shown():
    table = patients(100)
    table.loc[20:, "platelets"] = np.nan
    line = main_line(LatentClass(1).fit(table).case(table), 10)
    texts = {change.name: change.texts for change in line.changes()}
    assert texts["platelets"] == ["", "", ""]
    assert all(texts["albumin"])
    page = report_as(LatentClass(1).fit(table).case(table))
    assert "Cells that fewer than 10 rows stand behind are empty." in page


def test_columns_that_do_not_go_along_have_no_line():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(400, 4)), columns=list("abcd"))
    report = report_of(GaussianMixture(1).fit(table).case(table))
    chapter = report.sections[0]
    assert chapter.title == "The one group"
    assert chapter.sentences[0] == NO_LINE
    assert [figure.title for figure in chapter.figures] == ["What rows are like"]
    assert not report.cards
    assert as_data(report)["main_line"] is None


def test_several_groups_have_their_own_chapter():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 3)) + 6 * (np.arange(300)[:, None] % 2))
    page = report_as(GaussianMixture(2).fit(table).case(table))
    assert "The groups" in page
    assert TITLE not in page


def test_topics_sequences_and_few_rows_are_not_concerned():
    rng = np.random.default_rng(0)
    counts = rng.poisson(3.0, (200, 6))
    table = patients(120)
    for model, rows in (
        (GammaPoisson(1).fit(counts), counts),
        (GaussianMixture(1).fit(table[:40]), table[:40]),
    ):
        assert main_line(model.case(rows), 10) is None
    visits = table[["age", "albumin"]].assign(who=np.arange(120) // 10)
    states = HiddenMarkov(1).fit(visits, sequence="who")
    assert main_line(states.case(visits), 10) is None


def test_the_command_for_groups_anyway_is_given_if_their_number_is_known(one):
    view = portrait_of(one.fitted)
    assert groups_anyway(one, view) == []
    diagnostics = replace(one.fitted.diagnostics, choice=SimpleNamespace(runner_up=3))
    chosen = replace(one, fitted=replace(one.fitted, diagnostics=diagnostics))
    assert groups_anyway(chosen, view) == [
        "If you want classes anyway: halfseen fit TABLE --model classes -k 3 (in Python "
        "n_components=3)."
    ]


def test_programs_are_told_the_line_too(one):
    report = report_of(one)
    data = json.loads(as_json(report))
    line = data["main_line"]
    assert set(data) <= set(schema()["properties"])
    assert line["explained"] == pytest.approx(
        np.mean([column["explained"] for column in line["columns"]]), abs=0.01
    )
    strengths = [column["explained"] for column in line["columns"]]
    assert strengths == sorted(strengths, reverse=True)
    directions = {column["name"]: column["direction"] for column in line["columns"]}
    assert directions["albumin"] == -directions["bilirubin"] != 0
    assert directions["stage"] == directions["sex"] == 0
    assert data["components"][0]["anchor"] == "components"
    assert data["chapters"][0]["title"] == TITLE
    assert f"## {TITLE}" in as_markdown(report)
