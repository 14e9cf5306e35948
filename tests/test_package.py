"""What is installed is what is here: the wheel, the sdist, versions and bounds."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import halfseen

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BUILD = (
    "from hatchling.build import build_sdist, build_wheel; import sys; "
    "print(build_sdist(sys.argv[1])); print(build_wheel(sys.argv[1]))"
)


def ours(folder):
    """The files of a folder that are written by people."""
    made = ("__pycache__", ".nbi", ".nbc")
    files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return {
        path.relative_to(ROOT).as_posix() for path in files if not any(m in str(path) for m in made)
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("built")
    made = subprocess.run(
        [sys.executable, "-c", BUILD, folder], cwd=ROOT, capture_output=True, text=True, check=True
    )
    sdist, wheel = made.stdout.split()
    return folder / sdist, folder / wheel


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(built[1]) as opened:
        yield opened


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == {name.removeprefix("src/") for name in ours("src")}
    for name in ("py.typed", "datasets/clinic.csv", "report/assets/page.html"):
        assert f"halfseen/{name}" in held


def test_the_wheel_says_what_it_is(wheel):
    info = f"halfseen-{halfseen.__version__}.dist-info"
    said = message_from_bytes(wheel.read(f"{info}/METADATA"))
    assert said["Version"] == halfseen.__version__
    assert said["License-Expression"] == "BSD-3-Clause"
    assert set(said.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert "halfseen = halfseen.cli:main" in wheel.read(f"{info}/entry_points.txt").decode()
    licence = wheel.read(f"{info}/licenses/LICENSE").decode()
    assert licence == (ROOT / "LICENSE").read_text()


def test_the_sdist_holds_what_tests_and_pages_need(built):
    with tarfile.open(built[0]) as opened:
        top = f"halfseen-{halfseen.__version__}/"
        held = {name.removeprefix(top) for name in opened.getnames()}
    assert ours("src") <= held
    single = ("Makefile", "constraints.txt", "constraints-oldest.txt", "CITATION.cff", "README.md")
    assert {*single, "CHANGELOG.md", "LICENSE", "pyproject.toml", "tests/test_package.py"} <= held


def test_all_pages_tell_the_same_version():
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited is not None
    assert cited[1] == halfseen.__version__
    changes = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert halfseen.__version__ == next(one for one in changes if one != "Unreleased")


def bounds():
    """The lower bounds of all libraries that halfseen or one of its extras needs."""
    extras = PROJECT["optional-dependencies"]
    tools = {"bench", "docs", "dev"}  # which nobody needs who uses it
    needs = [*PROJECT["dependencies"], *(n for e in extras if e not in tools for n in extras[e])]
    found = (re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", need) for need in needs)
    return {one[1].lower(): one[2] for one in found if one is not None}


def test_the_oldest_versions_that_are_tried_are_those_that_are_allowed():
    lines = (ROOT / "constraints-oldest.txt").read_text().splitlines()
    tried = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    for name, bound in bounds().items():
        assert re.sub(r"(\.0)+$", "", tried[name]) == re.sub(r"(\.0)+$", "", bound), name
