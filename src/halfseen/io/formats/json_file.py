"""JSON: an object a line, or one list of objects."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from halfseen.data.errors import DataError
from halfseen.io.formats.csv_dialect import ReadOptions
from halfseen.io.formats.in_memory import LoadedTable, arrow_column


def read_json(file: Path, given: ReadOptions) -> LoadedTable:
    """The objects of a file, by their keys; what some lack is a gap there."""
    objects = _objects(file, given.encoding or "utf-8-sig")
    names = dict.fromkeys(key for one in objects for key in one)
    columns = {name: [one.get(name) for one in objects] for name in names}
    return LoadedTable(pa.table({str(name): _column(cells) for name, cells in columns.items()}))


def _column(cells: list[Any]) -> Any:
    nested = any(isinstance(cell, dict | list) for cell in cells)
    return pa.array(cells) if nested else arrow_column(cells)


def _objects(file: Path, encoding: str) -> list[dict[str, Any]]:
    text = file.read_text(encoding)
    try:
        whole = json.loads(text)
        found = whole if isinstance(whole, list) else [whole]
    except json.JSONDecodeError:
        found = [json.loads(line) for line in text.splitlines() if line.strip()]
    if len(found) == 1 and isinstance(found[0], dict) and _by_column(found[0]):
        by_column = found[0]
        columns = zip(*by_column.values(), strict=True)
        return [dict(zip(by_column, row, strict=True)) for row in columns]
    if not all(isinstance(one, dict) for one in found):
        raise DataError(
            f"{file.name} holds JSON that is no table. Write a list of objects, or an object a "
            'line, such as {"age": 61, "pulse": 80}.'
        )
    return found


def _by_column(one: dict[str, Any]) -> bool:
    """Whether an object holds lists that are as long."""
    lists = [value for value in one.values() if isinstance(value, list)]
    return bool(lists) and len(lists) == len(one) and len({len(each) for each in lists}) == 1
