"""Years are written as people write them, wherever numbers are shown."""

import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from halfseen import load
from halfseen.cli.app import app
from halfseen.report.registry import portrait_of
from tests.cli.options import DIAG


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("scales", [(), ("--standardise",), ("--log", "cost", "--standardise")])
def test_years_have_no_separators_and_amounts_do(tmp_path, scales):
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=800)
    frame = pd.DataFrame(
        {
            "built": 1930 + 60 * group + rng.integers(0, 20, 800),
            "area": rng.normal(5600 + 400 * group, 30).round(1),
            "cost": (rng.normal(3000 + 2000 * group, 100)).round(),
            "Year Sold": np.where(np.arange(800) == 3, 2207, 2007 + rng.integers(0, 3, 800)),
            "rooms": rng.normal(4 + 3 * group, 0.5).round(1),
        }
    )
    frame.to_csv(tmp_path / "houses.csv", index=False)
    model = tmp_path / "houses.halfseen"
    said = run("fit", tmp_path / "houses.csv", "-k", 2, *DIAG, *scales, "--out", model)
    assert re.search(r"built .*than average: (1939|1940|1999|2000) \(average 19[67]\d\)", said)
    assert re.search(r"area .*than average: [56],\d\d\d \(average 5,[78]\d\d\)", said)
    page = tmp_path / "page.html"
    run("report", model, tmp_path / "houses.csv", "--out", page, "--include-rows")
    text = page.read_text()
    assert not re.search(r"\b(1,9|2,0)\d\d\b", text)
    assert re.search(r"<td[^>]*>(19[3-9]\d|200\d)</td>", text)
    texts = portrait_of(load(model)).heat_map(5).texts
    assert re.fullmatch(r"19\d\d|2000", texts[0][0])
    assert texts[3][0] == "2008"
