"""What in the moments is too uncertain to trust, told when a model is fitted."""

from collections.abc import Sequence

from halfseen.method.model import Evidence
from halfseen.moments.few_rows import FEW_ROWS
from halfseen.moments.moments import Moments
from halfseen.rows.errors import WeakMomentsWarning, warn
from halfseen.rows.naming import features


def warn_of_weak_moments(evidence: Evidence, names: Sequence[str]) -> None:
    """Say what in the moments is too uncertain to trust; at most one warning."""
    concerns = [*_unsupported(evidence), *_rarely_together(evidence.moments, names)]
    if concerns:
        warn(" ".join(concerns), WeakMomentsWarning)


def _unsupported(evidence: Evidence) -> list[str]:
    whitening = evidence.whitening
    missing = whitening.rank - whitening.n_supported
    if not missing:
        return []
    k = evidence.n_components
    worst = whitening.spectrum[whitening.rank - 1]
    return [
        f"n_components={k} is more than the second moments support: {missing} of the "
        f"{whitening.rank} eigenvalues kept are not positive (the last is {worst:.3g}, the first "
        f"{whitening.spectrum[0]:.3g}). Use at most {max(k - missing, 1)} components, or add rows."
    ]


def _rarely_together(moments: Moments, names: Sequence[str]) -> list[str]:
    i, j, together = moments.gaps.rarest()
    if together >= FEW_ROWS:
        return []
    who = (
        f"{features(names, [i])} is observed in only {together:g} rows"
        if i == j
        else f"{features(names, [i, j])} are observed together in only {together:g} rows"
    )
    return [f"{who}: moments from so few are mostly noise. Drop a feature, or add rows."]
