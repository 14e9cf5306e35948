"""The clock of a fit, and what it shows."""

import io
from types import SimpleNamespace

import pytest

from halfseen.data.progress import Stages


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is told to go on."""
    now = SimpleNamespace(seconds=100.0)
    time = SimpleNamespace(perf_counter=lambda: now.seconds)
    monkeypatch.setattr("halfseen.data.progress.time", time)
    return now


def lines(stream: io.StringIO) -> list[str]:
    """Everything that was ever on a line, each overwriting of a line apart."""
    return [line.strip() for line in stream.getvalue().replace("\n", "\r").split("\r") if line]


def test_stages_are_timed_in_order(clock):
    stages = Stages()
    for stage, seconds in [("pairs", 2.0), ("triples", 3.0)]:
        with stages(stage):
            clock.seconds += seconds
    assert stages.seconds == {"pairs": 2.0, "triples": 3.0}
    assert list(stages.seconds) == ["pairs", "triples"]


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_nothing_is_shown_unless_asked(stream, capsys):
    stages = Stages(10, verbose=0, stream=stream)
    with stages("pairs"):
        stages.advance(10)
    assert stream.getvalue() == "".join(capsys.readouterr()) == ""


def test_a_log_gets_one_line_a_stage(clock):
    log = io.StringIO()
    stages = Stages(2000, verbose=1, stream=log)
    with stages("pairs"):
        for _ in range(4):
            stages.advance(500)
        clock.seconds += 1.5
    with stages("decomposition"):
        clock.seconds += 0.5
    assert [" ".join(line.split()) for line in lines(log)] == [
        "pairs done 2,000 rows in 1.5 s",
        "decomposition done in 0.5 s",
    ]
    assert log.getvalue().count("\n") == 2


def test_a_terminal_gets_a_bar_with_rows_and_time_left(clock):
    terminal = Terminal()
    stages = Stages(2000, verbose=1, stream=terminal)
    with stages("pairs"):
        clock.seconds += 3.0
        stages.advance(500)
        clock.seconds += 1.0
        stages.advance(500)
        stages.advance(1000)
    assert [" ".join(line.split()) for line in lines(terminal)] == [
        "pairs ...",
        "pairs [##### ] 500 of 2,000 rows, 9 s left",
        "pairs [########## ] 1,000 of 2,000 rows, 4 s left",
        "pairs [####################] 2,000 of 2,000 rows, 0 s left",
        "pairs done 2,000 rows in 4.0 s",
    ]


def test_a_terminal_overwrites_the_line_until_the_stage_is_done(clock):
    terminal = Terminal()
    stages = Stages(10, verbose=1, stream=terminal)
    with stages("pairs"):
        stages.advance(10)
        assert "\n" not in terminal.getvalue()
    drawn = terminal.getvalue().rstrip("\n").split("\r")[1:]
    assert {len(line) for line in drawn} == {78}  # a shorter line leaves nothing of a longer one
    assert terminal.getvalue().endswith("\n")


def test_every_stage_counts_its_rows_from_zero(clock):
    log = io.StringIO()
    stages = Stages(5, verbose=1, stream=log)
    for stage in ("pairs", "triples"):
        with stages(stage):
            stages.advance(5)
    assert log.getvalue().count(" 5 rows ") == 2


def test_a_stage_that_goes_over_the_rows_again_counts_its_passes():
    terminal = Terminal()
    stages = Stages(n_rows=100, verbose=1, stream=terminal)
    with stages("polishing"):
        for _ in range(5):
            stages.advance(50)
    assert "[####################] 100 of 100 rows" in terminal.getvalue()
    assert "pass 2," in terminal.getvalue()
    assert "pass 3," in terminal.getvalue()
    assert "pass 4," not in terminal.getvalue()


def test_standard_error_is_written_to_unless_told_otherwise(capsys):
    with Stages(verbose=1)("pairs"):
        pass
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.strip().startswith("pairs")
