"""Render the library's messages for the command line."""

from collections.abc import Sequence
from shlex import quote
from typing import Any

from halfseen.cli.options import format_names
from halfseen.data.messages import Message, Parameter, Placeholder, Remedy, Setting, Settings

OPTIONS = {
    "n_components": ("-k",),
    "method": ("--method",),
    "complete_above": ("--complete-above",),
    "covariance_type": ("--covariance",),
    "n_factors": ("--factors",),
    "feature_weights": ("--weights",),
    "moments": ("--moments",),
    "scale": ("--scale",),
    "gaps": ("--gaps",),
    "refine": ("--refine", "--no-refine"),
    "random_state": ("--seed",),
    "max_seconds": ("--max-seconds",),
    "sequence": ("--sequence",),
    "order": ("--order",),
    "step": ("--step",),
    "table": ("--table",),
    "encoding": ("--encoding",),
    "header": ("--header", "--no-header"),
    "skip": ("--skip",),
    "dates": ("--dates",),
    "decimal": ("--decimal",),
    "kinds": ("--kind",),
    "columns": ("--columns",),
    "missing_values": ("--missing-values",),
    "absent_as_zero": ("--absent-as-zero",),
    "rename": ("--rename",),
    "units": ("--unit",),
    "on": ("--on",),
    "adjust": ("--adjust",),
    "overwrite": ("--force",),
    "leave_out": ("--leave-out",),
}
"""By parameter, the option that sets it; of flags also the one that says no."""
REMEDIES = {
    "leave out": "use --drop {columns}",
    "Leave out": "Use --drop {columns}",
    "declare": "with --kind",
    "do not declare": "leave out its --kind",
    "name a gap": "name it with --missing-values ('halfseen describe --show-text' shows it)",
    "infinities are gaps": "or mark them as missing with --missing-values inf,-inf",
    "more memory": "cut it into files",
}
"""What to do at the command line, where that is more than an option in place of a parameter."""


def in_options(message: str) -> str:
    """A message with parameters replaced by options.

    >>> from halfseen.data.messages import leave_out, parameter, setting
    >>> in_options("Lower " + parameter("complete_above") + ", or use " + setting(method="full"))
    'Lower --complete-above, or use --method full'
    >>> in_options(setting(covariance_type="factor", n_factors=3) + ", " + setting(refine="em"))
    '--covariance factor --factors 3, --refine'
    >>> in_options("use " + setting(missing_values=["not known", "-9"]))
    "use --missing-values 'not known,-9'"
    >>> in_options(leave_out(["age", "body mass"], capital=True) + ".")
    "Use --drop 'age,body mass'."
    """
    return message.render(_shown) if isinstance(message, Message) else message


def _shown(part: Placeholder) -> str:
    match part:
        case Parameter(name) if name in OPTIONS:
            return OPTIONS[name][0]
        case Setting(name, value) if name in OPTIONS:
            return _set(OPTIONS[name], value)
        case Settings(each):
            return " ".join(map(_shown, each))
        case Remedy(name, columns=columns) if name in REMEDIES:
            return REMEDIES[name].format(columns=format_names(columns))
    return str(part)


def _set(flags: Sequence[str], value: Any) -> str:
    if len(flags) > 1 or value is True:
        return flags[0] if value else flags[-1]
    if isinstance(value, list | tuple):
        return f"{flags[0]} {format_names(value)}"
    return f"{flags[0]} {quote(f'{value:g}' if isinstance(value, float) else str(value))}"
