"""What was measured of sums in place of rows is as good as it is said to be."""

from benchmarks.results_file import figures


def test_three_places_are_all_rows():
    kept = figures("summed_places")
    assert max(kept["moments"].values()) < 1e-9
    # Thirty steps without leaps are not enough for covariances of all columns.
    for name, found in kept["rounds"].items():
        assert max(found["nats_below"]) < (1e-3 if name == "gaussian, full" else 1e-6), name


def test_files_are_as_large_as_the_formula_says_and_never_more_than_15_mb():
    for d, found in figures("summed_places")["megabytes"].items():
        assert found["formula"] <= found["first"] < found["formula"] * 1.05 + 0.003 * int(d), d
        assert max(found.values()) < 15


def test_noise_costs_less_the_more_rows_there_are():
    by_rows = figures("private_sums")["by_rows"]
    for epsilon in ("0.1", "1", "10", "none"):
        errors = [row[epsilon] for row in by_rows.values()]
        assert errors == sorted(errors, reverse=True), epsilon
    assert by_rows["300000"]["1"] < 0.01
