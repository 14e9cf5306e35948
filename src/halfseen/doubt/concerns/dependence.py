"""Concerns about rows that depend on each other though nobody said so."""

from collections.abc import Iterator

from halfseen.doubt.concerns.case import Case
from halfseen.doubt.concerns.concern import Concern, Gravity, Subject
from halfseen.rows.naming import quoted
from halfseen.tables.identifiers import OF_SEVERAL_ROWS


def rows_share_identifiers(case: Case) -> Iterator[Concern]:
    """A column that was left out names what several rows are of, such as a patient."""
    columns = case.fitted.diagnostics.columns
    if columns is None or case.bins.labels is not None or case.rows.sequenced:
        return
    said = zip(columns.names, columns.sentences, strict=True)
    shared = [name for name, sentence in said if OF_SEVERAL_ROWS.alone in sentence]
    if shared:
        yield Concern(
            "rows_depend",
            f"Rows that share {quoted(shared, range(len(shared)))} depend on each other, as a "
            "rule, and were taken to be independent: intervals are narrower than they should be. "
            "Name that column as groups, or learn states along it if rows follow each other.",
            Subject.VALUES,
            Gravity.CARE,
        )
