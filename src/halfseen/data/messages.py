"""Messages that mark names of parameters, so that Python and the command line render them.

A :class:`Message` is a string, so that it serves as the message of an error or a warning, and as
any sentence. It remembers which of its parts name parameters or remedies, as long as it is put
together by ``+`` or :func:`joined`; an f-string around it keeps the text alone.

>>> found = "Lower " + parameter("complete_above") + ", or use " + setting(method="weighted") + "."
>>> found
"Lower complete_above, or use method='weighted'."
>>> found.render(lambda part: f"<{part.name}>")
'Lower <complete_above>, or use <method>.'
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Parameter:
    """The name of a parameter, without a value."""

    name: str
    python: str

    def __str__(self) -> str:
        return self.python


@dataclass(frozen=True)
class Setting:
    """A parameter with a value."""

    name: str
    value: Any

    def __str__(self) -> str:
        value = self.value
        return f"{self.name}={value:g}" if isinstance(value, float) else f"{self.name}={value!r}"


@dataclass(frozen=True)
class Settings:
    """Several parameters with values."""

    each: tuple[Setting, ...]

    @property
    def name(self) -> str:
        """The name of the first parameter."""
        return self.each[0].name

    def __str__(self) -> str:
        return ", ".join(map(str, self.each))


@dataclass(frozen=True)
class Remedy:
    """What to do; the name lets the command line use other words."""

    name: str
    python: str
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.python


Placeholder = Parameter | Setting | Settings | Remedy
Part = str | Placeholder


class Message(str):
    """Text that marks names of parameters and remedies."""

    parts: tuple[Part, ...]

    def __new__(cls, text: str, parts: Sequence[Part] | None = None) -> Self:
        """The text as Python shows it; its ``parts`` are the text itself, if none are given."""
        message = super().__new__(cls, text)
        message.parts = (text,) if parts is None else tuple(parts)
        return message

    @classmethod
    def of(cls, *parts: Part) -> Self:
        """The message made of these parts."""
        return cls("".join(map(str, parts)), parts)

    def __add__(self, other: str) -> "Message":
        return Message.of(*self.parts, *_parts(other))

    def __radd__(self, other: str) -> "Message":
        return Message.of(*_parts(other), *self.parts)

    def render(self, show: Callable[[Placeholder], str]) -> str:
        """The text with each parameter and remedy rendered by ``show``."""
        return "".join(part if isinstance(part, str) else show(part) for part in self.parts)


def parameter(name: str, python: str | None = None) -> Message:
    """A parameter, mentioned by name.

    >>> parameter("kinds") + " names 'x'", "Say which with " + parameter("table", "table=") + "."
    ("kinds names 'x'", 'Say which with table=.')
    """
    return Message.of(Parameter(name, python or name))


def setting(**values: Any) -> Message:
    """One parameter with its value, or several.

    >>> setting(n_components=9), setting(covariance_type="factor", n_factors=3)
    ('n_components=9', "covariance_type='factor', n_factors=3")
    """
    each = tuple(Setting(name, value) for name, value in values.items())
    return Message.of(each[0] if len(each) == 1 else Settings(each))


def remedy(name: str, python: str, columns: Sequence[str] = ()) -> Message:
    """What to do in Python, perhaps with ``columns``; ``name`` identifies the remedy."""
    return Message.of(Remedy(name, python, tuple(columns)))


def leave_out(columns: Sequence[str], *, capital: bool = False) -> Message:
    """Advice not to use some columns.

    >>> leave_out(["age", "body mass"])
    "leave out ['age', 'body mass']"
    """
    verb = "Leave" if capital else "leave"
    return remedy(f"{verb} out", f"{verb} out {list(columns)}", columns)


def joined(separator: str, messages: Iterable[str]) -> Message:
    """Messages joined as by ``separator.join``.

    >>> joined("; ", ["one", setting(step=2)])
    'one; step=2'
    """
    found = Message("")
    for number, message in enumerate(messages):
        found = found + (separator if number else "") + message
    return found


def message_of(raised: BaseException) -> str:
    """The message of an error or warning, with its parts if known."""
    told = raised.args[0] if len(raised.args) == 1 else None
    return told if isinstance(told, Message) else str(raised)


def _parts(text: str) -> tuple[Part, ...]:
    return text.parts if isinstance(text, Message) else (text,)
