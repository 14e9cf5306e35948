"""``llms.txt``: the pages of the site, one a line, for programs that read rather than look."""

from pathlib import Path

from sphinx.application import Sphinx

HEAD = """# halfseen

> Latent-variable models (groups, classes, states, topics) and imputation from tables with gaps:
> a Python library in the manner of scikit-learn, a command line, and a page that explains what was
> learned.

One command from a file to a page: `halfseen fit table.csv --out table.halfseen`, then
`halfseen report table.halfseen table.csv --out report.html`. In Python:
`from halfseen import GaussianMixture, LatentClass, HiddenMarkov, GammaPoisson, Imputer`.
"""
CHAPTERS = (
    ("Start", lambda page: "/" not in page and page in STARTING),
    ("Guide", lambda page: page.startswith("guide/")),
    ("Examples", lambda page: page.startswith("gallery/plot_")),
    ("Method", lambda page: page.startswith("inference/")),
    ("API", lambda page: page.startswith("api")),
    ("More", lambda page: True),
)
STARTING = {"installation", "first_steps", "reading_the_page", "when_not_to_trust", "comparison"}
LEFT_OUT = ("gallery/backreferences", "gallery/sg_execution_times", "sg_execution_times", "index")


def write_list(app: Sphinx, failed: Exception | None) -> None:
    """Every page, with its title, by its source where that is text."""
    if failed or app.builder.format != "html":
        return
    pages = {page for page in app.env.found_docs if not page.startswith(LEFT_OUT)}
    text = HEAD
    for title, belongs in CHAPTERS:
        chosen = sorted(page for page in pages if belongs(page))
        pages -= set(chosen)
        text += f"\n## {title}\n\n" + "".join(_line(app, page) for page in chosen)
    (Path(app.outdir) / "llms.txt").write_text(text, encoding="utf-8")


def _line(app: Sphinx, page: str) -> str:
    title = app.env.titles[page].astext()
    if page.startswith("api"):  # whose sources only say where the docstrings are
        return f"- [{title}]({page}.html)\n"
    source = Path(app.env.doc2path(page)).suffix
    return f"- [{title}](_sources/{page}{source}.txt)\n"


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("build-finished", write_list)
    return {"parallel_read_safe": True}
