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


@pytest.mark.parametrize("width", [390, 1100])
@pytest.mark.parametrize("name", ["demo", "topics", "hostile"])
def test_every_chart_is_drawn_without_errors_or_requests(page, paths, name, width, tmp_path):
    page.open(paths[name], width, mobile=width < 500)
    charts = page.run(MARKS)
    assert len(charts) >= 7 - (name == "topics")
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
    # To look at them: HALFSEEN_PICTURES=docs python -m pytest tests/explain
    picture = Path(os.environ.get("HALFSEEN_PICTURES", tmp_path)) / f"report-{name}-{width}.png"
    clip = {"x": 0, "y": 0, "width": width, "height": 1800, "scale": 1}
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


@pytest.mark.parametrize("width", [390, 1100])
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
    page.open(paths["demo"], 1100)
    page.run("document.querySelector('svg.chart .mark[tabindex=\"0\"]').focus()")
    first = page.run(TIP)
    assert first.startswith("group 1: ")
    page.press("ArrowRight")
    assert page.run(TIP).startswith("group 2: ")
    page.press("ArrowUp")
    assert page.run(TIP) == first
    page.press("Escape")
    assert page.run(TIP) is None


def test_on_paper_there_are_no_links_and_nothing_is_cut(page, paths):
    page.open(paths["demo"], 794)
    page.call("Emulation.setEmulatedMedia", media="print")
    hidden = "getComputedStyle(document.querySelector('{}')).display"
    assert page.run(hidden.format("nav")) == "none"
    assert page.run(hidden.format("details")) == "none"
    assert all(chart["drawn"] == chart["marks"] > 0 for chart in page.run(MARKS))
    page.call("Emulation.setEmulatedMedia", media="")


def test_text_is_legible_on_its_background(page, paths):
    """WCAG's ratio of 4.5 for all text, on the page and in the charts."""
    page.open(paths["demo"], 1100)
    worst = page.run(
        """(() => {
          const parse = c => c.match(/[\\d.]+/g).map(Number);
          const lum = c => { const [r, g, b] = parse(c).map(v => { v /= 255;
            return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const ratio = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p);
            return (x + 0.05) / (y + 0.05); };
          const found = [];
          for (const e of document.querySelectorAll('h1,h2,h3,p,li,a,figcaption,summary,td,th')) {
            found.push([ratio(getComputedStyle(e).color, 'rgb(255, 255, 255)'), e.tagName]);
          }
          for (const t of document.querySelectorAll('svg text')) {
            const cell = t.previousElementSibling;
            const inside = cell && cell.tagName === 'rect' && t.getAttribute('font-size') === '10';
            const back = inside ? getComputedStyle(cell).fill : 'rgb(255, 255, 255)';
            found.push([ratio(getComputedStyle(t).fill, back), t.textContent]);
          }
          return found.sort((a, b) => a[0] - b[0])[0];
        })()"""
    )
    assert worst[0] >= 4.5, worst
