"""Results say which code they were measured on, and which of them are older than it."""

import json
import subprocess

import pytest

from benchmarks import results_file, stale
from benchmarks.measured_code import measured_code


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder, file, text):
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-m", "x")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository with sources, and a folder for results."""
    git(tmp_path, "init")
    commit(tmp_path, "src/halfseen/rows/one.py", "1")
    monkeypatch.setattr(results_file, "FOLDER", tmp_path / "results")
    return tmp_path


def measure(project, name="thing"):
    results_file.write(name, "python -m thing", {"figure": 1.0}, project / "src" / "halfseen")


def sentences(project):
    found = stale.ages(project / "results", project / "src" / "halfseen")
    return {one.name: one.sentence for one in found}


def test_a_result_says_which_commit_of_the_sources_it_is_of(project):
    before = measured_code(project / "src" / "halfseen")
    commit(project, "README.md", "not of the sources")
    assert measured_code(project / "src" / "halfseen") == before
    measure(project)
    assert json.loads((project / "results" / "thing.json").read_text())["code"] == before
    assert not before["dirty"]


def test_a_result_of_todays_sources_is_not_stale(project):
    measure(project)
    commit(project, "README.md", "not of the sources")
    assert sentences(project)["thing"].endswith("as the sources are today")


def test_a_result_is_stale_once_sources_change_and_the_parts_are_named(project):
    measure(project)
    commit(project, "src/halfseen/rows/one.py", "2")
    commit(project, "src/halfseen/method/two.py", "2")
    assert sentences(project)["thing"].endswith("2 commits ago: method, rows")


def test_it_is_not_once_they_are_as_they_were(project):
    measure(project)
    commit(project, "src/halfseen/rows/one.py", "2")
    commit(project, "src/halfseen/rows/one.py", "1")
    assert sentences(project)["thing"].endswith("as the sources are today")


def test_changes_that_were_not_committed_are_told(project):
    (project / "src/halfseen/rows/one.py").write_text("3")
    measure(project)
    assert sentences(project)["thing"].endswith("with changes that were not committed")


def test_old_files_have_an_unknown_commit_and_are_named_by_their_version(project):
    (project / "results").mkdir()
    content = {"command": "x", "versions": {"halfseen": "0.1.0"}, "figures": {}}
    (project / "results" / "old.json").write_text(json.dumps(content))
    measure(project)
    assert sentences(project)["old"] == "unknown commit, halfseen 0.1.0"
    assert next(iter(sentences(project))) == "old"  # the oldest comes first


def test_a_commit_of_another_history_is_told(project):
    measure(project)
    path = project / "results" / "thing.json"
    content = json.loads(path.read_text())
    content["code"] |= {"commit": "0" * 40, "tree": "0" * 40}
    path.write_text(json.dumps(content))
    assert sentences(project)["thing"] == "000000000, whose sources are not in this history"
    commit(project, "README.md", "with the results")
    commit(project, "src/halfseen/rows/one.py", "2")
    assert sentences(project)["thing"].endswith(", 1 commits ago")


def test_a_commit_that_was_rewritten_is_found_by_its_sources(project):
    """As after a rebase: the code that was measured landed under another name."""
    measure(project)
    git(project, "commit", "--amend", "-m", "another name")
    landed = measured_code(project / "src" / "halfseen")["commit"][:9]
    assert sentences(project)["thing"].endswith("as the sources are today")
    commit(project, "src/halfseen/rows/one.py", "2")
    assert sentences(project)["thing"].endswith(f", rewritten as {landed}, 1 commits ago: rows")


def test_sources_that_are_not_under_version_control_say_nothing(tmp_path):
    assert measured_code(tmp_path) == {}


def test_every_kept_result_is_listed(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["x", "--all"])
    stale.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(list(results_file.FOLDER.glob("*.json")))
    assert lines[-1].endswith("are not known to be of today's sources.")
