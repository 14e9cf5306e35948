"""The steps up from estimators: what models say of themselves is above them."""

import os
from typing import Any


def write_page(model: Any, X: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the page that explains ``model``; loaded when asked for, as few need it."""
    from halfseen.explain.page import write_report

    write_report(model, X, path, **options)


def list_concerns(model: Any, X: Any, **options: Any) -> list[Any]:
    """What speaks against taking ``model`` at its word."""
    from halfseen.doubt.concerns import case_of, concerns_of

    return list(concerns_of(case_of(model, X, **options)))
