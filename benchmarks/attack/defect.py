"""A promise that was broken."""


class Defect(AssertionError):
    """Which law, in words that are the same for all that break it, and what was found."""

    def __init__(self, law: str, found: object = ""):
        super().__init__(law, found)
        self.law, self.found = law, str(found)


def check(holds: object, law: str, found: object = "") -> None:
    """Break off if a law does not hold."""
    if not holds:
        raise Defect(law, found)
