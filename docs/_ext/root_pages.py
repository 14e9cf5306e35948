"""Pages of the repository's root as pages of the site, their links turned to where they now are."""

import re
from pathlib import Path
from typing import Any

PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}


def write_pages(app: Any, *_: object) -> None:
    """Copy the pages to ``docs/project``, which is not kept under version control."""
    folder = Path(app.srcdir) / "project"
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        text = turned((Path(app.srcdir).parent / name).read_text(encoding="utf-8"))
        target = folder / page
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def turned(text: str) -> str:
    """The same text with links as seen from ``docs/project``.

    >>> turned("[a](docs/scale.md) [b](ARCHITECTURE.md) [c](README.md)")
    '[a](../scale.md) [b](architecture.md) [c](../../README.md)'
    """

    def turn(link: re.Match[str]) -> str:
        path = link.group(1)
        if path.startswith(("http", "#")):
            return link.group(0)
        if path.startswith("docs/"):
            return f"](../{path.removeprefix('docs/')})"
        return f"]({PAGES.get(path, f'../../{path}')})"

    return re.sub(r"\]\(([^)\s]+)\)", turn, text)


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
