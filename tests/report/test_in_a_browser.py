"""The page as a browser shows it."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import GammaPoisson, GaussianMixture, simulate
from halfseen.cli.app import app

HOSTILE = [
    "<script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=\'owned\'">',
    "' onmouseover='document.title=\"owned\"",
    "</svg><script>document.title='owned'</script>",
    "{{ 7 * 7 }} ${7*7}",
]

MARKS = """(() => [...document.querySelectorAll('svg.chart')].map(chart => {
  const box = chart.getBoundingClientRect();
  const marks = [...chart.querySelectorAll('.mark')];
  return {
    name: chart.getAttribute('aria-label'),
    width: box.width, height: box.height,
    marks: marks.length,
    drawn: marks.map(m => m.getBoundingClientRect()).filter(b => b.width && b.height).length,
    cut: [...chart.querySelectorAll('text')].filter(t => {
      const b = t.getBoundingClientRect();
      return b.left < box.left - 1 || b.right > box.right + 1 || b.bottom > box.bottom + 1;
    }).map(t => t.textContent),
    named: marks.filter(m => m.getAttribute('aria-label')).length,
    inTabOrder: marks.filter(m => m.tabIndex === 0).length,
  };
}))()"""


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The demonstration, topics, and a table whose names attack the page."""
    folder = tmp_path_factory.mktemp("pages")
    demo, topics, hostile = (folder / f"{name}.html" for name in ("demo", "topics", "hostile"))
    assert CliRunner().invoke(app, ["demo", "--out", str(demo)]).exit_code == 0
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(12, 0.3), size=3)
    counts, _ = simulate.gamma_poisson(2000, shares, [1.0, 1.0, 1.0], 0.03, rng)
    counts = simulate.independent_gaps(counts, [1.0] * 8 + [0.5] * 4, rng)
    GammaPoisson(3).fit(counts).report(counts, topics)
    X, _ = simulate.gaussian_mixture(900, [0.5, 0.5], [[0] * 5, [5] * 5], 1.0, rng)
    frame = pd.DataFrame(simulate.independent_gaps(X, [1, 1, 1, 1, 0.5], rng), columns=HOSTILE)
    model = GaussianMixture(2).fit(frame)
    model.report(frame, hostile, title=HOSTILE[0], include_rows=True)
    return {"demo": demo, "topics": topics, "hostile": hostile}


PHONE, LAPTOP, WIDE = 390, 1280, 1920


