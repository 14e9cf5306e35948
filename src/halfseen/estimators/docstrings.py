"""Shared parts of estimators' docstrings."""

import inspect
import re

Entries = dict[str, str]
"""The text of each parameter or attribute, by its name."""
_SECTION = r"    {title}\n    -+\n((?:    .*\n|\n(?=    \w+ ?:))*)"
_ENTRY = re.compile(r"^    (\w+)[^\n]*\n(?:        [^\n]*\n)+", re.MULTILINE)


def complete(kind: type, shared: str) -> str:
    """A class docstring completed with ``shared`` entries.

    Parameters stand in the order of the signature, attributes of the class's own first.
    """
    own = (kind.__doc__ or "") + "\n"
    described = entries(own, "Parameters")
    # A base class may describe parameters that only the constructors of its subclasses have.
    names = dict.fromkeys([*inspect.signature(kind).parameters, *described])
    parameters = entries(shared, "Parameters") | described
    attributes = entries(own, "Attributes")  # the class's own come first
    attributes |= {k: v for k, v in entries(shared, "Attributes").items() if k not in attributes}
    sections = {
        "Parameters": "".join(parameters[name] for name in names if name in parameters),
        "Attributes": "".join(attributes.values()),
    }
    rest = own
    for title in sections:
        rest = re.sub(_SECTION.format(title=title) + r"\n?", "", rest)
    head, mark, tail = rest.partition("    References\n")
    if not mark:
        head, mark, tail = rest.partition("    Examples\n")
    listed = "".join(f"    {t}\n    {'-' * len(t)}\n{text}\n" for t, text in sections.items())
    return f"{head.rstrip()}\n\n{listed}{mark}{tail}".rstrip("\n") + "\n    "


def entries(docstring: str, title: str) -> Entries:
    """The entries of one section of a docstring."""
    found = re.search(_SECTION.format(title=title), docstring)
    if found is None:
        return {}
    return {match[1]: match[0] for match in _ENTRY.finditer(found[1])}
