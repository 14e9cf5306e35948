"""How numbers of components fared on halves of the rows."""

from halfseen.doubt.choice import Choice, HeldOut
from halfseen.explain.charts.bars import Bar, bar_chart
from halfseen.explain.charts.drawing import Figure
from halfseen.explain.words import percent


def number_chart(choice: Choice, noun: str, nouns: str) -> list[Figure]:
    """A bar for every number that halves of the rows were fitted with; none if none was."""
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
