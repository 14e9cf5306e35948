"""The page of a run: rows that we lose first, then every case with its pictures and its rows."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benchmarks.bench import pictures, verdicts
from benchmarks.bench.case import OURS, Case
from benchmarks.bench.pictures import Axis, Series
from benchmarks.bench.results import Results, Row
from benchmarks.bench.verdicts import Compared, Growth
from halfseen.persistence.atomic import write_whole

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;font-size:13px;margin:.6rem 0;display:block;overflow-x:auto}
td,th{padding:.2rem .6rem;border-bottom:1px solid #e3e7ec;text-align:right;white-space:nowrap}
td:first-child,th:first-child,td:nth-child(2),th:nth-child(2){text-align:left}
tr.lost td{background:#fdf0ea} tr.ours td{font-weight:600} tr.none td{color:#6b6b6b}
svg{width:27rem;max-width:100%} .key{margin-right:1rem;white-space:nowrap}
.key i{display:inline-block;width:.8rem;height:.8rem;margin-right:.3rem;border-radius:50%}
.note{color:#555} details{margin:.4rem 0}
"""
NONE = "–"


def write(results: Results, cases: Mapping[str, Case], clock: str, path: Path) -> None:
    """The page, whole in one file."""
    held = [case for name, case in cases.items() if name in results.figures]
    every = [one for case in held for one in _compared(results, case, clock)]
    parts = [_head(results, clock), _summary(every), _losses(every, results, held)]
    parts += [_case(case, results, clock) for case in held]
    body = Markup("\n").join(parts)
    text = Markup(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>halfseen bench</title><style>{}</style></head><body>{}</body></html>\n"
    ).format(Markup(STYLE), body)
    write_whole(path, str(text).encode(), overwrite=True)


def _compared(results: Results, case: Case, clock: str) -> list[Compared]:
    return list(verdicts.compared(case, results.figures[case.name], clock))


def _head(results: Results, clock: str) -> Markup:
    about = results.about
    words = {"wall": "Seconds of the clock decide", "processor": "Seconds of the processor decide"}
    threads = f"{about['threads']} thread{'s' if about['threads'] > 1 else ''}"
    machine = ", ".join(f"{key} {value}" for key, value in about["machine"].items())
    versions = ", ".join(f"{key} {value}" for key, value in about["versions"].items())
    return Markup(
        "<h1>halfseen bench</h1><p>Every peer in a process of its own, with {}, on the same rows, "
        "judged by the same program. {} where errors are equal; both are shown. Everybody has seen "
        "a small table before the clock starts. Rows that are not here were not run yet: the same "
        "command goes on with them.</p>"
        '<p class="note"><code>{}</code><br>{}<br>{}</p>'
    ).format(threads, words[clock], about["command"], machine, versions)


def _summary(every: list[Compared]) -> Markup:
    rows = []
    for verdict, words in verdicts.WORDS.items():
        rows.append((words, sum(one.verdict == verdict for one in every)))
    return Markup("<h2>In short</h2>") + _table(("halfseen beside a peer", "rows"), rows)


def _losses(every: list[Compared], results: Results, held: list[Case]) -> Markup:
    lost = [one for one in verdicts.worst_first(every) if one.verdict in verdicts.LOST]
    if not lost:
        return Markup("<h2>Where we lose</h2><p>Nowhere in this run.</p>")
    whys = Markup("").join(
        Markup("<li><b>{}</b>: {}</li>").format(case.name, case.why)
        for case in held
        if case.why and any(one.case.name == case.name for one in lost)
    )
    head = ("case", "table", "peer", "", "error decided by", "ours", "theirs", "times our speed")
    rows = [
        (
            one.case.name,
            one.setting,
            one.entrant,
            verdicts.WORDS[one.verdict],
            one.case.metric,
            _number(one.ours),
            _number(one.theirs),
            _number(1 / max(one.faster, 1e-9)),
        )
        for one in lost
    ]
    return Markup("<h2>Where we lose</h2><ul>{}</ul>{}").format(whys, _table(head, rows))


def _case(case: Case, results: Results, clock: str) -> Markup:
    figures = results.figures[case.name]
    found = {(one.setting, one.entrant): one for one in _compared(results, case, clock)}
    who = Markup("").join(
        Markup("<li><b>{}</b>: {}</li>").format(name, entrant.words)
        for name, entrant in case.entrants.items()
        if entrant.words
    )
    return Markup("<h2>{}</h2><p>{}</p><ul>{}</ul>{}{}").format(
        case.name, case.asks, who, _drawn(case, figures, clock), _rows(case, figures, found)
    )


