"""``halfseen demo``: fit the bundled sample and write the report."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from halfseen.cli.console import Console
from halfseen.cli.model_input import with_names
from halfseen.cli.options import Force
from halfseen.cli.output_files import check_writable
from halfseen.data.formatting import percent
from halfseen.datasets import Clinic, load_clinic
from halfseen.io.preprocessing import Preprocessing
from halfseen.models import MODELS, USUAL_MODEL
from halfseen.report.columns import weights_told
from halfseen.report.registry import portrait_of

N_GROUPS = 4


def demo(
    out: Annotated[Path, typer.Option(help="Where the report is written.")] = Path(
        "demo-report.html"
    ),
    force: Force = False,
) -> None:
    """Fit the bundled sample, say what was learned, and write the report."""
    check_writable(out, force)
    console = Console()
    clinic = load_clinic()
    n_rows, n_columns = clinic.values.shape
    console.say(
        f"A simulated clinic: {n_rows:,} patients and {n_columns} measurements, of which "
        f"{percent(float(np.isnan(clinic.values).mean()))} are missing. No patient and no "
        "measurement is left out, and no value is made up to fill a gap."
    )
    model, table = _fitted(clinic)
    view = portrait_of(model)
    for title, lines in view.descriptions("patients"):
        console.say("")
        console.items(title, lines)
    console.say("")
    counted = weights_told(view.names, model.feature_weights_, model.observed_fraction_)
    console.items("How much each measurement counted:", counted)
    title = f"{N_GROUPS} groups among {n_rows:,} simulated patients"
    model.report(table, out, title=title, overwrite=force)
    console.say("")
    console.say(f"Report: {out.resolve()}")


def _fitted(clinic: Clinic) -> tuple[Any, Any]:
    """Measured in spreads among the healthy, by which measurements are comparable."""
    names = tuple(f"{m.name} ({m.unit})" for m in clinic.measurements)
    done = Preprocessing(names, np.zeros(len(names), bool), clinic.typical, clinic.spread)
    table = with_names(done.fitted_names, done.apply(clinic.values))
    model = MODELS[USUAL_MODEL](N_GROUPS, random_state=0).fit(table)
    model.preprocessing_ = done
    return model, table
