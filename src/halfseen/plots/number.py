"""How a number of components was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfseen.plots.canvas import BLUE, GREY, ORANGE, axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from halfseen.estimators.choice import Choice


def components_curve(choice: Choice, *, ax: Axes | None = None) -> Axes:
    """What numbers of components leave of the second moments, against its noise.

    Where held-out likelihoods moved the choice, or are all there is, they are drawn instead: gains
    in likelihood a row, with two standard errors.

    Parameters
    ----------
    choice : Choice
        What ``choose_components`` returned, or ``diagnostics_.choice`` of a fit.
    ax : matplotlib Axes or None, default=None
        Where to draw.
    """
    ax = axes(ax, 6.0, 4.0)
    by_spectrum = bool(choice.tests) and choice.tests[-1].n_components == choice.n_components
    (_eigenvalues if by_spectrum else _likelihoods)(choice, ax)
    ax.axvline(choice.n_components, color=ORANGE, linewidth=1.0, linestyle="--", zorder=0)
    ax.text(
        choice.n_components,
        1.0,
        f" chosen: {choice.n_components}",
        color=ORANGE,
        transform=ax.get_xaxis_transform(),
        va="bottom",
        ha="center",
    )
    ax.set_xlabel("components")
    ax.locator_params(axis="x", integer=True)
    plain(ax)
    return ax


def _eigenvalues(choice: Choice, ax: Axes) -> None:
    numbers = [test.n_components for test in choice.tests]
    values = [test.eigenvalue for test in choice.tests]
    noise = [test.noise for test in choice.tests]
    ax.plot(numbers, values, "o-", color=BLUE, label="largest eigenvalue left over")
    ax.plot(numbers, noise, "s--", color=GREY, label="noise (99 % of replicates are below)")
    if max(values) > 30 * max(noise):
        ax.set_yscale("symlog", linthresh=max(noise))
    ax.set_ylim(bottom=min(0.0, *values))
    ax.set_ylabel("eigenvalue of the weighted signal\n(squared units of the table)")
    ax.legend(frameon=False)


def _likelihoods(choice: Choice, ax: Axes) -> None:
    numbers = [one.n_components for one in choice.held_out]
    gains = [one.gain for one in choice.held_out]
    errors = [2 * one.error for one in choice.held_out]
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.errorbar(numbers, gains, yerr=errors, fmt="o", color=BLUE, capsize=3)
    ax.set_ylabel("gain in held-out log-likelihood a row\n(± two standard errors)")
