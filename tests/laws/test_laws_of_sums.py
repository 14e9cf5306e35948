"""The laws of all sums: blocks of rows may be cut and merged anyhow, and no rows add nothing.

The kit goes over every class of the package that adds. One without an entry here fails it.
"""

import copy
import dataclasses
import functools
import inspect
import pkgutil
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

import halfseen
from halfseen import GaussianMixture
from halfseen.data.column_moments import TableSums, ValueSums
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.missing_patterns import PatternSums
from halfseen.data.resampling import Bins, share_of_keys
from halfseen.data.rows import Block, Gathered, SideBySide, side_by_side
from halfseen.data.sampling import ColumnSamples, LowestKeys
from halfseen.data.sums import KeyedSums, LargeSums, Sums
from halfseen.diagnostics.missingness import CodeSums, _GapSums
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.mixed import Mixed
from halfseen.distributions.normal import Normal
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.latent.autocorrelation import AutocovarianceSums
from halfseen.latent.chain import CHAIN, ChainParameters, ChainSums
from halfseen.latent.counts import CountTails
from halfseen.latent.mixture_concerns import OutlyingSums
from halfseen.latent.score_bootstrap import ChainSlopes, ScoreSums
from halfseen.latent.structure import ClassSums
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.models.gamma_poisson.stochastic_em import Chains, SplitSums
from halfseen.models.gaussian_mixture.concerns import ResidualSums
from halfseen.models.lda.parameters import LdaParameters
from halfseen.models.lda.stochastic_em import ShareSums, Sweeps
from halfseen.moments.adjusted_moments import AdjustedSums, Prediction
from halfseen.moments.missing_patterns import GapValueSums, MaskRows, Panels
from halfseen.moments.moment_sums import MomentSums
from halfseen.moments.product_mixture.encoding import Encoding, Item, ItemSums
from halfseen.moments.product_mixture.item_moments import CubeSums, MeetingSums
from halfseen.moments.product_mixture.lagged_moments import LaggedSums, WindowSums
from halfseen.moments.product_mixture.markov_start import Places, PlaceSums, TimeSums
from halfseen.moments.regression import ManyRegressions, RegressionSums
from halfseen.moments.resampling import BinSums, OriginSums
from halfseen.moments.robust_statistics import FarSums, ValueCounts, padded, robust_summary
from halfseen.moments.second_moment import PairSums
from halfseen.moments.second_moment_operator import MaskKeys
from halfseen.moments.survey import Spread
from halfseen.moments.third_moment import ImplicitThirdSums, RightSide, ThirdSums

N, D, K = 60, 4, 2
RNG = np.random.default_rng(0)
ORIGIN = np.array([1.5, 0.0, 2.0, -1.0])
BASIS = RNG.normal(size=(D, 3))
FRACTION = np.array([1.0, 0.8, 0.5, 0.5])
COMPLETE = np.array([True, True, False, False])
TOGETHER = Panels(np.array([False, True, False, False]), (~COMPLETE,))
BINS = Bins(5, np.arange(N) % 5)
MIXTURE = MixtureParameters(np.array([0.4, 0.6]), RNG.normal(size=(K, D)), np.ones((K, D)))
NORMAL = Normal(SHAPES["diag"])
TOPICS = GammaPoissonParameters(RNG.dirichlet(np.ones(D), size=K), np.array([1.0, 2.0]), 0.1)


def table(seed=1):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((N, D)) < FRACTION, rng.poisson(3.0, (N, D)).astype(float), np.nan)


def regressors(block):
    return np.column_stack([np.ones(len(block)), block.values])


def sweep(block):
    chains = Chains(0)
    return chains.sweep(TOPICS, 0)(block, chains.begin(TOPICS)(block))[0]


def share_sweep(block):
    topics = LdaParameters(TOPICS.topics, TOPICS.shapes, 2.0, 0.1)
    sweeps = Sweeps(0)
    return sweeps.drawn(topics, 0)(block, sweeps.begin(topics)(block))[0]


def later(make):
    """What has to be fitted or compiled is made for the tests, and not to list them."""
    made = functools.cache(make)
    return lambda block: made()(block)


@functools.cache
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, D)) + 6 * rng.integers(2, size=(300, 1))
    X[:3, 0] = 1e3
    return GaussianMixture(2).fit(X).fitted


NAMES = tuple(map(str, range(D)))
ITEMS = [
    Item("number", 3.0, 2.0),
    Item("number", 3.0, 2.0, spike=3.0),
    Item("count", 1.8, 0.5),
    Item("levels", levels=(1.0, 2.0, 3.0, 4.0)),
]


@functools.cache
def encoding():
    return Encoding.of(ITEMS, ItemSums.of(ITEMS)(Block.from_table(table())))


