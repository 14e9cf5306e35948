"""docs/add_a_column_kind.md, executed: a beta column is one file and one line."""

import json
import re
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import beta
from typer.testing import CliRunner

import halfseen
from halfseen import DataError, HiddenMarkov, LatentClass
from halfseen.cli.app import app
from halfseen.distributions.column_kinds import kind_named
from halfseen.io.coding import COLUMN_KINDS, RegisteredKind

PAGE = Path(__file__).parents[2] / "docs" / "add_a_column_kind.md"
NAME = "halfseen.distributions.beta"


@pytest.fixture(scope="module", autouse=True)
def share():
    """The kind of the page, as its file and its line make it."""
    code, line = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    module = types.ModuleType(NAME)
    exec(compile(code, "beta.py", "exec"), vars(module))
    sys.modules[NAME] = module
    added = eval("{" + line + "}", {"RegisteredKind": RegisteredKind})
    assert len(code.splitlines()) < 50
    assert len(line.strip().splitlines()) == len(added) == 1
    COLUMN_KINDS.update(added)
    yield kind_named("share")
    for word in added:
        del COLUMN_KINDS[word]
    del sys.modules[NAME]


def table(n=600, seed=0, gaps=0.2):
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=n)
    found = pd.DataFrame(
        {
            "turnout": rng.beta(np.where(z, 12.0, 4.0), np.where(z, 6.0, 16.0)),
            "spent": rng.beta(np.where(z, 2.0, 6.0), 5.0),
            "height": rng.normal(np.where(z, 2.0, 0.0), 1.0),
            "visits": rng.poisson(1.0 + 3 * z).astype(float),
        }
    )
    return found.mask(rng.random(found.shape) < gaps), z


KINDS = {"turnout": "share", "spent": "share"}


@pytest.fixture(scope="module")
def model(share):
    return LatentClass(2, kinds=KINDS, outliers=None, prior=None, random_state=0).fit(table()[0])


def test_components_are_found(model):
    assert model.kinds_["turnout"] == "share"
    means = np.sort(model.profiles_["turnout"]["mean"])
    np.testing.assert_allclose(means, [0.2, 2 / 3], atol=0.03)
    _, z = table()
    agree = np.mean(model.predict(table()[0]) == z)
    assert max(agree, 1 - agree) > 0.9


def test_rows_have_the_densities_of_the_beta_distribution(model, share):
    X = table()[0][["turnout", "spent"]]
    alone = LatentClass(2, kinds=KINDS, prior=None, random_state=0).fit(X)
    mean, shape = alone.rates_, alone.count_shapes_
    with np.errstate(invalid="ignore"):
        cells = beta.logpdf(X.to_numpy()[:, None], mean * shape, (1 - mean) * shape)
    expected = logsumexp(np.nansum(cells, axis=2) + np.log(alone.weights_), axis=1)
    np.testing.assert_allclose(alone.score_samples(X), expected, rtol=1e-9, atol=1e-12)
    cells = -alone.surprisal(X)
    assert np.isfinite(cells.to_numpy()[X.notna().to_numpy()]).all()


def test_the_m_step_finds_the_maximum(share):
    x = np.random.default_rng(1).beta(1.5, 6.0, size=500)
    sums = np.array([*(one.sum() for one in share.statistics(x)), len(x)]).reshape(3, 1, 1)
    mean, precision = share.maximised(sums, np.full((1, 1), 0.5), np.full((1, 1), 2.0))
    best = minimize(lambda a: -beta.logpdf(x, *np.exp(a)).sum(), [0.0, 0.0], tol=1e-10)
    a, b = np.exp(best.x)
    np.testing.assert_allclose([mean.item(), precision.item()], [a / (a + b), a + b], rtol=1e-4)


def test_the_model_is_kept_drawn_from_and_filled_in(model, tmp_path):
    X, _ = table()
    model.save(tmp_path / "model.hs")
    again = halfseen.load(tmp_path / "model.hs")
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    drawn, _ = model.sample(2000)
    turnout = np.asarray(drawn)[:, 0].astype(float)
    assert (turnout > 0).all()
    assert (turnout < 1).all()
    assert abs(turnout.mean() - X["turnout"].mean()) < 0.03
    filled = model.impute(X)
    assert filled["turnout"].between(0, 1).all()
    found = model.intervals(X)["rates_"]
    low, high = found.low, found.high
    assert ((low < model.rates_) & (model.rates_ < high))[:, 0].all()


def test_states_along_a_sequence_have_shares_too(share):
    X, _ = table(400)
    states = HiddenMarkov(2, kinds=KINDS, random_state=0).fit(X, lengths=[200, 200])
    assert states.kinds_["spent"] == "share"


def test_values_that_are_no_shares_are_refused(share):
    X = table()[0]
    X.loc[3, "turnout"] = 1.0
    with pytest.raises(DataError, match=r"'turnout' is to hold shares, but holds 1\. Declare it"):
        LatentClass(2, kinds=KINDS).fit(X)


def test_the_command_line_takes_the_kind(share, tmp_path):
    table(300)[0].to_csv(tmp_path / "votes.csv", index=False)
    call = ["fit", str(tmp_path / "votes.csv"), "-k", "2", "--json", "--out", str(tmp_path / "out")]
    told = CliRunner().invoke(app, [*call, "--kind", "turnout=share"])
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["kinds"]["turnout"] == "share"
