"""How numbers of components fared on halves of the rows."""

from halfseen.data.formatting import percent
from halfseen.diagnostics.choice import Choice, HeldOut, TriedNumber
from halfseen.report.charts.bars import Bar, bar_chart
from halfseen.report.charts.drawing import Figure


def number_chart(choice: Choice, noun: str, nouns: str) -> list[Figure]:
    """A bar for every number that was tried; none if none was."""
    if choice.tried:
        return [_of_groups(choice, noun, nouns)]
    tried = [step for step in choice.held_out if step.agreement is not None]
    if not tried:
        return []
    bars = [
        Bar(
            f"{step.n_components} {nouns if step.n_components > 1 else noun}",
            step.agreement or 0.0,
            f"{step.agreement:.2f}",
            _told(step, noun if step.n_components == 1 else nouns),
            step.enough_agreement,
        )
        for step in tried
    ]
    caption = (
        "How far halves of the rows, fitted apart, give rows the same "
        f"{nouns}: 1 is the same, 0 is chance. The tick is the least that is accepted; a number "
        "must also make held-out rows more likely and leave no component with too few rows."
    )
    return [bar_chart(f"How many {nouns}", caption, bars, (nouns, "how it fared"))]


def _of_groups(choice: Choice, noun: str, nouns: str) -> Figure:
    """Stability of every number, with all that is known of it beside."""
    bars = [
        Bar(
            f"{one.n_components} {nouns if one.n_components > 1 else noun}",
            one.stability or 0.0,
            "" if one.stability is None else f"{one.stability:.2f}",
            _row_told(one, choice),
        )
        for one in choice.tried
    ]
    caption = (
        f"How far fits to halves of the rows give rows the same {nouns}: 1 is the same, 0 is "
        "chance. That does not decide: any cut of a single cloud is found again. The table has the "
        "likelihood of held-out rows and the information criteria (of AIC, BIC and ICL, the lowest "
        "is best)."
    )
    return bar_chart(f"How many {nouns}", caption, bars, (nouns, "how it fared"))


def _row_told(one: TriedNumber, choice: Choice) -> str:
    parts = [
        f"log-likelihood {one.log_likelihood:,.1f} with {one.n_parameters} parameters",
        f"AIC {one.aic:,.0f}, BIC {one.bic:,.0f}, ICL {one.icl:,.0f}",
        f"entropy {one.entropy:.2f} a row",
    ]
    if one.held_out is not None and one.held_out_error is not None:
        parts.append(f"held-out rows {one.held_out:.3f} ± {one.held_out_error:.3f} each")
    parts.append(f"the smallest holds {percent(one.smallest)} of rows")
    if one.stability is not None:
        parts.append(f"stability {one.stability:.2f}")
    if one.n_components in (choice.n_components, choice.runner_up):
        parts.append("chosen" if one.n_components == choice.n_components else "runner-up")
    return "; ".join(parts)


def _told(step: HeldOut, what: str) -> str:
    """Everything about one number."""
    said = f"{step.n_components} {what}: agreement {step.agreement:.2f}"
    if step.over is not None and step.over != step.n_components:
        likely = "more" if step.gain > 0 else "less"
        said += (
            f"; held-out rows {likely} likely than under {step.over}, by {abs(step.gain):.3g} ± "
            f"{step.error:.2g} a row"
        )
    if step.smallest is not None:
        said += f"; the smallest holds {percent(step.smallest)} of rows"
    if step.accepted:
        return f"{said}; accepted"
    return f"{said}; refused: {step.refused}" if step.refused else f"{said}; not chosen"
