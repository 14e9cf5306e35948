"""What the paper claims, and what we claim beside it, each with the rule that judges it."""

from dataclasses import dataclass

from benchmarks.reproduce.evidence import (
    COST_MARGIN,
    Gather,
    Measured,
    among,
    anywhere,
    between_points,
    each_and_the_one_before,
    errors_ratio,
    likelihood_lost,
    over_better,
    steepness,
    with_most_and_least,
)
from benchmarks.reproduce.figures.synthetic import HIGH, LOW, MID, WIDE
from benchmarks.reproduce.verdicts import RULES, UNTESTED, Finding

BASELINES = ("full", "partial")


@dataclass(frozen=True)
class Claim:
    """A sentence, where it is from, what is measured, and the rule that judges it."""

    text: str
    place: str  # in the paper
    figure: str  # that measures it
    quantity: str  # what the numbers are
    evidence: Gather
    rule: str

    def judged(self, measured: Measured) -> Finding:
        """The verdict on what was measured."""
        evidence = self.evidence(measured)
        if evidence is None:
            return Finding(UNTESTED, f"run `halfseen reproduce {self.figure}`")
        return RULES[self.rule][0](evidence)


def _weighting(what: str, place: str, figure: str) -> Claim:
    return Claim(
        f"Weighting is never worse than the better of full and partial: {what}",
        place,
        figure,
        "ε weighted / ε better of both",
        over_better(figure, "weighted", BASELINES),
        "never worse",
    )


def _order(text: str, place: str, figure: str, one: str, other: str, *groups: str) -> Claim:
    evidence = errors_ratio(figure, one, other, among(*groups))
    return Claim(text, place, figure, f"ε {one} / ε {other}", evidence, "better")


def _likelihood(text: str, one: str, other: str, rule: str) -> Claim:
    evidence = likelihood_lost("icu", one, other)
    return Claim(text, "Fig. 6", "icu", f"log-likelihood {one} − {other}", evidence, rule)


def _alike(what: str, models: tuple[str, ...]) -> Claim:
    return Claim(
        f"w = p and w = √p are indistinguishable: {what}",
        "App. E",
        "weights",
        "ε with √p / ε with p",
        errors_ratio("weights", "sqrt", "weighted", lambda point: point.source in models),
        "alike",
    )


PAPERS_CLAIMS: tuple[Claim, ...] = (
    Claim(
        "Ignoring extra features that are complete raises the error, for any N",
        "Fig. 2a",
        "dimensionality",
        "ε with 4 extra / ε with none",
        between_points("dimensionality", "full", with_most_and_least),
        "better",
    ),
    Claim(
        "More partial samples do little for the full method",
        "Fig. 2b",
        "partial-samples",
        "slope of log ε on log N_p, flat if above −1/8",
        steepness("partial-samples", "full"),
        "never worse",
    ),
    Claim(
        "The error of the partial method falls steadily with partial samples",
        "Fig. 3",
        "crossover",
        "ε / ε at the N_p before",
        between_points("crossover", "partial", each_and_the_one_before),
        "better",
    ),
    Claim(
        "There is a crossover: full is better with few partial samples, partial with many",
        "Fig. 3",
        "crossover",
        "ε full / ε partial",
        errors_ratio("crossover", "full", "partial"),
        "crosses",
    ),
    _weighting("Gaussian mixtures", "Fig. 4, left", "gaussian"),
    _weighting("gamma-Poisson topics", "Fig. 4, right", "gamma-poisson"),
    _order(
        "Partial beats full where p is low: Gaussian mixtures",
        "Fig. 4, left",
        "gaussian",
        "partial",
        "full",
        LOW,
        MID,
    ),
    _order(
        "Partial beats full where p is low: gamma-Poisson topics",
        "Fig. 4a–b, right",
        "gamma-poisson",
        "partial",
        "full",
        LOW,
        MID,
    ),
    _order(
        "Full beats partial where p is high: Gaussian mixtures",
        "Fig. 4, left",
        "gaussian",
        "full",
        "partial",
        HIGH,
    ),
    _order(
        "Full beats partial where p is high: gamma-Poisson topics",
        "Fig. 4d, right",
        "gamma-poisson",
        "full",
        "partial",
        HIGH,
    ),
    _order(
        "Where p is spread wide, weighting beats full",
        "Fig. 4c, right",
        "gamma-poisson",
        "weighted",
        "full",
        WIDE,
    ),
    _order(
        "Where p is spread wide, weighting beats partial",
        "Fig. 4c, right",
        "gamma-poisson",
        "weighted",
        "partial",
        WIDE,
    ),
    _weighting("robust to features missing together", "Fig. 5a", "correlated"),
    _weighting("robust to whole and partial samples", "Fig. 5a", "crossover"),
    _weighting("diagnoses", "Fig. 5b", "diagnoses"),
    _weighting("newsgroups", "Fig. 5c", "newsgroups"),
    _likelihood(
        "On ICU data weighting is at least as good as partial", "weighted", "partial", "never worse"
    ),
    _likelihood("On ICU data weighting is better than partial", "weighted", "partial", "better"),
    _likelihood(
        "On ICU data weighting is at least as good as full", "weighted", "full", "never worse"
    ),
    _likelihood("On ICU data full is better than partial", "full", "partial", "better"),
    _weighting("random topics", "App. D", "random-topics"),
    _order(
        "With random topics partial beats full where p is low",
        "App. D",
        "random-topics",
        "partial",
        "full",
        LOW,
        MID,
    ),
    _order(
        "With random topics full beats partial where p is high",
        "App. D",
        "random-topics",
        "full",
        "partial",
        HIGH,
    ),
    _alike("Gaussian mixtures", ("gaussian",)),
    _alike("gamma-Poisson topics", ("short topics", "topics", "long topics", "random topics")),
    _alike("semi-synthetic counts", ("diagnoses", "newsgroups")),
    Claim(
        "Weighting costs no more than not weighting",
        "Section 4",
        "cost",
        "seconds weighted / seconds full",
        errors_ratio("cost", "weighted", "full", anywhere, COST_MARGIN),
        "never worse",
    ),
)


def _ours(method: str, who: str, figure: str, place: str, against: str = "weighted") -> Claim:
    return Claim(
        f"{who} against the paper's weighting",
        place,
        figure,
        f"ε ours / ε {against}",
        errors_ratio(figure, method, against),
        "never worse",
    )


PLACES = {
    "crossover": "Figs. 3 and 5a",
    "gaussian": "Fig. 4, left",
    "gamma-poisson": "Fig. 4, right",
    "correlated": "Fig. 5a",
    "diagnoses": "Fig. 5b",
    "newsgroups": "Fig. 5c",
    "random-topics": "App. D",
}
WHO = {"defaults": "Our moments", "refined": "Ours, refined,"}

OUR_CLAIMS: tuple[Claim, ...] = (
    *(_ours(method, who, "dimensionality", "Fig. 2a", "full") for method, who in WHO.items()),
    *(
        _ours(method, who, figure, place)
        for figure, place in PLACES.items()
        for method, who in WHO.items()
    ),
    *(
        Claim(
            f"{who} against the paper's weighting",
            "Fig. 6",
            "icu",
            "log-likelihood ours − weighted",
            likelihood_lost("icu", method, "weighted"),
            "never worse",
        )
        for method, who in WHO.items()
    ),
    _ours("signal", "Signal-aware weights, all else as in the paper,", "weights", "App. E"),
)
