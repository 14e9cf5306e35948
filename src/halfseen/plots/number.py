"""How a number of components was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfseen.plots.canvas import BLUE, GREY, ORANGE, axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from halfseen.doubt.choice import Choice


def components_curve(choice: Choice, *, ax: Axes | None = None) -> Axes:
    """What numbers of components leave of the second moments, against its noise.

    Where held-out likelihoods moved the choice, or are all there is, they are drawn instead: gains
    in likelihood a row, with two standard errors, over the number that the second moments support
    or else over one component fewer.

    Parameters
    ----------
    choice : Choice
        What ``choose_components`` returned, or ``diagnostics_.choice`` of a fit.
    ax : matplotlib Axes or None, default=None
        Where to draw.
    """
    ax = axes(ax, 6.0, 4.0)
    by_spectrum = bool(choice.tests) and choice.tests[-1].n_components == choice.n_components
    numbers = (_eigenvalues if by_spectrum else _likelihoods)(choice, ax)
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
    plain(ax)
    return ax


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
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.06), ncols=2, fontsize=9)
    return numbers


def _likelihoods(choice: Choice, ax: Axes) -> list[int]:
    if choice.tests:
        n = choice.tests[-1].n_components
        shown, reference = choice.held_out, f"{n} component{'s' * (n != 1)}"
    else:  # a climb, a step at a time
        shown, reference = choice.held_out[1:], "one component fewer"
    numbers = [one.n_components for one in shown]
    gains = [one.gain for one in shown]
    errors = [2 * one.error for one in shown]
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.errorbar(numbers, gains, yerr=errors, fmt="o", color=BLUE, capsize=3)
    ax.set_ylabel(
        f"gain in held-out log-likelihood a row\nover {reference}\n(± two standard errors)"
    )
    if not numbers:
        ax.set_yticks([])
        ax.text(0.5, 0.6, "Nothing to compare.", transform=ax.transAxes, ha="center")
    return [*numbers, choice.n_components]