def directions(k):
    """Of encoded rows; (e, k)."""
    return np.random.default_rng(3).normal(size=(len(encoding().item), k))


def far_sums():
    table_sums = FeatureSums.of(Block.from_table(table()))
    return FarSums.beyond(robust_summary(MemoryRows(table(), NAMES), table_sums))


MIXED = Mixed(NORMAL)
STATES = ChainParameters(MIXTURE.weights, MIXTURE.means, MIXTURE.variances)
SUMS = {
    FeatureSums: FeatureSums.of,
    PairSums: PairSums.about(ORIGIN),
    TableSums: TableSums.about(ORIGIN, np.array([0, 13, 40])),
    ThirdSums: ThirdSums.about(ORIGIN),
    OriginSums: OriginSums.about(ORIGIN),
    MomentSums: MomentSums.about(ORIGIN, np.full(D, 2.0), values=[np.arange(2.0)] * D),
    BinSums: BinSums.triples(ORIGIN, BINS),
    GapValueSums: GapValueSums.about(ORIGIN),
    Spread: Spread.about(ORIGIN),
    MaskRows: MaskRows.of(np.arange(D)),
    MaskKeys: MaskKeys.about(ORIGIN),
    ImplicitThirdSums: ImplicitThirdSums.along(BASIS, ORIGIN, FRACTION, TOGETHER),
    RightSide: RightSide.along(BASIS, ORIGIN, np.arange(D)),
    AdjustedSums: AdjustedSums.pairs(Prediction(ORIGIN, COMPLETE, RNG.normal(size=(2, D)))),
    RegressionSums: RegressionSums.on(regressors, COMPLETE, ~COMPLETE, ORIGIN[~COMPLETE]),
    ManyRegressions: ManyRegressions.on(
        [regressors, regressors], COMPLETE, ORIGIN[~COMPLETE], BINS, RNG.random((2, 5))
    ),
    ClassSums: ClassSums.under(NORMAL, MIXTURE),
    ScoreSums: ScoreSums.at(MIXTURE, NORMAL, BINS),
    ResidualSums: later(lambda: ResidualSums.of(fitted(), np.ones(D, bool), BINS)),
    SplitSums: sweep,
    ShareSums: share_sweep,
    PatternSums: PatternSums.of,
    ValueSums: ValueSums.of,
    ColumnSamples: ColumnSamples.below(share_of_keys(FRACTION)),
    LowestKeys: LowestKeys.of(20),
    FarSums: later(far_sums),
    OutlyingSums: later(lambda: OutlyingSums.under(fitted())),
    CountTails: CountTails.of,
    CodeSums: CodeSums.of,
    Gathered: lambda block: Gathered(((block.start, block.values),)),
    SideBySide: side_by_side(FeatureSums.of, PairSums.about(ORIGIN)),
    _GapSums: _GapSums.about(ORIGIN[COMPLETE], COMPLETE),
    ItemSums: ItemSums.of(ITEMS),
    MeetingSums: later(lambda: MeetingSums.of(encoding(), lambda block: block.values**2)),
    ValueCounts: ValueCounts.of(np.ones(D, bool), padded([np.array([1.0, 3.0])] * D)),
    CubeSums: later(lambda: CubeSums.along(encoding(), directions(3), ~COMPLETE)),
    LaggedSums: later(lambda: LaggedSums.of(encoding(), lambda block: block.values**2)),
    WindowSums: later(
        lambda: WindowSums.along((encoding(),) * 3, np.ones(D), (directions(2),) * 3)
    ),
    PlaceSums: later(lambda: PlaceSums.of(encoding())),
    TimeSums: later(lambda: TimeSums.of(Places(*(encoding(),) * 3), lambda block: block.values**2)),
    ChainSums: ChainSums.under(MIXED, STATES),
    ChainSlopes: ChainSlopes.at(STATES, MIXED, CHAIN, BINS),
    AutocovarianceSums: AutocovarianceSums.of(
        MIXED, STATES, lambda block: CHAIN.posterior(block, MIXED, STATES).responsibilities
    ),
}
ELSEWHERE = {
    "CellSums": "io/test_open_table.py adds cells of columns",
    "DistinctCount": "io/test_identifiers.py adds rows in any order",
    "ColumnEvidence": "io/test_coding.py splits columns of words over batches and partitions",
    "TableEvidence": "the same of all columns",
    "UnseenCounts": "io/test_coding.py counts unseen words in every container",
    "HalfScores": "CrossScores and a table that is added as it is",
    "CrossScores": "diagnostics/test_number_of_components.py adds folds",
    "Stream": "estimators/test_streams.py adds streams",
    "System": "moments/product_mixture/test_lagged_moments.py adds systems of rows and windows",
    "Equations": "the same of statistics",
    "Message": "a string: data/test_messages.py puts sentences one after the other",
}
"""Sums of sums, which are tested with what makes them."""
BASES = (Sums, LargeSums, KeyedSums)
every_sum = pytest.mark.parametrize("kind", SUMS, ids=lambda kind: kind.__name__)
# Random keys are drawn by block, not by row: only whole blocks may be merged in another order.
by_block = {MaskKeys}


