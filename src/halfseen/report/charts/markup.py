"""Text that is markup already, and what makes it of text that is not."""

from collections.abc import Iterable
from html import escape
from typing import Any


class Markup(str):
    """Markup, into which words go as words: whatever they hold, it is no markup.

    Templates take it as it is. There are libraries for this; models are shown, and so imported,
    where none of them is installed.

    >>> Markup("<b>{}</b>").format("<i>")
    '<b>&lt;i&gt;</b>'
    """

    __slots__ = ()

    def format(self, *words: object, **named: object) -> "Markup":
        """Places filled by markup as it is, numbers, and words that are escaped."""
        return Markup(
            str(self).format(
                *map(_safe, words), **{name: _safe(one) for name, one in named.items()}
            )
        )

    def join(self, parts: Iterable[str]) -> "Markup":
        """Parts one after the other."""
        return Markup(str(self).join(str(_safe(part)) for part in parts))

    def __add__(self, other: str) -> "Markup":
        return Markup(str(self) + str(_safe(other)))

    def __html__(self) -> str:
        return str(self)


def _safe(value: Any) -> Any:
    """Quotes are written as templates write them, so that a name is the same all over a page."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return escape(value, quote=False).replace('"', "&#34;").replace("'", "&#39;")
