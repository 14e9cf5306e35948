"""What options may be."""

from enum import StrEnum


class Method(StrEnum):
    """The three methods."""

    weighted = "weighted"
    full = "full"
    partial = "partial"


class Weights(StrEnum):
    """How columns may be weighted."""

    auto = "auto"
    observed = "observed"
    sqrt = "sqrt"
    signal = "signal"
    none = "none"


class Moments(StrEnum):
    """How averages are taken of what has gaps."""

    available = "available"
    adjusted = "adjusted"


class Covariance(StrEnum):
    """How the noise of a mixture may differ."""

    tied_spherical = "tied_spherical"
    spherical = "spherical"
    tied_diag = "tied_diag"
    diag = "diag"
    tied = "tied"
    full = "full"
    factor = "factor"
    auto = "auto"


class Adjust(StrEnum):
    """How tables are made comparable."""

    location = "location"


class Gaps(StrEnum):
    """What gaps say."""

    ignorable = "ignorable"
    informative = "informative"


class Scale(StrEnum):
    """What the noise of columns is measured in."""

    robust = "robust"
    standard = "standard"
    none = "none"


class StopWords(StrEnum):
    """What is left out of text."""

    english = "english"
    none = "none"


class PageFormat(StrEnum):
    """What a report is written as."""

    html = "html"
    json = "json"
    md = "md"
