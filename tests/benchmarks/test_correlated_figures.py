"""The kept figures of mixtures of correlated columns are those the project claims."""

import pytest

from benchmarks import results_file


def kept(part):
    if not (results_file.FOLDER / f"correlated_{part}.json").exists():
        pytest.skip(f"{part} has not been measured yet")
    return results_file.figures(f"correlated_{part}")


@pytest.mark.parametrize("kind", ["tied", "full"])
def test_groups_with_correlated_noise_are_found_as_from_the_truth(kind):
    figures = kept("groups")[kind]
    assert figures["tables"] == len(figures["each"]) == 24
    assert figures["at least .98"] >= 0.9


def test_species_of_penguins_are_found_without_being_told_how_many():
    figures = kept("penguins")
    assert min(figures["tied"], figures["full"], figures["auto"]["ari"]) >= 0.95
    assert figures["auto"]["components"] == 3


def test_no_component_of_support2_has_a_mean_beyond_its_column():
    assert all(one["means outside"] == 0 for one in kept("support2").values())


def test_a_pass_costs_few_products_of_the_table_with_itself():
    figures = kept("passes")
    assert figures["sepsis, full, 6 components"]["times"] <= 30
    assert figures["3,000 x 150, factor, q = 4, 1 component"]["times"] <= 15


def test_gaps_of_new_patients_are_filled_better_than_by_regressions():
    figures = kept("sepsis")
    assert figures["one component"]["rmse"] <= 0.782
    assert figures["chosen"]["rmse"] <= 0.777
    assert figures["chosen"]["row likelihood"] >= -28.6
    assert figures["chosen"]["rmse"] < figures["iterative imputer"]["rmse"]
    assert figures["time, of the iterative imputer's"]["chosen"] <= 0.25


def test_no_default_makes_rows_of_real_tables_likelier_than_auto():
    for table in kept("defaults").values():
        others = [one["row likelihood"] for name, one in table.items() if name != "auto"]
        assert table["auto"]["row likelihood"] >= max(others)


def test_factors_of_wide_tables_take_memory_that_grows_with_the_columns_and_no_faster():
    peaks = [kept("memory")[f"{d} columns"]["MB at most"] for d in (500, 1000, 2000)]
    assert peaks[2] - peaks[1] <= 2.1 * (peaks[1] - peaks[0])
