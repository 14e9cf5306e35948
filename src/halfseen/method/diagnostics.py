"""What a fit has to say about itself."""

from dataclasses import dataclass
from typing import Any

from halfseen.method.learn import Learned
from halfseen.moments.gaps.dependence import INDEPENDENT_BELOW
from halfseen.moments.gaps.gaps import Gaps
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.stages import Stages


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """How a fit went, and what to be careful about.

    Attributes
    ----------
    spectrum : ndarray
        Eigenvalues of the weighted signal, largest first. The ones kept should stand out.
    n_kept_eigenvalues : int
        How many of them, from the first, were kept: as many as the components span dimensions.
    off_diagonal_fraction : float
        How much of the tensor the components leave unexplained, from 0 to 1.
    dropped_features : dict
        Features left out of the fit, with the reason.
    n_empty_rows : int
        Rows in which nothing was observed. They were ignored.
    dependence_of_gaps : float
        Largest standardised deviation from features missing independently of each other.
    third_moment : str
        The route by which the third moment was had.
    third_moment_reason : str
        Why that one.
    n_unseen_triples : int
        Triples of features that no row holds together; their third cumulants were taken as 0.
    incomplete_features : str
        How the parameters of incomplete features were found: "none", "regress" or "divide".
    seconds : dict
        Time spent in each stage.
    strengths : ndarray or None
        ``λ_k``, how strongly each component shows in the whitened tensor; None in models from
        older files.
    choice : Choice or None
        How ``n_components="auto"`` was decided.
    """

    spectrum: Array
    n_kept_eigenvalues: int
    off_diagonal_fraction: float
    dropped_features: dict[str, str]
    n_empty_rows: int
    dependence_of_gaps: float
    third_moment: str
    third_moment_reason: str
    n_unseen_triples: int
    incomplete_features: str
    seconds: dict[str, float]
    strengths: Array | None = None
    choice: Any = None  # a Choice, which knows more than fits do

    @property
    def gaps_independent(self) -> bool:
        """Whether features look to be missing independently of each other."""
        return self.dependence_of_gaps < INDEPENDENT_BELOW


def diagnose(
    survey: Survey,
    learned: Learned[Any],
    incomplete_features: str,
    stages: Stages,
    gaps: Gaps,
) -> Diagnostics:
    """Collect what the stages of a fit know; ``gaps`` are those of all features."""
    evidence = learned.evidence
    return Diagnostics(
        spectrum=evidence.whitening.spectrum,
        n_kept_eigenvalues=evidence.whitening.rank,
        off_diagonal_fraction=learned.decomposition.off_diagonal,
        dropped_features=survey.dropped,
        n_empty_rows=survey.sums.n_empty,
        dependence_of_gaps=gaps.dependence_of_features,
        third_moment=evidence.third.route,
        third_moment_reason=evidence.third.reason,
        n_unseen_triples=evidence.third.n_unseen,
        incomplete_features=incomplete_features,
        seconds=dict(stages.seconds),
        strengths=learned.decomposition.values,
    )


def noise_level(values: Array) -> float:
    """How far below zero the lowest eigenvalue is; 0 if none is.

    Eigenvalues without signal scatter about zero, to both sides nearly alike.

    >>> import numpy as np
    >>> noise_level(np.array([9.0, 4.0, 0.5, -0.75]))
    0.75
    """
    return float(max(-values.min(initial=0.0), 0.0))
