"""Every page of the documentation runs as written, and leads nowhere that is not there."""

import ast
import importlib.util
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import halfseen
from halfseen import models, plots
from halfseen.cli.app import COMMANDS as CLI
from halfseen.cli.app import app
from halfseen.datasets.clinic import PATH as SAMPLE

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = sorted((DOCS / "examples").glob("plot_*.py"))
TESTED_ELSEWHERE = {"add_a_column_kind.md", "add_a_model.md", "reproduction.md"}
NEEDS_A_CLUSTER = {"scale.md"}
GENERATED = {"api.md", "gallery/index.rst", "project/results.md"}
TAKES_LONG = {"bench", "demo", "reproduce"}  # tests/test_readme.py makes the demo


def own(folder):
    return [path for path in sorted(folder.glob("*.md")) if path.name != "api.md"]


PAGES = [*own(ROOT), *own(DOCS), *own(DOCS / "guide"), *own(DOCS / "method")]
BLOCKS = re.compile(r"^```(python|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINKS = re.compile(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"|^```\{image\} (\S+)", re.MULTILINE)


def text_of(page):
    return page.read_text(encoding="utf-8")


def blocks_of(page):
    return BLOCKS.findall(text_of(page))


def commands_in(block):
    lines = re.findall(r"^\$ (halfseen .*)$", block, re.MULTILINE)
    return [shlex.split(line)[1:] for line in lines]


def extension(name):
    """A module of the site's own, which needs nothing that the site is built with."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXECUTED = [
    page
    for page in PAGES
    if blocks_of(page) and page.name not in TESTED_ELSEWHERE | NEEDS_A_CLUSTER
]


def survey():
    """A table of mixed columns with gaps."""
    rng = np.random.default_rng(0)
    ill = rng.random(400) < 0.4
    frame = pd.DataFrame(
        {
            "age": rng.normal(np.where(ill, 70, 40), 8).round(1),
            "stage": np.where(ill, 3, 1) + rng.integers(2, size=400),
            "cough": np.where(rng.random(400) < np.where(ill, 0.9, 0.1), "yes", "no"),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.2)


def visits():
    """Forty patients on ten days."""
    rng = np.random.default_rng(0)
    ill = np.repeat(rng.random((40, 2)) < 0.5, 5, axis=1).ravel()
    frame = pd.DataFrame({"patient": np.repeat(np.arange(40), 10), "day": np.tile(range(10), 40)})
    temperature = rng.normal(np.where(ill, 39.0, 36.8), 0.4).round(1)
    return frame.assign(temperature=np.where(rng.random(400) < 0.3, np.nan, temperature))


def reviews():
    """Texts of two topics."""
    rng = np.random.default_rng(0)
    lists = ["soup", "bread", "waiter", "menu"], ["wheel", "brake", "petrol", "gear"]
    amounts = rng.poisson(rng.gamma(0.7, 6.0, (300, 2)))
    texts = [
        " ".join(
            word for words, n in zip(lists, both, strict=True) for word in rng.choice(words, n)
        )
        for both in amounts
    ]
    return pd.DataFrame({"id": range(300), "review": texts})


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with the tables that pages speak of."""
    import matplotlib.pyplot as plt

    lines = text_of(SAMPLE).splitlines(keepends=True)[:301]  # fewer are faster
    (tmp_path / "patients.csv").write_text("".join(lines), encoding="utf-8")
    survey().to_csv(tmp_path / "survey.csv", index=False)
    visits().to_csv(tmp_path / "visits.csv", index=False)
    reviews().to_csv(tmp_path / "reviews.csv", index=False)
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.stem)
@pytest.mark.usefixtures("desk")
def test_a_page_runs_from_top_to_bottom(page):
    names = {}
    for language, block in blocks_of(page):
        if language == "python":
            exec(compile(block, str(page), "exec"), names)
            continue
        for arguments in commands_in(block):
            if arguments[0] not in TAKES_LONG:
                result = CliRunner().invoke(app, arguments)
                assert result.exit_code == 0, result.output


def test_the_pages_show_every_command():
    shown = {
        arguments[0]
        for page in PAGES
        for language, block in blocks_of(page)
        if language == "console"
        for arguments in commands_in(block)
    }
    assert shown | TAKES_LONG == set(CLI)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_local_link_leads_somewhere(page):
    found = ("".join(parts) for parts in LINKS.findall(text_of(page)))
    links = [link for link in found if not re.match(r"[a-z]+:|#", link)]
    assert [link for link in links if not leads(page, link)] == []


def leads(page, link):
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve()
    if not target.exists():
        return generated(target)
    return not anchor or anchor in {slug(line) for line in headings(target)}


def generated(target):
    """Whether the site's build makes the page."""
    name = target.relative_to(DOCS).as_posix()
    copies = {f"project/{copy}" for copy in extension("root_pages").PAGES.values()}
    examples = {f"gallery/{example.stem}.rst" for example in EXAMPLES}
    return name in GENERATED | copies | examples


def headings(page):
    return re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def test_links_of_pages_that_move_are_turned():
    turned = extension("root_pages").turned
    assert (
        turned("[a](docs/scale.md) [b](ARCHITECTURE.md)") == "[a](../scale.md) [b](architecture.md)"
    )
    assert turned("[c](https://x.org) [d](#e)") == "[c](https://x.org) [d](#e)"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_figure_of_a_page_was_measured(page):
    kept = extension("kept").kept
    for path in re.findall(r"\{kept\}`([^`]+)`", text_of(page)):
        assert re.search(r"\d", kept(path)), path


def test_every_public_name_is_in_the_api_reference():
    listed = set(re.findall(r"^   (\w+)$", extension("public_names").reference(), re.MULTILINE))
    expected = {*halfseen.__all__, *models.ESTIMATORS, *plots.__all__}
    expected |= {"gaussian_mixture", "independent_gaps", "total_angle"}  # of simulate and recovery
    assert expected - listed == set()


@pytest.mark.parametrize("name", models.ESTIMATORS)
def test_every_verb_of_an_estimator_is_in_its_reference(name):
    methods = set(extension("public_names").own_methods("halfseen", name))
    assert {"fit", "score", "impute", "sample", "intervals", "concerns", "report"} <= methods
    assert ("predict" in methods) == hasattr(getattr(halfseen, name)(), "predict")
    assert "case" not in methods  # which is for other rooms of the library


def test_every_extra_is_on_the_page_of_installation():
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    page = text_of(DOCS / "installation.md")
    named = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    extras = project["optional-dependencies"]
    assert named == {name for name, needs in extras.items() if needs}
    assert all(f"`{name}`" in page for name in extras)


def test_there_are_examples_enough():
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_can_be_read_and_draws_a_picture(example):
    tree = ast.parse(text_of(example))
    title, line, *_ = ast.get_docstring(tree).splitlines()
    assert set(line) == {"="}
    assert len(line) >= len(title)
    assert re.search(r"plt\.subplots|plots\.\w+\(|\.plot\(", text_of(example))
    compile(tree, str(example), "exec")
