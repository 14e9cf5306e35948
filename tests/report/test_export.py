"""What the page says for programs: by its schema, for every model, and no more than the page."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import GammaPoisson, GaussianMixture, LatentClass
from halfseen.cli.app import app
from halfseen.models import MODELS
from halfseen.report.export import FORMATS, as_json, as_page, format_of, report_as, schema
from halfseen.report.outcomes import Outcome
from halfseen.report.report import report_of

N = 300


def complaints(value, rule, root, at="$"):
    """What of a value is not as a JSON schema has it, of the words that ours uses."""
    known = {"$schema", "$defs", "title", "description"}
    for word, asked in rule.items():
        if word in known or word in ("required", "additionalProperties", "maxItems"):
            continue
        if word == "$ref":
            yield from complaints(value, root["$defs"][asked.rpartition("/")[2]], root, at)
        elif word == "type":
            kinds = {"object": dict, "array": list, "string": str, "null": type(None)}
            kinds |= {"boolean": bool, "integer": int, "number": (int, float)}
            number = asked in ("integer", "number") and isinstance(value, bool)
            if number or not isinstance(value, kinds[asked]):
                yield f"{at} is no {asked}: {value!r}"
                return
        elif word == "properties":
            more = rule.get("additionalProperties", True)
            for name in rule.get("required", []):
                if name not in value:
                    yield f"{at} lacks {name}"
            for name, one in value.items():
                if name in asked:
                    yield from complaints(one, asked[name], root, f"{at}.{name}")
                elif more is False:
                    yield f"{at} has {name}"
        elif word == "items":
            for i, one in enumerate(value):
                yield from complaints(one, asked, root, f"{at}[{i}]")
        elif word == "minItems":
            if not asked <= len(value) <= rule.get("maxItems", len(value)):
                yield f"{at} has {len(value)} items"
        elif word == "anyOf":
            if all(list(complaints(value, one, root, at)) for one in asked):
                yield f"{at} is none of {len(asked)}"
        elif word in ("const", "enum"):
            if value not in (asked if word == "enum" else [asked]):
                yield f"{at} must be {asked}: {value!r}"
        elif word in ("minimum", "maximum"):
            if (value - asked) * (1 if word == "minimum" else -1) < 0:
                yield f"{at} is beyond {asked}: {value!r}"
        elif word == "pattern":
            if not re.search(asked, value):
                yield f"{at} does not match {asked}: {value!r}"
        else:
            raise AssertionError(f"the test does not know {word!r}")
    rest = rule.get("additionalProperties")
    if isinstance(rest, dict):
        for name, one in value.items():
            yield from complaints(one, rest, root, f"{at}.{name}")


def table_for(name):
    """Two groups of rows with gaps, or two loadings that add up."""
    about, rng = MODELS[name].about, np.random.default_rng(0)
    centres = np.array([[2.0, 9, 4, 12, 3], [10, 3, 9, 2, 8]])
    hidden = np.eye(2)[rng.integers(2, size=N)] if about.labels else rng.gamma(1.0, size=(N, 2))
    if about.sequences:
        hidden = np.eye(2)[np.cumsum(rng.random(N) < 0.2) % 2]
    rates = hidden @ centres
    X = rng.poisson(rates).astype(float) if about.counts else rng.normal(rates)
    X[rng.random(N) < 0.3, 4] = np.nan
    return pd.DataFrame(X, columns=["a", "b", "c", "d", "e"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_the_twin_of_every_model_is_as_the_schema_has_it(name):
    X = table_for(name)
    model = MODELS[name](2, random_state=0).fit(X)
    lost = Outcome.of("lost", X["e"].isna())
    report = report_of(model.case(X), include_rows=True, outcomes=(lost,))
    twin, page = json.loads(as_json(report)), as_page(report)
    assert list(complaints(twin, schema(), schema())) == []
    without = json.loads(as_json(replace(report, rows=None)))
    assert list(complaints(without, schema(), schema())) == []
    assert (twin["rows"] is not None, without["rows"]) == (True, None)
    assert twin["model"]["n_components"] == 2
    assert [one["share"] for one in twin["components"]] == sorted(
        (one["share"] for one in twin["components"]), reverse=True
    )
    told = [chapter for chapter, _ in report.concerns]
    assert [one["chapter"] for one in twin["concerns"]] == [chapter.anchor for chapter in told]
    for component in twin["components"]:
        assert f'id="{component["anchor"]}"' in page
        assert set(component["averages"]) == set(X.columns)
    anchors = [chart["anchor"] for one in twin["chapters"] for chart in one["charts"]]
    assert len(anchors) == len(set(anchors))
    assert "outcomes" in [one["anchor"] for one in twin["chapters"]]


def test_the_schema_refuses_what_is_not_as_it_has_it():
    X = table_for("gaussian")
    twin = json.loads(report_as(GaussianMixture(2).fit(X).case(X), "json"))
    wrong = [
        {**twin, "more": 1},
        {key: value for key, value in twin.items() if key != "title"},
        {**twin, "components": []},
        {**twin, "components": [{**twin["components"][0], "share": 1.5}]},
        {**twin, "components": [{**twin["components"][0], "averages": {"a": "1"}}]},
        {**twin, "schema_version": 2},
    ]
    for one in wrong:
        assert list(complaints(one, schema(), schema()))


def test_numbers_are_those_of_the_model():
    X = table_for("gaussian")
    model = GaussianMixture(2, random_state=0).fit(X)
    twin = json.loads(report_as(model.case(X), "json"))
    found = model.intervals(X)
    for one in twin["components"]:
        k = one["component"]
        np.testing.assert_allclose(one["share"], model.weights_[k], rtol=6e-3)
        np.testing.assert_allclose(list(one["averages"].values()), model.means_[k], rtol=6e-3)
        ends = np.array(list(one["intervals"].values())).T
        np.testing.assert_allclose(
            ends, [found["means_"].low[k], found["means_"].high[k]], rtol=6e-3
        )
    assert twin["table"]["n_rows"] == N
    known = {one["name"]: one["known"] for one in twin["columns"]}
    np.testing.assert_allclose(known["e"], X["e"].notna().mean(), rtol=6e-3)


def test_what_is_withheld_is_in_no_twin():
    rng = np.random.default_rng(0)
    few = np.array([57.3, 81.9, -43.7])
    parts = [rng.normal(size=(150, 3)), rng.normal(10, 1, (100, 3)), few + rng.normal(size=(4, 3))]
    X = pd.DataFrame(np.vstack(parts), columns=list("abc"))
    model = GaussianMixture(3, outliers=None, random_state=0).fit(X)
    twin = json.loads(report_as(model.case(X), "json"))
    lone = twin["components"][2]
    assert lone["withheld"]
    assert lone["averages"] == lone["intervals"] == {}
    assert lone["brief"] == "withheld"
    hints = [f"{mean:.1f}" for mean in model.means_[lone["component"]]]
    for format in ("json", "md"):
        text = report_as(model.case(X), format)
        assert not any(hint in text for hint in hints)


def test_no_row_is_in_a_twin_unless_asked_for():
    X = table_for("gaussian")
    X.iloc[7] = [111.123, 222.234, 333.345, 444.456, 555.567]
    model = GaussianMixture(2, random_state=0).fit(X.drop(index=7))
    for format in ("json", "md"):
        text = report_as(model.case(X), format)
        assert not any(value in text for value in ("111.1", "222.2", "333.3", "444.4", "555.5"))


def test_shares_of_few_rows_are_bounds_in_twins_too():
    rng = np.random.default_rng(0)
    ill = rng.random(200) < 0.3
    X = pd.DataFrame({"age": rng.normal(40 + 30 * ill), "ward": np.where(ill, "ICU", "home")})
    X.loc[X.index[~ill][:3], "ward"] = "Aachen"
    case = LatentClass(2, random_state=0).fit(X).case(X)
    for format in ("json", "md"):
        text = report_as(case, format)
        assert "Aachen" not in text
        assert "1 other" in text


def test_of_very_many_columns_the_averages_are_those_that_tell(monkeypatch):
    X = table_for("gamma-poisson").fillna(1.0)
    case = GammaPoisson(2, refine=None, random_state=0).fit(X).case(X)
    whole = json.loads(report_as(case, "json"))
    monkeypatch.setattr("halfseen.report.export.MANY_COLUMNS", 2)
    part = json.loads(report_as(case, "json"))
    for few, every in zip(part["components"], whole["components"], strict=True):
        assert few["averages"].items() < every["averages"].items()
        largest = max(every["averages"], key=every["averages"].get)
        assert largest in few["averages"]
    assert (len(whole["columns"]), len(part["columns"])) == (5, 2)


def test_markdown_holds_the_sentences_and_nothing_of_it_is_markup():
    evil = "<b onclick=x>|`*_[a](b)"
    X = table_for("gaussian").rename(columns={"e": evil})
    text = report_as(GaussianMixture(2).fit(X).case(X), "md", title=evil)
    assert text.startswith(r"# \<b onclick=x\>\|\`\*\_\[a\](b)")
    assert evil not in text
    assert "- **What there is.** The 300 rows fall into 2 groups" in text
    assert "### Group 1: " in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert re.sub(r"\\\|", "", line).count("|") >= 3


@pytest.mark.parametrize(
    ("path", "asked", "format"),
    [("a.html", None, "html"), ("a.JSON", None, "json"), ("a.md", None, "md"), ("a", None, "html"),
     ("a.html", "json", "json"), ("a.json", "html", "html")],
)  # fmt: skip
def test_the_format_is_what_is_asked_for_or_what_the_path_ends_in(path, asked, format):
    assert format_of(path, asked) == format
    assert set(FORMATS) == {"html", "json", "md"}


def test_other_formats_are_refused(tmp_path):
    X = table_for("gaussian")
    with pytest.raises(ValueError, match=r"format must be one of html, json, md. Got 'pdf'"):
        GaussianMixture(2).fit(X).report(X, tmp_path / "a", format="pdf")


def test_the_command_line_writes_twins(tmp_path):
    X = table_for("gaussian")
    X.to_csv(tmp_path / "t.csv", index=False)
    GaussianMixture(2).fit(X).save(tmp_path / "m.halfseen")
    model, data = str(tmp_path / "m.halfseen"), str(tmp_path / "t.csv")
    for options in (["--out", "r.json"], ["--format", "json", "--out", "r.txt"]):
        *rest, name = options
        done = CliRunner().invoke(app, ["report", model, data, *rest, str(tmp_path / name)])
        assert done.exit_code == 0, done.output
        twin = json.loads((tmp_path / name).read_text("utf-8"))
        assert twin["title"] == "2 groups in t.csv"