def numbers(sums):
    """All numbers of a sum, in one list of arrays; lists of masks in their one order."""
    if sums is None:
        return []
    if isinstance(sums, MaskRows):
        sums = sums.merged()
        return [sums.codes, sums.count]
    if isinstance(sums, CountTails):
        sums = sums.merged()
        return [sums.code, sums.weight]
    if isinstance(sums, Gathered):
        return [sums.in_order()]
    if isinstance(sums, ColumnSamples):
        return [array for one in sums.sorted(D) for array in one]
    if isinstance(sums, PatternSums):
        merged = sums.merged()
        return [merged.masks, merged.count]
    if dataclasses.is_dataclass(sums):
        parts = [getattr(sums, part.name) for part in dataclasses.fields(sums)]
    elif isinstance(sums, tuple | list):
        parts = list(sums)
    else:
        return [np.asarray(sums)]
    return [array for part in parts for array in numbers(part)]


def assert_same(ours, theirs):
    for one, other in zip(numbers(ours), numbers(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


def block_of(rows, weights=None):
    """Rows that follow each other in the table, under their own numbers."""
    start = int(rows[0]) if len(rows) else 0
    part = None if weights is None else weights[rows]
    return Block.from_table(table()[rows], part, start)


def pieces(weights=None):
    cuts = [0, 1, 14, 14, 31, 59, N]
    return [block_of(np.arange(a, b), weights) for a, b in pairwise(cuts)]


@every_sum
@pytest.mark.parametrize("weighed", [False, True])
def test_any_split_in_any_order_gives_the_sums_of_all_rows(kind, weighed):
    weights = np.random.default_rng(2).random(N) + 0.5 if weighed else None
    parts = [SUMS[kind](block) for block in pieces(weights)]
    orders = [np.random.default_rng(seed).permutation(len(parts)) for seed in range(3)]
    whole = sum(parts[1:], start=parts[0])
    if kind not in by_block:
        assert_same(whole, SUMS[kind](block_of(np.arange(N), weights)))
    for order in orders:
        shuffled = [parts[i] for i in order]
        assert_same(sum(shuffled[1:], start=shuffled[0]), whole)


@pytest.mark.parametrize("kind", SUMS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("weighed", [False, True])
def test_sparse_rows_have_the_sums_of_the_same_rows_written_out(kind, weighed):
    weights = np.random.default_rng(2).random(N) + 0.5 if weighed else None
    written = np.where(np.random.default_rng(3).random((N, D)) < 0.5, 0.0, table())
    there = csr_array(np.where(np.isnan(written), 1.0, written))
    there.data[np.isnan(written[there.nonzero()])] = np.nan
    (sparse,) = SparseRows.of(there, tuple(map(str, range(D))), weights=weights).blocks()
    assert_same(SUMS[kind](sparse), SUMS[kind](Block.from_table(written, weights)))


@every_sum
def test_no_rows_add_nothing(kind):
    some, nothing = SUMS[kind](block_of(np.arange(30))), SUMS[kind](block_of(np.arange(0)))
    assert_same(some + nothing, some)
    assert_same(nothing + some, some)
    assert_same(nothing + nothing, nothing)


@every_sum
def test_adding_changes_neither_of_the_two(kind):
    one, other = SUMS[kind](block_of(np.arange(30))), SUMS[kind](block_of(np.arange(30, N)))
    before = copy.deepcopy((one, other))
    one + other
    assert_same((one, other), before)


@every_sum
def test_in_place_is_the_same(kind):
    one, other = SUMS[kind](block_of(np.arange(30))), SUMS[kind](block_of(np.arange(30, N)))
    together = one + other
    one += other
    assert_same(one, together)


def test_every_class_that_adds_is_in_the_kit():
    found = {}
    for module in pkgutil.walk_packages(halfseen.__path__, "halfseen."):
        if "__main__" in module.name or ".cli" in module.name:
            continue
        for name, kind in inspect.getmembers(import_module(module.name), inspect.isclass):
            ours = kind.__module__.startswith("halfseen.")
            adds = "__add__" in vars(kind) or issubclass(kind, Sums)
            base = kind in BASES or getattr(kind, "_is_protocol", False)
            if ours and adds and not base:
                found[name] = kind
    missing = {name for name, kind in found.items() if kind not in SUMS and name not in ELSEWHERE}
    assert missing == set()
