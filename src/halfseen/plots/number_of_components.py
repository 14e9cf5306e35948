"""How a number of components was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halfseen.plots.canvas import BLUE, GREY, ORANGE, SKY, axes, without_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from halfseen.diagnostics.choice import Choice, HeldOut

LEGEND_ABOVE: dict[str, Any] = {
    "frameon": False,
    "loc": "lower center",
    "bbox_to_anchor": (0.5, 1.06),
    "fontsize": 9,
}


def components_curve(choice: Choice, *, ax: Axes | None = None) -> Axes:
    """What was found of every number of components.

    For groups, the mean log-likelihood of held-out rows, with two standard errors, and BIC on an
    axis at the right. For topics, what numbers leave of the second moments, against its noise.

    Where rows apart moved the choice, or are all there is, they are drawn instead: what a held-out
    row gains in likelihood, with two standard errors, over the number that the second moments
    support or else over the last that was accepted, filled if the number was accepted; and, on an
    axis at the right, how far halves of the rows agree on the components.

    Parameters
    ----------
    choice : Choice
        What ``choose_components`` returned, or ``diagnostics_.choice`` of a fit.
    ax : matplotlib Axes or None, default=None
        Where to draw.
    """
    ax = axes(ax, 6.0, 4.0)
    by_spectrum = (
        bool(choice.tests)
        and choice.tests[-1].n_components == choice.n_components
        and not choice.climbed
    )
    draw = _eigenvalues if by_spectrum else _likelihoods
    numbers = (_criteria if choice.tried else draw)(choice, ax)
    ax.axvline(choice.n_components, color=ORANGE, linewidth=1.0, linestyle="--", zorder=0)
    ax.text(
        choice.n_components,
        1.0,
        f"chosen: {choice.n_components}",
        color=ORANGE,
        transform=ax.get_xaxis_transform(),
        va="bottom",
        ha="center",
    )
    ax.set_xlabel("components")
    ax.set_xlim(min(numbers) - 0.5, max(numbers) + 0.5)
    ax.locator_params(axis="x", integer=True, min_n_ticks=1)
    return without_frame(ax)


def _criteria(choice: Choice, ax: Axes) -> list[int]:
    shown = [one for one in choice.tried if one.held_out is not None]
    ax.errorbar(
        [one.n_components for one in shown],
        [one.held_out or 0.0 for one in shown],
        yerr=[2 * (one.held_out_error or 0.0) for one in shown],
        fmt="o-",
        color=BLUE,
        capsize=3,
        label="held-out rows",
    )
    ax.set_ylabel("log-likelihood of a held-out row\n(± two standard errors)")
    right = ax.twinx()
    numbers = [one.n_components for one in choice.tried]
    right.plot(numbers, [one.bic for one in choice.tried], "s--", color=GREY, label="BIC (right)")
    right.set_ylabel("BIC (lowest is best)")
    _legend_of_both(ax, right)
    return numbers


def _eigenvalues(choice: Choice, ax: Axes) -> list[int]:
    numbers = [test.n_components for test in choice.tests]
    values = [test.eigenvalue for test in choice.tests]
    noise = [test.noise for test in choice.tests]
    ax.plot(numbers, values, "o-", color=BLUE, label="largest eigenvalue left over")
    ax.plot(numbers, noise, "s--", color=GREY, label="noise (99 % of replicates are below)")
    highest = max(*values, *noise)
    if highest > 10 * min(noise):  # what decides is small beside what does not
        ax.set_yscale("symlog", linthresh=max(min(noise), 1e-3 * highest))
    ax.set_ylim(min(0.0, *values), 1.2 * highest)
    ax.set_ylabel("eigenvalue of the weighted signal\n(squared units of the table)")
    ax.legend(ncols=2, **LEGEND_ABOVE)
    return numbers


def _likelihoods(choice: Choice, ax: Axes) -> list[int]:
    shown, reference = choice.held_out[1:], "one component fewer"
    if choice.climbed:
        reference = "the last number that was accepted"
    elif choice.tests:
        n = choice.tests[-1].n_components
        shown, reference = choice.held_out, f"{n} component{'s' * (n != 1)}"
    numbers = [one.n_components for one in shown]
    gains = [one.gain for one in shown]
    errors = [2 * one.error for one in shown]
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.errorbar(
        numbers,
        gains,
        yerr=errors,
        fmt="o",
        color=BLUE,
        capsize=3,
        label="gain, refused" if choice.climbed else "gain",
        markerfacecolor="white" if choice.climbed else BLUE,
    )
    accepted = [(one.n_components, one.gain) for one in shown if one.accepted and choice.climbed]
    if accepted:
        ax.plot(*zip(*accepted, strict=True), "o", color=BLUE, zorder=3, label="gain, accepted")
    decides = [abs(gain) + error for gain, error in zip(gains, errors, strict=True)]
    if decides and max(decides) > 20 * min(decides) > 0:  # what decides is small beside the first
        ax.set_yscale("symlog", linthresh=2 * min(decides))
    ax.set_ylabel(
        f"gain in held-out log-likelihood a row\nover {reference}\n(± two standard errors)"
    )
    if not numbers:
        ax.set_yticks([])
        ax.text(0.5, 0.6, "Nothing to compare.", transform=ax.transAxes, ha="center")
    if choice.climbed:
        _agreements([one for one in shown if one.agreement is not None], ax)
    return [*numbers, choice.n_components]


def _agreements(shown: list[HeldOut], ax: Axes) -> None:
    """On an axis at the right, from chance to the same, with the least that is accepted."""
    if not shown:
        return
    right = ax.twinx()
    ax.set_zorder(right.get_zorder() + 1)  # gains decide first, and are drawn over agreements
    ax.patch.set_visible(False)
    right.plot(
        [one.n_components for one in shown],
        [one.agreement or 0.0 for one in shown],
        "s-",
        color=SKY,
        linewidth=1.0,
        markersize=5,
        label="agreement of halves (right)",
    )
    enough = shown[0].enough_agreement
    right.axhline(enough, color=SKY, linewidth=0.8, linestyle=":")
    right.set_ylim(min(-0.05, *(one.agreement or 0.0 for one in shown)) - 0.05, 1.1)
    right.set_ylabel(f"agreement of halves\n(needs {enough:g}, dotted)")
    _legend_of_both(ax, right)


def _legend_of_both(ax: Axes, right: Axes) -> None:
    """One legend above the drawing for what is on either axis."""
    right.spines["top"].set_visible(False)
    marks = [*ax.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]]
    ax.legend(handles=marks, ncols=len(marks), **LEGEND_ABOVE)