@pytest.mark.parametrize("width", [PHONE, LAPTOP, WIDE])
@pytest.mark.parametrize("name", ["demo", "topics", "hostile"])
def test_every_chart_is_drawn_without_errors_or_requests(page, paths, name, width, tmp_path):
    page.open(paths[name], width, mobile=width < 500)
    charts = page.run(MARKS)
    assert len(charts) >= 6
    for chart in charts:
        assert chart["width"] > 300
        assert chart["height"] > 20
        assert 0 < chart["marks"] == chart["drawn"] == chart["named"]
        assert chart["inTabOrder"] == 1
        assert chart["cut"] == []
    assert page.run("document.title") != "owned"
    assert page.run("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.complaints() == []
    assert set(page.requests()) <= {paths[name].as_uri(), "data:,"}
    # To look at them: HALFSEEN_PICTURES=docs python -m pytest tests/report
    picture = Path(os.environ.get("HALFSEEN_PICTURES", tmp_path)) / f"report-{name}-{width}.png"
    clip = {"x": 0, "y": 0, "width": width, "height": 1500, "scale": 1}
    page.picture(picture, clip=clip, captureBeyondViewport=True)
    assert picture.stat().st_size > 10_000


def place_of(page, chart, mark):
    return page.run(
        f"""(() => {{
          const mark = document.querySelectorAll('svg.chart')[{chart}]
            .querySelectorAll('.mark')[{mark}];
          mark.scrollIntoView({{block: 'center'}});
          const box = mark.getBoundingClientRect();
          const words = mark.getAttribute('aria-label');
          return [box.left + box.width / 2, box.top + box.height / 2, words];
        }})()"""
    )


TIP = "(t => t.hidden ? null : t.textContent)(document.getElementById('tip'))"


def test_charts_use_the_width_there_is(page, paths):
    """Beside each other on wide screens, below each other on a phone, and cards likewise."""
    side_by_side = """(() => { const tops = e => [...document.querySelectorAll(e)]
      .map(x => Math.round(x.getBoundingClientRect().top));
      const most = a => Math.max(...a.map(t => a.filter(u => u === t).length));
      return [most(tops('.card')), most(tops('svg.chart'))]; })()"""
    found = []
    for width in (PHONE, LAPTOP, WIDE):
        page.open(paths["demo"], width, mobile=width < 500)
        found.append(page.run(side_by_side))
    assert found[0] == [1, 1]
    assert min(found[1]) >= 2
    assert found[2][1] >= 3


def test_names_are_whole(page, tmp_path):
    long = "number of days in hospital before the first operation of any kind"
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(300, [0.5, 0.5], [[0] * 3, [5] * 3], 1.0, rng)
    X[:40, 0] = np.nan
    frame = pd.DataFrame(X, columns=[long, "PulseRateAtRestInTheEvening", "b"])
    GaussianMixture(2).fit(frame).report(frame, tmp_path / "long.html")
    page.open(tmp_path / "long.html", PHONE, mobile=True)
    words = page.run("[...document.querySelectorAll('svg text')].map(t => t.textContent).join(' ')")
    assert "…" not in words
    assert words.count(long) >= 4
    assert words.replace(" ", "").count("PulseRateAtRestInTheEvening") >= 4
    assert all(chart["cut"] == [] for chart in page.run(MARKS))


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_marks_say_what_they_are_when_pointed_at(page, paths, width):
    page.open(paths["demo"], width)
    for chart in range(page.run("document.querySelectorAll('svg.chart').length")):
        page.point(1, 1)
        x, y, words = place_of(page, chart, 0)
        page.point(x, y)
        assert page.run(TIP) == words
        inside = "(b => b.left >= 0 && b.right <= innerWidth && b.top >= 0)"
        assert page.run(f"{inside}(document.getElementById('tip').getBoundingClientRect())")
    page.point(1, 1)
    assert page.run(TIP) is None


def test_marks_are_reached_by_keyboard(page, paths):
    page.open(paths["demo"], LAPTOP)
    page.run("document.querySelector('svg.chart .mark[tabindex=\"0\"]').focus()")
    first = page.run(TIP)
    assert " in group 1: " in first
    page.press("ArrowRight")
    assert " in group 2: " in page.run(TIP)
    page.press("ArrowUp")
    assert page.run(TIP) == first
    page.press("Escape")
    assert page.run(TIP) is None


def media(page, *, kind="", scheme="light"):
    scheme = {"name": "prefers-color-scheme", "value": scheme}
    page.call("Emulation.setEmulatedMedia", media=kind, features=[scheme])


def test_chapters_and_cards_can_be_linked_to(page, paths):
    page.open(paths["demo"], LAPTOP)
    there = "[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href'))"
    links = page.run(there)
    assert {"#summary", "#components", "#group-1", "#group-4", "#gaps", "#sure"} <= set(links)
    assert page.run(f"{there}.filter(a => !document.getElementById(a.slice(1)))") == []
    ids = page.run("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    page.run("location.hash = '#group-3'")
    assert page.run("document.querySelector(':target').innerText").startswith("Group 3")


def test_on_paper_there_are_no_links_and_nothing_is_cut(page, paths):
    page.open(paths["demo"], 794)
    media(page, kind="print", scheme="dark")
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    hidden = "getComputedStyle(document.querySelector('{}')).display"
    assert page.run(hidden.format("nav")) == "none"
    assert page.run(hidden.format(".figures details")) == "none"
    assert all(chart["drawn"] == chart["marks"] > 0 for chart in page.run(MARKS))
    media(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_on_its_background(page, paths, scheme):
    """WCAG's ratio of 4.5 for all text, on the page and in the charts."""
    page.open(paths["demo"], LAPTOP)
    media(page, scheme=scheme)
    body = page.run("getComputedStyle(document.body).backgroundColor")
    assert body == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}[scheme]
    worst = page.run(
        """(() => {
          const parse = c => c.match(/[\\d.]+/g).map(Number);
          const lum = c => { const [r, g, b] = parse(c).slice(0, 3).map(v => { v /= 255;
            return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const ratio = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p);
            return (x + 0.05) / (y + 0.05); };
          const behind = e => { for (; e; e = e.parentElement) {
            const c = getComputedStyle(e).backgroundColor;
            if (c && c !== 'rgba(0, 0, 0, 0)') { return c; } } return 'rgb(255, 255, 255)'; };
          const over = (cell, page) => { const a = Number(getComputedStyle(cell).fillOpacity);
            const [f, b] = [parse(getComputedStyle(cell).fill), parse(page)];
            return 'rgb(' + [0, 1, 2].map(i => a * f[i] + (1 - a) * b[i]).join(',') + ')'; };
          const found = [];
          const words = 'h1,h2,h3,p,li,a,dt,dd,figcaption,summary,td,th';
          for (const e of document.querySelectorAll(words)) {
            found.push([ratio(getComputedStyle(e).color, behind(e)), e.tagName]);
          }
          for (const t of document.querySelectorAll('svg text')) {
            const cell = t.previousElementSibling;
            const inside = cell && cell.tagName === 'rect' && t.getAttribute('font-size') === '10';
            const back = inside ? over(cell, behind(t)) : behind(t);
            found.push([ratio(getComputedStyle(t).fill, back), t.textContent]);
          }
          return found.sort((a, b) => a[0] - b[0])[0];
        })()"""
    )
    media(page)
    assert worst[0] >= 4.5, worst
