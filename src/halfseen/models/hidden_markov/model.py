"""The model that states are: how columns arise from them, and how they follow each other."""

from collections.abc import Mapping
from typing import Any

from halfseen.method.model import Abilities, About
from halfseen.models.hidden_markov.concerns import CHECKS
from halfseen.models.hidden_markov.portrait import as_states
from halfseen.structures.chain.law import Chain
from halfseen.structures.chain.start import by_sequences
from halfseen.structures.one_class import Centred, OneClass, anything
from halfseen.structures.one_class.mixed.emission import PRIOR_ROWS, Mixed
from halfseen.structures.one_class.normal.covariance import SHAPES
from halfseen.structures.one_class.normal.emission import Normal

ABOUT = About(
    name="markov",
    noun="state",
    gives="states of rows that follow each other, such as visits of patients",
    assumes="Which state follows depends on the last one only, and within a state columns vary "
    "independently of each other and of the rows before.",
    weighting="sqrt",
    labels=True,
    counts=False,
    sequences=True,
)
NO_INTERVALS = "Without refine='em' states have no intervals. Use refine='em'."


class OfNeighbours(Centred):
    """Moments of distinct columns, and of rows that follow each other."""

    def most_components(self, n_features: int) -> int:
        """What moments do not tell apart, likelihood may."""
        return 8


def chain_of_states(
    declared: Mapping[str, str],
    *,
    outliers: bool,
    prior: float,
    refined: bool,
    tol: float,
    max_iter: int,
) -> OneClass[Any]:
    """The model that an estimator's parameters, and the kinds ``declared`` of columns, make."""
    return OneClass(
        about=ABOUT,
        abilities=Abilities(
            thin_products=False,
            rank_tests=False,
            not_streamed="States are learned by likelihood, which goes over rows again. Use "
            "fit(), which also takes files and batches that can be read again.",
            no_intervals="" if refined else NO_INTERVALS,
            no_weights="States are learned by likelihood, in which weights play no part.",
            polish_candidates=True,
            scored_rows=None,
        ),
        emission=Mixed(
            Normal(SHAPES["diag"], outliers, prior), declared, prior_rows=prior * PRIOR_ROWS
        ),
        cumulants=OfNeighbours(),  # type: ignore[arg-type]
        tol=tol,
        max_iter=max_iter,
        axes={},
        check=anything,
        own_checks=CHECKS,
        by_moments=by_sequences,
        pictured=as_states,
        law=Chain(prior),
    )
