"""What somebody can read who gets a model file: averages, shares and labels, but no row."""

import numpy as np
import pandas as pd
import pytest

from halfseen.estimators.serialisation import kind_of
from halfseen.models import MODELS
from halfseen.persistence.container import unpack
from halfseen.persistence.model_file import dumps

N_ROWS = 211  # which is no side of anything else
pytestmark = pytest.mark.filterwarnings("ignore")


def people():
    """Counts, wards of which one has one person only, and names."""
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=N_ROWS)
    table = pd.DataFrame(
        {
            "visits": rng.poisson(2.0 + 6 * group),
            "falls": rng.poisson(9.0 - 6 * group),
            "drinks": rng.poisson(3.0, N_ROWS),
            "ward": np.where(rng.random(N_ROWS) < 0.2, "east", np.where(group, "north", "south")),
            "name": [f"Lovelace {i}" for i in range(N_ROWS)],
        }
    )
    table.loc[4, "ward"] = "Duke of Aachen"
    return table


@pytest.mark.parametrize("kind", MODELS.values(), ids=MODELS)
def test_a_model_file_holds_no_row(kind):
    table = people() if kind.takes_kinds else people()[["visits", "falls", "drinks"]]
    data = dumps(kind(2, random_state=0).fit(table), kind_of(kind))
    arrays = unpack(data, "it")[1]
    assert not any(N_ROWS in values.shape for values in arrays.values())
    assert b"Lovelace" not in data


@pytest.mark.parametrize(
    "kind", [kind for kind in MODELS.values() if kind.takes_kinds], ids=lambda kind: kind.__name__
)
def test_a_model_file_holds_the_labels_of_categories_also_of_those_of_one_row(kind):
    data = dumps(kind(2, random_state=0).fit(people()), kind_of(kind))
    assert b"Duke of Aachen" in data
