"""A time budget of a fit."""

import time
from dataclasses import dataclass, field

NO_END = float("inf")


@dataclass(frozen=True)
class TimeBudget:
    """A time budget that starts when it is created."""

    seconds: float = NO_END
    begun: float = field(default_factory=time.monotonic)

    @property
    def limited(self) -> bool:
        """Whether there is a time limit."""
        return self.seconds < NO_END

    def spent(self, share: float = 1.0) -> bool:
        """Whether that share of the time has passed."""
        return time.monotonic() - self.begun >= share * self.seconds
