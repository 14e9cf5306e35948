"""Figures that were measured, as they stand in ``benchmarks/results``: never typed in.

``{kept}`class_speed | ratio | .1f` `` is the figure of that name in ``class_speed.json``; the page
that lists all files is written from them.
"""

import json
import math
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
HEAD = """# Kept results

Everything in `benchmarks/results`, as the command above each table measured it. Figures of
different tables were measured on different days, some on a busy machine: compare within a table.
"""
DEEPEST = 3


def kept(path: str) -> str:
    """The figure at a path, written as the last part of it says."""
    *keys, form = (" ".join(part.split()) for part in path.split("|"))
    value = json.loads((RESULTS / f"{keys[0]}.json").read_text(encoding="utf-8"))["figures"]
    for key in keys[1:]:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return format(value, form)


def role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, *_: Any
) -> tuple[list[Any], list[Any]]:
    """The figure in a sentence."""
    from docutils import nodes

    try:
        return [nodes.Text(kept(text))], []
    except (OSError, KeyError, IndexError, TypeError, ValueError) as error:
        said = f"No figure {text!r} in benchmarks/results: {error!r}"
        message = inliner.reporter.warning(said, line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]


def all_results() -> str:
    """A page with a table for every file."""
    text = HEAD
    for path in sorted(RESULTS.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        if "command" not in found:
            continue
        text += f"\n## {path.stem}\n\n`{found['command']}`\n\n| figure | value |\n| --- | --- |\n"
        text += "".join(f"| {name} | {shown} |\n" for name, shown in flat(found["figures"]))
    return text


def flat(value: Any, name: str = "", depth: int = 0) -> list[tuple[str, str]]:
    """Names and values of a tree; what is too deep for a table is counted."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        if depth == DEEPEST or len(value) > 40:
            return [(name, f"{len(value)} figures, in the file")]
        return [line for key, each in pairs for line in flat(each, _joined(name, key), depth + 1)]
    return [(name, _shown(value))]


def _joined(name: str, key: Any) -> str:
    key = str(key).replace("|", "/")
    return f"{name}: {key}" if name else key


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "none" if math.isnan(value) else f"{value:.4g}"
    return str(value).replace("|", "/").replace("\n", " ")


def write_results(app: Any, *_: object) -> None:
    """Write the page to ``docs/project``, which is not kept under version control."""
    folder = Path(app.srcdir) / "project"
    folder.mkdir(exist_ok=True)
    target, text = folder / "results.md", all_results()
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_role("kept", role)
    app.connect("config-inited", write_results)
    return {"parallel_read_safe": True}
