"""Parameters of chains of states."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from halfseen.method.learned import GIVEN, SHOWN, learned
from halfseen.method.scale import ANY, SHARE
from halfseen.rows.arrays import Array
from halfseen.structures.one_class.mixed.parameters import NOT_GIVEN, MixedParameters


@dataclass(frozen=True, eq=False)
class ChainParameters(MixedParameters):
    """States h_1, h_2, … along a sequence, and rows that arise from each as in a mixture.

    ``P(h_1 = k) = π_k`` and ``P(h_t+1 = j | h_t = k) = A_kj``. The weights are how often rows are
    of each state. What states leave of a continuous column lasts along a sequence by ``lasting``
    and ``fading`` (see :mod:`~halfseen.structures.chain.residuals`).
    """

    weights: Array = learned("weights_", "k", SHARE, role=SHOWN)
    start: Array = learned("start_", "k", SHARE, default=NOT_GIVEN)  # π
    transition: Array = learned("transition_", "kj", SHARE, default=NOT_GIVEN)  # A
    lasting: Array = learned("lasting_", "d", ANY, np.nan, GIVEN, default=NOT_GIVEN)  # c
    fading: Array = learned("fading_", "d", ANY, np.nan, GIVEN, default=NOT_GIVEN)  # ρ

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start is NOT_GIVEN:
            object.__setattr__(self, "start", self.weights)
        if self.transition is NOT_GIVEN:
            object.__setattr__(self, "transition", np.tile(self.weights, (len(self.weights), 1)))
        if self.lasting is NOT_GIVEN:
            nothing = np.full(self.means.shape[1], np.nan)
            object.__setattr__(self, "lasting", nothing)
            object.__setattr__(self, "fading", nothing)

    @classmethod
    def of(cls, mixture: MixedParameters, start: Array, transition: Array) -> "ChainParameters":
        """The states that are the components of a mixture."""
        own: dict[str, Any] = {one.name: getattr(mixture, one.name) for one in fields(mixture)}
        return cls(**own | {"start": start, "transition": transition})
