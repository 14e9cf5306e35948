"""The one step up from estimators: ``model.report`` writes the page of the report layer."""

import os
from typing import Any


def write_page(model: Any, X: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the page that explains ``model``; loaded when asked for, as few need it."""
    from halfseen.report.page import write_report

    write_report(model, X, path, **options)
