"""What is kept of several tables is as promised, and a share of it is measured again."""

import pytest

from benchmarks import results_file, tables_agree, two_files


def test_shifts_between_tables_are_told_of_and_taken_out():
    kept = results_file.figures("tables_agree")
    assert kept["tables"] >= 100
    assert kept["told"] >= 0.95
    assert kept["alarm"] <= 0.05
    assert kept["adjusted, of no shift"] <= 1.1


def test_a_pair_of_tables_measured_again():
    found = tables_agree.measured(0)
    assert found["told"] == 1
    assert found["alarm"] == 0
    assert found["adjusted"] < 0.5 * found["shifted"]


def test_the_crossover_of_two_files_is_that_of_one_table():
    kept = results_file.figures("two_files_crossover")
    assert kept["largest difference from one table"] < 1e-6  # of figures with six digits
    errors = [kept[f"{size:,}"]["weighted"] for size in two_files.SIZES]
    assert errors[-1] < 0.5 * errors[0]
    assert kept["1,000"]["full"] < kept["1,000"]["partial"]
    assert kept["1,000,000"]["partial"] < kept["1,000,000"]["full"]


def test_ten_million_rows_of_two_files_stay_out_of_memory():
    kept = results_file.figures("two_files_large")
    assert kept["rows"] == pytest.approx(1e7)
    assert kept["peak memory GB"] < 0.6


def test_two_files_out_of_core_are_measured_again(tmp_path):
    two_files.write_large(tmp_path, 4_000)
    assert two_files.fit_large(tmp_path)["rows"] == 4_000
