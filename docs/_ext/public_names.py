"""The API reference: which names are public, and which of their methods are ours to document."""

import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

import halfseen
from halfseen import models, plots

CHAPTERS = {
    "Models": "Estimators in the manner of scikit-learn, learned from tables with gaps.",
    "Gaps filled": "Without a model of groups, and what is estimated from several filled tables.",
    "Questions about a table": "Functions that take any model by its name.",
    "Data": "What says where rows are, and which cells of sparse tables were looked for.",
    "Answers": "What functions and methods return.",
    "Warnings and errors": "Everything that is raised or warned of on purpose.",
}
PLACES = {
    "Imputer": "Gaps filled",
    "pool": "Gaps filled",
    "Files": "Data",
    "ObservedBlocks": "Data",
    "Text": "Data",
    "Plan": "Data",
    "Stream": "Data",
    "summed": "Data",
}
MODULES = {
    "halfseen.plots": "Pictures for notebooks (extra `plots`).",
    "halfseen.simulate": "Tables with gaps whose truth is known, to try things on.",
    "halfseen.recovery": "How near learned components are to true ones.",
}


INNER = {"candidate", "case", "checked", "fitted", "hidden", "learns"}
"""What other rooms of the library ask of estimators, and nobody else should."""


def public() -> list[str]:
    """All public names of the package."""
    return sorted({*halfseen.__all__, *models.ESTIMATORS})


def chapter(name: str) -> str:
    """Where a name stands in the reference; a new one finds its place by what it is."""
    value = getattr(halfseen, name)
    if name in models.ESTIMATORS:
        return "Models"
    if name in PLACES:
        return PLACES[name]
    if inspect.isclass(value):
        return "Warnings and errors" if issubclass(value, Exception) else "Answers"
    return "Questions about a table"


def functions(module: str) -> list[str]:
    """Public functions of a module."""
    home = plots if module == "halfseen.plots" else getattr(halfseen, module.partition(".")[2])
    named = getattr(home, "__all__", None) or [
        name
        for name, value in vars(home).items()
        if inspect.isfunction(value) and value.__module__ == home.__name__ and name[0] != "_"
    ]
    return sorted(named)


def reference() -> str:
    """The page that lists everything public."""
    lines = [
        "# API reference",
        "",
        "Everything public, each with an example that is run as a test.",
    ]
    for title, about in CHAPTERS.items():
        names = [name for name in public() if chapter(name) == title]
        lines += ["", f"## {title}", "", about, "", *table("halfseen", names)]
    for module, about in MODULES.items():
        lines += ["", f"## {module}", "", about, "", *table(module, functions(module))]
    return "\n".join(lines) + "\n"


def table(module: str, names: list[str]) -> list[str]:
    """A table of names with their first sentences, which makes a page of each."""
    inner = [f".. currentmodule:: {module}", "", ".. autosummary::", "   :toctree: api", ""]
    return ["```{eval-rst}", *inner, *(f"   {name}" for name in names), "```"]


def own_methods(module: str, name: str) -> list[str]:
    """Methods of a class that are written here, in the order of the alphabet."""
    owner = getattr(importlib.import_module(module), name)
    members = (member for member in dir(owner) if member[0] != "_" and member not in INNER)
    return sorted(member for member in members if _ours(owner, member))


def _ours(owner: type, member: str) -> bool:
    found: Any = inspect.getattr_static(owner, member)
    if hasattr(found, "fn"):  # there on a condition
        return hasattr(owner(), member) and _written_here(found.fn)
    return _written_here(getattr(found, "fget", None) or getattr(found, "__func__", found))


def _written_here(function: Any) -> bool:
    written = inspect.isfunction(function) and function.__module__.startswith("halfseen")
    return written and bool(inspect.getdoc(function))


def is_verb(module: str, name: str, member: str) -> bool:
    """Whether it is called, rather than looked at."""
    return callable(getattr(getattr(importlib.import_module(module), name), member))


def write_reference(app: Any, *_: object) -> None:
    """Write ``api.md``, which is not kept under version control."""
    target, text = Path(app.srcdir) / "api.md", reference()
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    for module in MODULES:  # those that are loaded when asked for, under their public names
        home = plots if module == "halfseen.plots" else getattr(halfseen, module.partition(".")[2])
        sys.modules.setdefault(module, home)
    app.config.autosummary_context.update(own_methods=own_methods, is_verb=is_verb)
    app.connect("config-inited", write_reference)
    return {"parallel_read_safe": True}
