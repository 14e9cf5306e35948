"""What notebooks show of a model: what was learned, beside scikit-learn's diagram."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn

from halfseen import GaussianMixture
from halfseen.models import MODELS


class Tags(HTMLParser):
    """Tags that are opened, and whether each is closed again."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag not in ("input", "br", "img", "path", "meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            assert self.open.pop() == tag

    def handle_data(self, words):
        self.words.append(words)


def table(counts=False, n=300):
    rng = np.random.default_rng(0)
    centres = np.array([[2.0, 9, 4], [10, 3, 9]])[rng.integers(2, size=n)]
    X = rng.poisson(centres).astype(float) if counts else rng.normal(centres)
    return pd.DataFrame(X, columns=["age", "pulse", "crp"])


def shown(model):
    return model._repr_mimebundle_()["text/html"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_every_fitted_model_shows_what_was_learned_beside_its_diagram(name):
    X = table(MODELS[name].about.counts)
    model = MODELS[name](2, random_state=0)
    before = shown(model)
    assert "of 3 columns" not in before
    assert "sk-container" in before
    after = shown(model.fit(X))
    assert "2 " in after
    assert "of 3 columns" in after
    assert "sk-container" in after
    assert model._repr_html_().count("of 3 columns") == 1
    parsed = Tags(after)
    assert parsed.open == []
    noun = MODELS[name].about.noun
    assert {f"{noun} 1", f"{noun} 2"} <= set(parsed.words)


def test_names_are_words_and_there_are_no_averages():
    evil = "<script>x</script>"
    X = table().rename(columns={"age": evil})
    model = GaussianMixture(2, random_state=0).fit(X)
    html = shown(model).partition("sk-container")[0]
    assert "&lt;script&gt;" in html
    assert evil not in html
    words = " ".join(Tags(html).words)
    for mean in model.means_.ravel():
        assert f"{mean:.1f}" not in words


def test_where_diagrams_are_not_wanted_there_is_text_only():
    model = GaussianMixture(2, random_state=0).fit(table())
    with sklearn.config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")


def test_many_components_are_cut_short():
    rng = np.random.default_rng(0)
    X = 20.0 * rng.integers(14, size=(700, 1)) + rng.normal(size=(700, 2))
    html = shown(GaussianMixture(14, random_state=0).fit(X))
    assert "group 12" in html
    assert "group 13" not in html
    assert "and 2 more" in html
