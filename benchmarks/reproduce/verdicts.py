"""Rules that turn paired runs into verdicts.

All compare one method with another on the same tables. A comparison's differences are oriented so
that positive ones speak against the claim: logarithms of ratios of errors, or lost likelihood.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import stats

from halfseen.data.arrays import Array

HOLDS, LIMITED, FAILS, UNTESTED = "holds", "holds with limits", "does not hold", "not tested"
LEVEL = 0.05
FEWEST_RUNS = 3


@dataclass(frozen=True, eq=False)
class Comparison:
    """Paired differences of two methods in one setting, one a run."""

    label: str
    differences: Array  # (runs,)
    overlap: float = 0.0
    """Test rows per training row where runs share data: their variance is understated by it
    (Nadeau and Bengio 2003)."""

    @property
    def mean(self) -> float:
        """The mean difference."""
        return float(self.differences.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        variance = self.differences.var(ddof=1)
        return float(np.sqrt(variance * (1 / len(self.differences) + self.overlap)))

    def above_zero(self) -> float:
        """p-value against a mean of at most zero (one-sided paired t-test)."""
        return float(stats.t.sf(self._t(), len(self.differences) - 1))

    def below_zero(self) -> float:
        """p-value against a mean of at least zero."""
        return float(stats.t.cdf(self._t(), len(self.differences) - 1))

    def upper(self, level: float = LEVEL) -> float:
        """The mean is below this with confidence ``1 - level``."""
        quantile = stats.t.ppf(1 - level, len(self.differences) - 1)
        return float(self.mean + quantile * self.standard_error)

    def lower(self, level: float = LEVEL) -> float:
        """The mean is above this with confidence ``1 - level``."""
        return float(2 * self.mean - self.upper(level))

    def _t(self) -> float:
        if self.standard_error > 0:
            return self.mean / self.standard_error
        return float(np.sign(self.mean) * np.inf) if self.mean else 0.0


@dataclass(frozen=True, eq=False)
class Evidence:
    """All settings that a claim is about."""

    comparisons: tuple[Comparison, ...]
    show: Callable[[float, float], str]  # a mean and its standard error, in words
    margin: float  # what is too small to matter

    @property
    def pooled(self) -> Comparison:
        """The mean over settings, run by run: tables with one seed are not independent."""
        runs = min(len(c.differences) for c in self.comparisons)
        each = np.array([c.differences[:runs] for c in self.comparisons])
        return Comparison("all settings", each.mean(axis=0), self.comparisons[0].overlap)

    def numbers(self, size: Callable[[float], float] = float, word: str = "worst") -> str:
        """Measured means with standard errors: over all settings, and in the worst of them."""
        worst = max(self.comparisons, key=lambda c: size(c.mean))
        text = self.show(self.pooled.mean, self.pooled.standard_error)
        if len(self.comparisons) == 1:
            return text
        return f"{text}; {word} {self.show(worst.mean, worst.standard_error)} at {worst.label}"


@dataclass(frozen=True)
class Finding:
    """A verdict, and the numbers that it rests on."""

    verdict: str
    numbers: str


Rule = Callable[[Evidence], Finding]


def holm(p_values: Sequence[float]) -> list[bool]:
    """Which hypotheses are rejected at :data:`LEVEL` together (Holm 1979)."""
    rejected = [False] * len(p_values)
    for rank, i in enumerate(np.argsort(p_values)):
        if p_values[i] > LEVEL / (len(p_values) - rank):
            break
        rejected[i] = True
    return rejected


def never_worse(evidence: Evidence) -> Finding:
    """Not worse by the margin, neither in any setting nor over all of them."""
    significant = holm([c.above_zero() for c in evidence.comparisons])
    against = _beyond(evidence, significant)
    within = evidence.pooled.upper() <= evidence.margin
    unclear = not any(against) and evidence.pooled.lower() <= evidence.margin
    verdict = _graded(not any(against) and within, _few(against) and (within or unclear))
    return Finding(verdict, f"{evidence.numbers()}; {_count(against, 'worse')}")


def better(evidence: Evidence) -> Finding:
    """Better in every setting, or at least over all of them."""
    favourable = holm([c.below_zero() for c in evidence.comparisons])
    verdict = _graded(all(favourable), evidence.pooled.below_zero() <= LEVEL)
    return Finding(verdict, f"{evidence.numbers()}; {_count(favourable, 'better')}")


def alike(evidence: Evidence) -> Finding:
    """Not different by the margin, neither in any setting nor over all of them."""
    two_sided = [2 * min(c.above_zero(), c.below_zero()) for c in evidence.comparisons]
    differ = _beyond(evidence, holm(two_sided))
    pooled = evidence.pooled
    within = pooled.upper() <= evidence.margin and pooled.lower() >= -evidence.margin
    overlap = pooled.lower() <= evidence.margin and pooled.upper() >= -evidence.margin
    unclear = not any(differ) and overlap
    verdict = _graded(not any(differ) and within, _few(differ) and (within or unclear))
    return Finding(verdict, f"{evidence.numbers(abs, 'farthest')}; {_count(differ, 'different')}")


def crosses(evidence: Evidence) -> Finding:
    """Better in the first setting and worse in the last."""
    first, last = evidence.comparisons[0], evidence.comparisons[-1]
    both = first.below_zero() <= LEVEL and last.above_zero() <= LEVEL
    verdict = _graded(both, first.mean < 0 < last.mean)
    ends = [f"{evidence.show(c.mean, c.standard_error)} at {c.label}" for c in (first, last)]
    return Finding(verdict, " and ".join(ends) + _crossing(evidence.comparisons))


def _crossing(comparisons: Sequence[Comparison]) -> str:
    for before, after in pairwise(comparisons):
        if before.mean < 0 <= after.mean:
            return f"; they cross between {before.label} and {after.label}"
    return ""


def _beyond(evidence: Evidence, significant: list[bool]) -> list[bool]:
    """Which settings are significant and large enough to matter."""
    pairs = zip(evidence.comparisons, significant, strict=True)
    return [found and abs(c.mean) > evidence.margin for c, found in pairs]


def _few(found: list[bool]) -> bool:
    return sum(found) < len(found) / 2


def _graded(holds: bool, partly: bool) -> str:
    return HOLDS if holds else LIMITED if partly else FAILS


def _count(found: list[bool], word: str) -> str:
    return f"{word} in {sum(found)} of {len(found)}"


RULES: dict[str, tuple[Rule, str]] = {
    "never worse": (
        never_worse,
        "*holds* if no setting is worse (significantly, and by more than the margin) and the mean "
        "over settings is certainly (95 %) not worse by more than the margin; *with limits* if "
        "fewer than half of the settings are worse and the mean is within the margin, or if none "
        "is worse and the mean undecided; else *does not hold*",
    ),
    "better": (
        better,
        "*holds* if every setting is significantly better; *with limits* if only the mean over "
        "settings is; else *does not hold*",
    ),
    "alike": (
        alike,
        "*holds* if no setting differs (significantly, and by more than the margin) and the mean "
        "over settings is certainly (90 %) within the margin; *with limits* if fewer than half of "
        "the settings differ and the mean is within the margin, or if none differs and the mean is "
        "undecided; else *does not hold*",
    ),
    "crosses": (
        crosses,
        "*holds* if significantly better at the first and significantly worse at the last setting; "
        "*with limits* if so but not significantly; else *does not hold*",
    ),
}
"""Each rule, and how it is told."""
