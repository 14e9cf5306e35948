"""The demonstration: groups of patients in the bundled sample."""

from halfseen import GaussianMixture
from halfseen.cli.words import Column, describe_groups, describe_weights
from halfseen.sample import load_clinic

N_GROUPS = 4


def demo_text() -> str:
    """Fit the sample and say what was learned, as Markdown."""
    clinic = load_clinic()
    model = GaussianMixture(N_GROUPS, random_state=0).fit(clinic.scores)
    columns = [Column(m.name, m.unit, m.typical, m.spread, m.digits) for m in clinic.measurements]
    n_rows, n_columns = clinic.values.shape
    return "\n".join(
        [
            f"# {N_GROUPS} groups among {n_rows:,} patients",
            "",
            f"A simulated clinic: {n_columns} measurements, of which "
            f"{1 - model.observed_fraction_.mean():.0%} of the values are missing. No patient and "
            "no measurement was left out, and no value was made up to fill a gap.",
            "",
            *describe_groups(model.weights_, model.means_, columns, "patients"),
            "## How much each measurement counted",
            "",
            *describe_weights(model.feature_weights_, model.observed_fraction_, columns),
        ]
    )
