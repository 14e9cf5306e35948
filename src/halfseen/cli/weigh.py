"""``halfseen weigh``: compare weights of columns on held-out rows."""

from dataclasses import asdict
from typing import Annotated

import typer

from halfseen import compare_weights
from halfseen.cli.console import Console
from halfseen.cli.input_files import files_of
from halfseen.cli.model_choice import check_scales, make_estimator
from halfseen.cli.model_input import prepare
from halfseen.cli.new_table import read_labels
from halfseen.cli.options import (
    MODEL_SUMMARIES,
    ColumnOptions,
    Data,
    Groups,
    Json,
    Model,
    Number,
    Scale,
    TableOptions,
    Without,
    parse_number,
)
from halfseen.cli.training_table import open_table
from halfseen.models import MODELS, USUAL_MODEL

OPTIONS = {
    "observed": "--weights observed",
    "sqrt": "--weights sqrt",
    "signal": "--weights signal",
    "adjusted": "--moments adjusted",
}


USUAL = Model(USUAL_MODEL)


def weigh(
    data: Data,
    k: Number = "auto",
    model: Annotated[Model, typer.Option(help=MODEL_SUMMARIES)] = USUAL,
    *,
    columns: Annotated[ColumnOptions, Without("kind")],
    groups: Groups = None,
    table: Annotated[TableOptions, Without("vocabulary", "text", "stop_words", "min_rows")],
    as_json: Json = False,
) -> None:
    r"""Compare ways of weighting columns by how well they predict rows not learned from.

    Models are learned by averages alone, without refinement, from two thirds of the rows, and
    scored on the others. With refinement by likelihood (the default for groups) weights matter
    less.

    \b
    For example:
      halfseen weigh patients.csv -k 4
      halfseen weigh visits.csv --groups patient --drop patient
    """
    console = Console(as_json)
    # Without refinement there is one noise for all columns: they are divided by their spreads.
    by_itself = columns.scale is Scale.robust and not MODELS[model].about.counts
    standardise = columns.standardised or by_itself
    check_scales(model, columns.logged, standardise)
    without = [*columns.dropped, *([groups] if groups else [])]
    files = files_of(data, table)
    whole = open_table(files)
    by_row = read_labels(whole.source, files.name, groups)
    ready = prepare(console, open_table(files, columns.used, without), columns.logged, standardise)
    with console.warnings_as_cautions(), ready.naming_columns():
        found = compare_weights(
            ready.table,
            make_estimator(model, {}, None),
            n_components=parse_number(k),
            groups=by_row,
        )
    console.say("")
    console.table(
        f"With {found.n_components} components, log-likelihood of held-out rows",
        ("weights", "mean", "gain", "± error", "option"),
        [
            (
                way.way,
                f"{way.log_likelihood:.4f}",
                f"{way.gain:+.4f}",
                f"{way.error:.4f}",
                OPTIONS[way.way],
            )
            for way in found.ways
        ],
    )
    use = f" Use {OPTIONS[found.best]}." if found.best != found.usual else ""
    console.say("")
    console.say(f"{found.reason}{use}")
    console.finish(best=found.best, **asdict(found))
