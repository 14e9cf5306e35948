"""How long there is still to go on."""

import time
from dataclasses import dataclass, field

NO_END = float("inf")


@dataclass(frozen=True)
class TimeBudget:
    """Runs from when it is made."""

    seconds: float = NO_END
    begun: float = field(default_factory=time.monotonic)

    @property
    def limited(self) -> bool:
        """Whether time may run out."""
        return self.seconds < NO_END

    def spent(self, share: float = 1.0) -> bool:
        """Whether that share of the time is over."""
        return time.monotonic() - self.begun >= share * self.seconds
