"""HiddenMarkov as users meet it: verbs, containers, order, lone rows, messages."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest

from halfseen import Files, HiddenMarkov, LatentClass, choose_components, load
from halfseen.data.errors import DataError
from halfseen.data.sampling import sequence_of
from halfseen.inference.parameters import declared

S, T, K = 60, 20, 2
LENGTHS = [T] * S
MOVES = np.array([[0.9, 0.1], [0.3, 0.7]])


def world(seed=0, n_sequences=S, length=T):
    rng = np.random.default_rng(seed)
    hidden = np.zeros((n_sequences, length), dtype=int)
    hidden[:, 0] = rng.random(n_sequences) < 0.25
    for t in range(1, length):
        hidden[:, t] = rng.random(n_sequences) < MOVES[hidden[:, t - 1], 1]
    h = hidden.ravel()
    frame = pd.DataFrame(
        {
            "patient": np.repeat([f"p{i:03}" for i in range(n_sequences)], length),
            "day": np.tile(np.arange(length), n_sequences),
            "pulse": rng.normal(70 + 25 * h, 8),
            "fever": np.where(rng.random(len(h)) < np.where(h, 0.8, 0.1), "yes", "no"),
            "calls": rng.poisson(np.where(h, 4.0, 0.5)).astype(float),
        }
    )
    for name, share in (("pulse", 0.2), ("fever", 0.4), ("calls", 0.3)):
        frame.loc[rng.random(len(h)) < share, name] = None
    frame.loc[7, ["pulse", "fever", "calls"]] = None
    return frame, h


FRAME, HIDDEN = world()
BY = {"sequence": "patient", "order": "day"}


@pytest.fixture(scope="module")
def model():
    return HiddenMarkov(K, random_state=0).fit(FRAME, **BY)


def same(one, other, rtol=1e-9):
    for field in declared(one.Parameters):
        np.testing.assert_allclose(
            getattr(one, field.name), getattr(other, field.name), rtol=rtol, atol=1e-9
        )


def test_states_of_mixed_columns_are_found(model):
    ill = model.profiles_["pulse"]["mean"].argmax()
    assert model.kinds_ == {"pulse": "continuous", "fever": "binary", "calls": "count"}
    assert model.profiles_["fever"]["probabilities"]["yes"][ill] == pytest.approx(0.8, abs=0.07)
    assert model.transition_[ill, ill] == pytest.approx(0.7, abs=0.08)
    assert ((model.predict(FRAME) == ill) == HIDDEN).mean() > 0.93
    assert model.weights_[ill] == pytest.approx(HIDDEN.mean(), abs=0.05)
    assert model.diagnostics_.third_moment in ("joint", "rows", "time")


def test_the_order_of_rows_and_columns_of_a_frame_changes_nothing(model):
    shuffled = FRAME.sample(frac=1.0, random_state=1)
    again = HiddenMarkov(K, random_state=0).fit(shuffled, **BY)
    assert again.score(shuffled) == pytest.approx(model.score(FRAME), abs=1e-6)
    back = pd.Series(model.predict(shuffled), shuffled.index).sort_index()
    np.testing.assert_array_equal(back, model.predict(FRAME))
    for verb in ("predict_proba", "filter", "unusual"):
        ours = pd.DataFrame(getattr(model, verb)(shuffled), shuffled.index).sort_index()
        theirs = pd.DataFrame(getattr(model, verb)(FRAME), FRAME.index)
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize(
    "kind", ["lengths", "labels", "batches", "csv", "shuffled csv", "parquet", "dask", "dask files"]
)
def test_every_container_gives_what_the_frame_gives(model, kind, tmp_path):
    bare = FRAME.drop(columns=["patient", "day"])
    X, by = FRAME, BY
    if kind == "lengths":
        X, by = bare, {"lengths": LENGTHS}
    elif kind == "labels":
        X, by = bare, {"sequence": FRAME["patient"], "order": FRAME["day"].to_numpy()}
    elif kind == "batches":
        X = [FRAME[:33], FRAME[33:34], FRAME[34:]]
    elif kind.startswith("dask"):
        import dask.dataframe

        X = dask.dataframe.from_pandas(FRAME, npartitions=1).repartition(divisions=[0, 400, 1199])
        if kind == "dask files":
            (tmp_path / "parts").mkdir()
            for i in range(2):
                FRAME[600 * i : 600 * (i + 1)].to_parquet(tmp_path / "parts" / f"{i}.parquet")
            X = Files(tmp_path / "parts", dask=True)
    elif kind != "frame":
        X = tmp_path / f"table.{kind.split()[-1]}"
        table = FRAME.sample(frac=1.0, random_state=0) if kind == "shuffled csv" else FRAME
        table.sort_values("patient", kind="stable") if kind == "shuffled csv" else None
        if kind == "parquet":
            table.to_parquet(X, index=False)
        else:
            table.to_csv(X, index=False)
    other = HiddenMarkov(K, random_state=0).fit(X, **by)
    if kind == "shuffled csv":  # sequences are in another order
        assert other.score(X) == pytest.approx(model.score(FRAME), abs=1e-6)
    else:
        same(other, model)


def test_arrays_without_a_word_are_one_sequence():
    X = np.random.default_rng(0).normal(np.repeat([0.0, 6.0, 0.0], 40))[:, None]
    one = HiddenMarkov(2, random_state=0).fit(X)
    two = HiddenMarkov(2, random_state=0).fit(X, lengths=[120])
    same(one, two)
    assert len(one.score_samples(X)) == 1
    assert one.score_samples(X)[0] == pytest.approx(120 * one.score(X))


def test_likelihoods_are_those_of_sequences(model):
    each = model.score_samples(FRAME)
    assert each.shape == (S,)
    told = FRAME.drop(columns=["patient", "day"]).notna().any(axis=1).sum()
    assert each.sum() / told == pytest.approx(model.score(FRAME))
    alone = model.score_samples(FRAME[FRAME.patient == "p003"])
    assert each[3] == pytest.approx(alone[0], abs=1e-9)
    aic, bic = model.aic(FRAME), model.bic(FRAME)
    n_free = (bic - aic) / (np.log(told) - 2)
    assert n_free == pytest.approx(round(n_free), abs=1e-6)
    assert aic - 2 * n_free <= -2 * each.sum() + 1e-6  # at the maximum of the likelihood


def test_a_grid_of_steps_has_missing_rows_between(model):
    some = FRAME[FRAME.day % 3 != 1]
    with pytest.raises(DataError, match="steps between rows are not alike"):
        HiddenMarkov(K).fit(some, **BY)
    found = HiddenMarkov(K, random_state=0).fit(some, **BY, step=1)
    assert found.step_ == 1.0
    assert len(found.predict(some)) == len(some)
    assert found.predict_proba(some).shape == (len(some), K)
    ill = found.profiles_["pulse"]["mean"].argmax()
    assert found.transition_[ill, ill] == pytest.approx(0.7, abs=0.12)
    gappy = FRAME.copy()
    gappy.loc[FRAME.day % 3 == 1, ["pulse", "fever", "calls"]] = None
    last = FRAME.groupby("patient").day.transform("max")
    whole = gappy[(gappy.day % 3 != 1) | (gappy.day < last)]
    again = HiddenMarkov(K, random_state=0).fit(whole, **BY)
    same(again, found, rtol=1e-6)


def test_lone_rows_make_states_surer_and_are_sequences_of_one():
    few, _ = world(1, 12, 10)
    many, _ = world(2, 800, 1)
    bare = many.drop(columns=["patient", "day"])
    kinds = {"calls": "count"}
    with_them = HiddenMarkov(K, kinds=kinds, random_state=0).fit(few, **BY, X_single=bare)
    renamed = many.assign(patient=[f"single{i}" for i in range(len(many))])
    both = pd.concat([few, renamed])
    as_sequences = HiddenMarkov(K, kinds=kinds, random_state=0).fit(both, **BY)
    same(with_them, as_sequences)
    alone = HiddenMarkov(K, kinds=kinds, random_state=0).fit(few, **BY)
    sure = with_them.intervals(few, X_single=bare)["rates_"].std[:, 2]
    assert sure.max() < 0.8 * alone.intervals(few)["rates_"].std[:, 2].max()
    with pytest.raises(ValueError, match="X_single goes with arrays and data frames in memory"):
        HiddenMarkov(K).fit([few], **BY, X_single=bare)


def test_gaps_are_filled_by_what_neighbours_say(model):
    hidden = FRAME["pulse"].notna() & (np.random.default_rng(0).random(len(FRAME)) < 0.2)
    gappy = FRAME.copy()
    gappy.loc[hidden, ["pulse", "fever", "calls"]] = None
    filled = model.impute(gappy)
    assert list(filled.columns) == list(FRAME.columns)
    assert filled["patient"].equals(FRAME["patient"])
    assert filled.notna().all(axis=None)
    alone = LatentClass(K, random_state=0).fit(FRAME.drop(columns=["patient", "day"]))
    row_wise = alone.impute(gappy.drop(columns=["patient", "day"]))
    true = FRAME.loc[hidden, "pulse"]
    ours, theirs = (np.abs(one.loc[hidden, "pulse"] - true).mean() for one in (filled, row_wise))
    assert ours < 0.95 * theirs
    shuffled = gappy.sample(frac=1.0, random_state=2)
    pd.testing.assert_frame_equal(model.impute(shuffled).sort_index(), filled)
    _, spread = model.impute(gappy, return_std=True)
    assert (spread.loc[hidden, "pulse"] > 0).all()
    assert len(model.impute(gappy, draws=3)) == 3


def test_forecasts_are_the_moves_of_what_is_filtered(model):
    ahead = model.forecast(FRAME, steps=2)
    last = model.filter(FRAME)[T - 1 :: T]
    np.testing.assert_allclose(ahead.states[:, 0], last @ model.transition_, atol=1e-12)
    np.testing.assert_allclose(ahead.states[:, 1], ahead.states[:, 0] @ model.transition_)
    assert ahead.means.shape == ahead.stds.shape == (S, 2, 3)
    np.testing.assert_allclose(ahead.means[:, 0, 0], ahead.states[:, 0] @ model.means_[:, 0])
    with pytest.raises(ValueError, match="steps must be an int of at least 1"):
        model.forecast(FRAME, steps=0)


def test_files_and_models_keep_what_says_how_rows_follow(model, tmp_path):
    model.save(tmp_path / "m.halfseen")
    again = load(tmp_path / "m.halfseen")
    assert (again.sequence_, again.order_, again.step_) == ("patient", "day", None)
    np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))
    mixed = FRAME[["calls", "day", "fever", "patient", "pulse"]]
    np.testing.assert_allclose(again.score(mixed), model.score(FRAME))
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    np.testing.assert_array_equal(again.predict(tmp_path / "t.csv"), model.predict(FRAME))
    filled = again.impute(tmp_path / "t.csv")
    assert set(filled.column_names) == set(FRAME.columns)


def test_samples_are_sequences_of_the_lengths_that_are_asked_for(model):
    rows, states = model.sample(lengths=[4, 3])
    assert rows.shape == (7, 3)
    assert states.shape == (7,)
    X, hidden = (
        HiddenMarkov(K, random_state=0).fit(np.random.default_rng(0).normal(size=(50, 2))).sample(9)
    )
    assert X.shape == (9, 2)
    assert hidden.shape == (9,)


def test_dask_predicts_lazily(model):
    import dask.dataframe

    X = dask.dataframe.from_pandas(FRAME, npartitions=1).repartition(divisions=[0, 400, 1199])
    np.testing.assert_array_equal(model.predict(X).compute(), model.predict(FRAME))
    np.testing.assert_allclose(model.score_samples(X), model.score_samples(FRAME))
    assert model.bic(X) == pytest.approx(model.bic(FRAME))
    filled = model.impute(X).compute()
    assert filled["pulse"].notna().all()


def test_partitions_that_cut_sequences_are_refused():
    import dask.dataframe

    X = dask.dataframe.from_pandas(FRAME, npartitions=1).repartition(divisions=[0, 410, 1199])
    with pytest.raises(DataError, match="Partition 0 ends at row 410, within the sequence"):
        HiddenMarkov(K).fit(X, **BY)
    rows = FRAME.sample(frac=1.0, random_state=0).reset_index(drop=True)
    shuffled = dask.dataframe.from_pandas(rows, npartitions=1)
    with pytest.raises(DataError, match="workers do not sort them"):
        HiddenMarkov(K).fit(shuffled, **BY)


def test_sequences_of_one_row_alone_are_refused_with_the_remedy():
    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(DataError, match=r"All sequences have one row.*learn classes of rows"):
        HiddenMarkov(2).fit(X, lengths=[1] * 50)


def test_batches_are_not_filled_one_by_one(model):
    with pytest.raises(ValueError, match="Join them to one table"):
        model.impute([FRAME[:400], FRAME[400:]])


def test_a_state_that_is_never_left_and_an_order_that_tells_nothing_are_concerns():
    rng = np.random.default_rng(0)
    late = np.arange(30) >= rng.integers(5, 25, size=(60, 1))
    X = rng.normal(6.0 * late.reshape(-1, 1), 1.0, size=(1800, 3))
    found = HiddenMarkov(2, random_state=0).fit(X, lengths=[30] * 60)
    kinds = {concern.kind for concern in found.concerns(X, lengths=[30] * 60)}
    assert "never_left" in kinds
    iid = rng.normal(6.0 * rng.integers(2, size=(1800, 1)), 1.0, size=(1800, 3))
    found = HiddenMarkov(2, random_state=0).fit(iid, lengths=[30] * 60)
    (concern,) = (c for c in found.concerns(iid, lengths=[30] * 60) if c.kind == "rows_alone")
    assert "LatentClass, says the same more simply" in concern.sentence


def test_moves_that_depend_on_time_are_a_concern():
    rng = np.random.default_rng(0)
    h = np.zeros((150, 20), dtype=int)
    for t in range(1, 20):
        stay = 0.95 if t < 10 else 0.3
        h[:, t] = np.where(rng.random(150) < stay, h[:, t - 1], 1 - h[:, t - 1])
    X = rng.normal(6.0 * h.reshape(-1, 1), 1.0, size=(3000, 3))
    found = HiddenMarkov(2, random_state=0).fit(X, lengths=[20] * 150)
    kinds = {concern.kind for concern in found.concerns(X, lengths=[20] * 150)}
    assert "not_stationary" in kinds


def test_hmmlearn_has_no_mixed_columns(model):
    with pytest.raises(ValueError, match="hmmlearn has models of continuous columns, or of one"):
        model.to_hmmlearn()


def test_signal_weights_and_other_parameters_are_refused():
    with pytest.raises(ValueError, match="'signal' is for columns of numbers alone"):
        HiddenMarkov(2, feature_weights="signal").fit(np.zeros((9, 2)))
    with pytest.raises(ValueError, match="'third_moment' parameter of HiddenMarkov"):
        HiddenMarkov(2, third_moment="explicit").fit(np.zeros((9, 2)))
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = HiddenMarkov(2, refine=None).fit(X)
    with pytest.raises(ValueError, match=r"refine='em' states have no intervals"):
        model.intervals(X)


def test_the_page_says_how_long_states_last_and_what_follows(model, tmp_path):
    model.report(FRAME, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "How states follow each other" in page
    assert "rows on average, and is followed by state" in page
    assert "How sequences begin" in page
    assert "from a bootstrap of whole sequences." in page
    assert "rows hold nothing at all, of which their neighbours tell." in page
    assert "Some sequences" not in page  # they are rows of the table
    model.report(FRAME, tmp_path / "data.html", include_rows=True)
    page = (tmp_path / "data.html").read_text()
    assert "Some sequences, state by state" in page
    assert "on: states 1" in page


def test_a_number_of_states_is_chosen_on_whole_sequences_however_these_are_given(monkeypatch):
    """Halves of the rows never share a sequence."""
    from halfseen.diagnostics import split_half

    cut, halves = [], split_half.Halves._halves

    def kept(self, way):
        sequence = sequence_of(self.rows)
        label = self.bins.labels
        cut.extend(len(np.unique(label[sequence == one])) for one in np.unique(sequence))
        return halves(self, way)

    monkeypatch.setattr(split_half.Halves, "_halves", kept)
    X, lengths = FRAME.drop(columns=["patient", "day"]), LENGTHS
    by_lengths = choose_components(X, "markov", max_components=3, lengths=lengths)
    assert set(cut) == {1}
    assert by_lengths.n_components == K
    shuffled = FRAME.sample(frac=1.0, random_state=0)
    shuffled = shuffled.sort_values("patient", kind="stable")  # sequences as they were
    by_columns = choose_components(shuffled, HiddenMarkov(), max_components=3, **BY)
    assert by_columns == by_lengths
    fitted = HiddenMarkov("auto", random_state=0).fit(FRAME, **BY)
    assert fitted.n_components_ == fitted.diagnostics_.choice.n_components == K


def test_models_of_single_rows_are_not_told_how_rows_follow():
    with pytest.raises(ValueError, match=r"takes rows one by one, so that lengths and X_single"):
        choose_components(FRAME, "classes", lengths=LENGTHS, X_single=FRAME)


def test_groups_go_with_rows_that_were_given_in_another_order(model):
    shuffled = FRAME.sample(frac=1.0, random_state=0)
    ward = shuffled["patient"].str[2:].astype(int) // 3
    case = model.case(shuffled, groups=ward)
    met = set(zip(sequence_of(case.rows), case.bins.labels, strict=True))
    assert len(met) == S  # all rows of a sequence are in one ward
    spaced = FRAME[FRAME["day"] != 5]
    on_grid = HiddenMarkov(K, random_state=0).fit(spaced, step=1, **BY)
    case = on_grid.case(spaced, groups=spaced["patient"])
    met = set(zip(sequence_of(case.rows), case.bins.labels, strict=True))
    assert len(met) == S  # those between among them


def test_files_from_before_gaps_leaned_on_neighbours_are_read_as_they_were(model):
    was = {"kept_features_": np.ones(3, dtype=bool)}
    for name in ("lasting_", "fading_"):
        assert np.isnan(HiddenMarkov.later[name](was)).all()
    old = deepcopy(model)
    old.lasting_, old.fading_ = np.full((2, 3), np.nan)
    plain, leaning = old.impute(FRAME)["pulse"], model.impute(FRAME)["pulse"]
    assert plain.notna().all()
    np.testing.assert_allclose(plain, leaning)  # nothing lasts in this world
