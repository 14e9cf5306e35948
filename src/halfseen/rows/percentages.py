"""Shares as people read them."""


def percent(share: float) -> str:
    """Whole percentages, of which only nothing is 0 and only everything 100.

    >>> percent(0.254), percent(0.004), percent(0.999)
    ('25%', '<1%', '>99%')
    """
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"
