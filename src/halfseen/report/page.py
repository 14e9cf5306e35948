"""The page: everything about a model that people should know, in one file."""

import base64
import hashlib
from importlib.resources import files

from halfseen.report.charts.markup import Markup
from halfseen.report.report import Report


def as_page(report: Report) -> str:
    """The page as HTML, which needs nothing from elsewhere."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # late: only pages need it

    environment = Environment(
        loader=PackageLoader("halfseen.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script, style = (_asset(name) for name in ("page.js", "page.css"))
    return environment.get_template("page.html").render(
        report=report,
        script=script,
        style=style,
        script_digest=_digest(script),
        style_digest=_digest(style),
    )


def _asset(name: str) -> Markup:
    return Markup(files("halfseen.report").joinpath("assets", name).read_text("utf-8"))


def _digest(text: str) -> str:
    """What the page's own policy knows its script and style by; no others run."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
