"""Results never go over what is read, keep permissions, and are whole or not there."""

import errno
import os
import stat

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import GaussianMixture, load
from halfseen.cli.app import app
from tests.cli.options import DIAG

NAMES = ["age", "pulse", "lactate"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) + (np.arange(120) % 2 * 6)[:, None]
    return pd.DataFrame(np.where(rng.random(X.shape) < 0.02, np.nan, X), columns=NAMES)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "parts").mkdir()
    for path in ("t.csv", "parts/a.csv", "parts/b.csv"):
        _table().to_csv(tmp_path / path, index=False)
    GaussianMixture(2).fit(_table()).save(tmp_path / "m.csv")  # a name like any other
    os.link(tmp_path / "t.csv", tmp_path / "other-name.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "t.csv")
    return tmp_path


COMMANDS = {
    "fit": ("fit", "t.csv", "-k", 2, *DIAG),
    "fit a folder": ("fit", "parts", "-k", 2, *DIAG),
    "predict": ("predict", "m.csv", "t.csv"),
    "impute": ("impute", "m.csv", "t.csv"),
    "impute --std": ("impute", "m.csv", "t.csv", "--std"),
    "impute --draws": ("impute", "m.csv", "t.csv", "--draws", 2),
    "report": ("report", "m.csv", "t.csv"),
}
OVER = {
    "fit": ["t.csv", "other-name.csv", "link.csv"],
    "fit a folder": ["parts/a.csv", "parts/b.csv"],
    "predict": ["t.csv", "m.csv", "other-name.csv", "link.csv"],
    "impute": ["t.csv", "m.csv", "link.csv"],
    "report": ["t.csv", "m.csv"],
}


def _run(folder, command, out, *more):
    paths = {"t.csv", "m.csv", "parts"}
    words = [folder / word if word in paths else word for word in COMMANDS[command]]
    return run(*words, "--out", folder / out, *more)


@pytest.mark.parametrize(("command", "out"), [(c, out) for c, outs in OVER.items() for out in outs])
def test_nothing_is_written_over_what_is_read(command, out, folder):
    before = (folder / out).read_bytes()
    told = _run(folder, command, out, "--force")
    assert told.exit_code == 2
    assert "would be written over. Choose another name for the result" in told.stderr
    assert (folder / out).read_bytes() == before


def test_tables_beside_the_result_are_not_written_over_it_either(folder):
    (folder / "t.csv").rename(folder / "t.std.csv")
    before = (folder / "t.std.csv").read_bytes()
    told = run("impute", folder / "m.csv", folder / "t.std.csv", "--std", "--out", folder / "t.csv")
    assert told.exit_code == 2
    assert "would be written over" in told.stderr
    assert (folder / "t.std.csv").read_bytes() == before


def test_a_page_is_not_written_over_its_table(folder):
    with pytest.raises(ValueError, match="would be written over"):
        load(folder / "m.csv").report(folder / "t.csv", folder / "link.csv", overwrite=True)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_file_that_is_replaced_keeps_its_permissions(command, mode, folder):
    ending = "html" if command == "report" else "csv"
    outs = {"impute --draws": ["o.1.csv", "o.2.csv"], "impute --std": ["o.csv", "o.std.csv"]}
    written = [folder / name for name in outs.get(command, [f"o.{ending}"])]
    for path in written:
        path.write_text("old")
        path.chmod(mode)
    told = _run(folder, command, f"o.{ending}", "--force")
    assert told.exit_code == 0, told.output
    for path in written:
        assert path.read_bytes() != b"old"
        assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_told_with_the_name_of_the_file(command, folder, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = sorted(folder.iterdir())
    monkeypatch.setattr("os.fsync", full)
    ending = "html" if command == "report" else "csv"
    told = _run(folder, command, f"o.{ending}")
    assert told.exit_code == 2
    assert "/o." in told.stderr
    assert "No space left on device. Make room, or write to another disk." in told.stderr
    assert "None" not in told.stderr
    assert sorted(folder.iterdir()) == before


def test_a_library_for_which_there_is_no_room_is_told_in_a_sentence(folder, monkeypatch):
    def full(*given, **options):
        raise ImportError("libbig.so: failed to map segment from shared object")

    monkeypatch.setattr("halfseen.cli.fit.open_table", full)
    result = run("fit", folder / "t.csv", "-k", 2, *DIAG, "--out", folder / "new.halfseen")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: A library could not be loaded: libbig.so: failed to map segment from shared "
        "object. Make room in memory, or install it again.\n"
    )
