"""``halfseen weigh``: which weights suit a table."""

from dataclasses import asdict

from halfseen import compare_weights
from halfseen.cli import choices as scales
from halfseen.cli.fit import number_of_components
from halfseen.cli.models import USUAL, Model, check_scales, made
from halfseen.cli.options import (
    AbsentAsZero,
    Columns,
    Data,
    Dates,
    Decimal,
    Drop,
    Encoding,
    Groups,
    Header,
    Json,
    Log,
    MissingValues,
    Number,
    On,
    Rename,
    Scale,
    Skip,
    Standardise,
    Table,
    Unit,
    all_or_some,
    listed,
)
from halfseen.cli.reading.asked_files import asked_files
from halfseen.cli.reading.command_table import open_table
from halfseen.cli.reading.kept_columns import labels
from halfseen.cli.reading.prepared import prepared
from halfseen.cli.voice import Voice
from halfseen.models import MODELS

OPTIONS = {
    "observed": "--weights observed",
    "sqrt": "--weights sqrt",
    "signal": "--weights signal",
    "adjusted": "--moments adjusted",
}


def weigh(
    data: Data,
    k: Number = "auto",
    model: Model = USUAL,
    columns: Columns = None,
    drop: Drop = None,
    log: Log = None,
    scale: Scale = scales.Scale.robust,
    standardise: Standardise = False,
    groups: Groups = None,
    missing_values: MissingValues = "",
    absent_as_zero: AbsentAsZero = None,
    dates: Dates = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    header: Header = None,
    skip: Skip = None,
    table: Table = None,
    rename: Rename = None,
    unit: Unit = None,
    on: On = None,
    as_json: Json = False,
) -> None:
    r"""Compare ways of weighting columns by how well they predict rows not learned from.

    Models are learned by averages alone, without polish, from two thirds of the rows, and scored on
    the others. With polish by likelihood (the default for groups) weights matter less.

    \b
    For example:
      halfseen weigh patients.csv -k 4
      halfseen weigh visits.csv --groups patient --drop patient
    """
    voice = Voice(as_json)
    # Without polish there is one noise for all columns: they are divided by their spreads.
    by_itself = scale is scales.Scale.robust and not MODELS[model].about.counts
    standardise = standardise or by_itself or scale is scales.Scale.standard
    check_scales(model, listed(log), standardise)
    without = [*listed(drop), *([groups] if groups else [])]
    files = asked_files(
        *(data, listed(missing_values)),
        rename=rename,
        unit=unit,
        on=on,
        absent_as_zero=all_or_some(absent_as_zero),
        dates=dates,
        decimal=decimal,
        encoding=encoding,
        header=header,
        skip=skip,
        table=table,
    )
    whole = open_table(files)
    by_row = labels(whole.source, whole.file, groups)
    chosen = open_table(files, listed(columns), without)
    ready = prepared(voice, chosen, listed(log), standardise)
    estimator = made(model, {}, None)
    with voice.listening(), ready.reckoning():
        found = compare_weights(
            ready.given,
            estimator,
            n_components=number_of_components(k),
            groups=by_row,
        )
    voice.say("")
    voice.table(
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
    voice.say("")
    voice.say(found.reason + (f" Use {OPTIONS[found.best]}." if found.best != found.usual else ""))
    voice.finish(best=found.best, **asdict(found))