def _drawn(case: Case, figures: dict[str, dict[str, Row]], clock: str) -> Markup:
    of = pictures.colours(case.entrants)
    what = verdicts.CLOCKS[clock]
    parts = [pictures.legend(of), Markup("<br>")]
    parts += _against_size(case, figures, what, "seconds", of)
    parts += _against_size(case, figures, "peak MB", "MB at most", of)
    parts += _error_against_time(case, figures, what, of)
    return Markup("").join(parts)


def _against_size(
    case: Case, figures: dict[str, dict[str, Row]], what: str, words: str, of: dict[str, str]
) -> Iterator[Markup]:
    every = sorted(verdicts.growth(case, figures, what), key=lambda one: one.of)
    for same, lines in groupby(every, key=lambda one: one.of):
        held = list(lines)
        series = [Series(one.entrant, one.sizes, one.seconds) for one in held]
        axes = Axis(held[0].along), Axis(words)
        yield pictures.chart(same, *axes, series, of)
        if what != "peak MB":
            yield _exponents(held)


def _exponents(lines: list[Growth]) -> Markup:
    told = "; ".join(f"{one.entrant} {one.exponent:.2f}" for one in lines)
    return Markup('<p class="note">Exponents of {}, larger tables: {}.</p>').format(
        lines[0].along, told
    )


def _error_against_time(
    case: Case, figures: dict[str, dict[str, Row]], what: str, of: dict[str, str]
) -> Iterator[Markup]:
    """As multiples of ours, all tables in one picture."""
    series = []
    for name in case.entrants:
        points = [
            (row[what] / own[what], row["errors"][case.metric] - own["errors"][case.metric])
            for rows in figures.values()
            for row, own in [(rows.get(name, {}), rows.get(OURS, {}))]
            if "errors" in row and "errors" in own and own[what]
        ]
        if points:
            x, y = zip(*points, strict=True)
            series.append(Series(name, x, y, joined=False))
    if len(series) > 1:
        axes = Axis("seconds, as a multiple of ours"), Axis(f"{case.metric} above ours", log=False)
        yield pictures.chart("error against time, every table", *axes, series, of)


def _rows(
    case: Case, figures: dict[str, dict[str, Row]], found: dict[tuple[str, str], Compared]
) -> Markup:
    errors = (case.metric, *case.more)
    head = ("table", "", *errors, "seconds", "of the processor", "MB", "we are faster", "")
    body = []
    for setting in case.settings:
        for name, row in figures.get(setting.title, {}).items():
            body.append(_row(setting.title, name, row, errors, found.get((setting.title, name))))
    rows = Markup("").join(body)
    names = Markup("").join(Markup("<th>{}</th>").format(name) for name in head)
    table = Markup("<table><tr>{}</tr>{}</table>").format(names, rows)
    return Markup("<details><summary>All rows</summary>{}</details>").format(table)


def _row(
    setting: str, name: str, row: Row, errors: tuple[str, ...], one: Compared | None
) -> Markup:
    if "errors" not in row:
        why = row.get("absent") or row.get("stopped") or row.get("failed")
        cells = [setting, name, *(NONE for _ in errors), NONE, NONE, NONE, NONE, why]
        return _line(cells, "none")
    told = [_number(row["errors"].get(error)) for error in errors]
    took = [_number(row[key]) for key in ("seconds", "processor", "peak MB")]
    faster = NONE if one is None else _number(one.faster)
    words = "" if one is None else verdicts.WORDS[one.verdict]
    kind = "ours" if name == OURS else "lost" if one and one.verdict in verdicts.LOST else ""
    return _line([setting, name, *told, *took, faster, words], kind)


def _line(cells: list[Any], kind: str) -> Markup:
    each = Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells)
    return Markup('<tr class="{}">{}</tr>').format(kind, each)


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Markup:
    names = Markup("").join(Markup("<th>{}</th>").format(name) for name in head)
    body = Markup("").join(_line(list(row), "") for row in rows)
    return Markup("<table><tr>{}</tr>{}</table>").format(names, body)


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.4g}"
