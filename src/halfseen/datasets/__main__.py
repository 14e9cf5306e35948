"""Write the bundled table again."""

from halfseen.datasets.clinic import PATH, as_csv, simulate_clinic

PATH.write_text(as_csv(simulate_clinic()[0]), encoding="utf-8")
