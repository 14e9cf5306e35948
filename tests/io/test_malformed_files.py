"""Files as people have them: each is read as a person would expect, or refused with a remedy."""

import csv
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest

from halfseen import Files
from halfseen.data.errors import DataError
from halfseen.io.cells.cell_sums import CellSums
from halfseen.io.cells.missing_values import MissingCodes
from halfseen.io.coded_tables import MemoryColumn
from halfseen.io.formats.csv_dialect import ReadOptions, detect_dialect
from halfseen.io.kind_inference import ColumnEvidence, infer_column
from halfseen.io.open_source import open_source, rows_of

GAP = np.nan
AGES, PULSES = [61.5, 40.0, 39.0, 52.25], [80.0, 72.0, 71.0, 90.0]


@dataclass(frozen=True)
class Odd:
    """A file, and what a person would expect to be read of it."""

    name: str
    content: str | bytes
    columns: dict[str, list[float]]  # of numbers, by name
    told: tuple[str, ...] = ()  # what must be said of it
    given: dict[str, object] = field(default_factory=dict)  # what is said of it to the reader


def cells(line, expected, *told):
    """A column of the four cells of a line, beside the pulse."""
    values = next(csv.reader([line]))
    rows = "".join(f'"{value}",{pulse:g}\n' for value, pulse in zip(values, PULSES, strict=True))
    return Odd("t.csv", "odd,pulse\n" + rows, {"odd": expected, "pulse": PULSES}, told)


TWO = {"age": AGES, "pulse": PULSES}
ROWS = "61.5,80\n40,72\n39,71\n52.25,90\n"
ODD = {
    "a title and an empty line": Odd(
        "t.csv",
        "Ward 3, since 2019\n\nage,pulse\n" + ROWS,
        TWO,
        ("t.csv begins with 2 lines before its table, which were left out.",),
    ),
    "a title that a spreadsheet filled up": Odd(
        "t.csv",
        "Ward 3;;\n;;\nage;pulse;bed\n61,5;80;7\n40;72;1\n39;71;9\n52,25;90;4\n",
        TWO | {"bed": [7, 1, 9, 4]},
        ("t.csv begins with 2 lines before its table, which were left out.",),
    ),
    "comments before and within": Odd(
        "t.csv",
        "# made by hand\nage,pulse\n61.5,80\n# a break, of, a day\n40,72\n39,71\n52.25,90\n",
        TWO,
        ("t.csv begins with 1 line before its table, which was left out.",),
    ),
    "names in a comment, as NumPy writes them": Odd(
        "t.txt", "# age pulse\n61.5 80\n40 72\n39 71\n52.25 90\n", TWO
    ),
    "no names": Odd(
        "t.data",
        "61.5,80,setosa\n40,72,setosa\n39,71,virginica\n52.25,90,setosa\n",
        {"column 1": AGES, "column 2": PULSES},
        ("has no line of names, so columns are called 'column 1' to 'column 3'",),
    ),
    "no names, and gaps in the first row": Odd(
        "t.csv",
        "?,80\n40,72\n39,71\n52.25,90\n",
        {"column 1": [GAP, 40, 39, 52.25], "column 2": PULSES},
        ("has no line of names",),
    ),
    "names that are years": Odd(
        "t.csv", "land,2001,2002\nA,1,2\nB,3,5\nC,5,4\n", {"2001": [1, 3, 5], "2002": [2, 5, 4]}
    ),
    "units below the names": Odd(
        "t.csv",
        "age,pulse\nyears,bpm\n" + ROWS,
        TWO,
        ("t.csv has units or remarks in line 2, which was left out.",),
    ),
    "what R's write.table writes": Odd(
        "t.txt",
        '"age" "pulse"\n"a" 61.5 80\n"b" 40 72\n"c" 39 71\n"d" 52.25 90\n',
        TWO,
    ),
    "cells apart by many spaces": Odd(
        "t.dat",
        '  61.5    80  "a b"\n  40.0    72  "c"\n   39     71  "a b"\n  52.25   90  "c"\n',
        {"column 1": AGES, "column 2": PULSES},
    ),
    "Excel's line that names the delimiter": Odd(
        "t.csv", "sep=;\nage;pulse\n61,5;80\n40;72\n39;71\n52,25;90\n", TWO
    ),
    "tabs, whatever the ending": Odd("t.csv", "age\tpulse\n" + ROWS.replace(",", "\t"), TWO),
    "line ends of old": Odd("t.csv", ("age,pulse\n" + ROWS).replace("\n", "\r"), TWO),
    "line ends of Windows, and none at the end": Odd(
        "t.csv", ("age,pulse\n" + ROWS).replace("\n", "\r\n").strip(), TWO
    ),
    "UTF-16": Odd(
        "t.csv",
        ("größe,pulse\n" + ROWS).encode("utf-16"),
        {"größe": AGES, "pulse": PULSES},
        ("t.csv is not UTF-8 and was read as UTF-16.",),
    ),
    "Latin-1": Odd(
        "t.csv",
        ("größe,pulse\n" + ROWS).encode("latin-1"),
        {"größe": AGES, "pulse": PULSES},
        ("t.csv is not UTF-8 and was read as Windows-1252 (Latin-1).",),
    ),
    "percents": cells("12%,7.5%,30 %,1%", [12, 7.5, 30, 1], "percent signs were left out"),
    "money": cells('"$1,234",$5,-$7.50,12', [1234, 5, -7.5, 12], "$ was left out"),
    "money in euros": cells("5 €,7 €,1 €,9 €", [5, 7, 1, 9], "€ was left out"),
    "losses in parentheses": cells(
        '(432),"(1,200)",5,7', [-432, -1200, 5, 7], "2 values in parentheses were read as negative"
    ),
    "values below a limit": cells(
        "<0.5,3,<0.5,7",
        [0.25, 3, 0.25, 7],
        "2 values given as below a limit (<) were read as half of it",
    ),
    "values above a limit": cells(
        "2,>250,3,7", [2, 250, 3, 7], "1 value given as above a limit (>) was read as the limit"
    ),
    "dashes for gaps": cells("-,1.5,-,2", [GAP, 1.5, GAP, 2], "'-' was read as a gap, in 2 cells"),
    "words for gaps": cells(
        "unknown,1.5,2,Not done",
        [GAP, 1.5, 2, GAP],
        "'unknown' was read as a gap, in 1 cell; 'Not done' was read as a gap, in 1 cell",
    ),
    "errors of spreadsheets": cells("#DIV/0!,1.5,3,2", [GAP, 1.5, 3, 2], "'#DIV/0!' was read as"),
    "question marks": cells("?,1.5,?,2", [GAP, 1.5, GAP, 2], "'?' was read as a gap, in 2 cells"),
    "dots": cells(".,1.5,3,2", [GAP, 1.5, 3, 2], "'.' was read as a gap, in 1 cell"),
    "yes and no": cells("yes,no,,Yes", [1, 0, GAP, 1], "yes was read as 1 and no as 0"),
    "y and n": cells("Y,N,N,Y", [1, 0, 0, 1], "yes was read as 1 and no as 0"),
    "true and false": cells("TRUE,false,,true", [1, 0, GAP, 1]),
    "dots for thousands": cells(
        '"1.234,5",12,"7,25","1.000"', [1234.5, 12, 7.25, 1000], "dots as thousands separators"
    ),
    "spaces for thousands": cells("1 234,12,1 000 000,7", [1234, 12, 1e6, 7]),
    "apostrophes for thousands": cells("1'234,12,1'000'000.5,7", [1234, 12, 1000000.5, 7]),
    "a minus of typographers": cells("−5,3,−1.5,2", [-5, 3, -1.5, 2]),
    "exponents": cells("1e3,2E-1,3,4", [1000, 0.2, 3, 4]),
    "a code of one column": Odd(
        "t.csv",
        "insulin,pulse\n0,0\n94,72\n0,71\n168,0\n",
        {"insulin": [GAP, 94, GAP, 168], "pulse": [0, 72, 71, 0]},
        (),
        {"missing_values": {"insulin": ["0"]}},
    ),
    "a code of one column, in a word": Odd(
        "t.csv",
        "insulin,pulse\nlow,0\n94,72\nlow,71\n168,0\n",
        {"insulin": [GAP, 94, GAP, 168], "pulse": [0, 72, 71, 0]},
        (),
        {"missing_values": ["insulin:low"]},
    ),
    "commas that could be either": Odd(
        "t.csv",
        "age;rate\n61,5;1,234\n40;2,345\n39;5,678\n52,25;0,125\n",
        {"age": AGES, "rate": [1.234, 2.345, 5.678, 0.125]},
        ("'rate': commas in it were read as decimal commas",),
    ),
    **{
        f"dates such as {day}": Odd(
            "t.csv",
            f"day,pulse\n{day},80\n{day},72\n{other},71\n{other},90\n",
            {"pulse": PULSES},
            ("Column 'day' was ignored: it holds dates or times.",),
        )
        for day, other in {
            "2024-01-31": "2024-02-01",
            "31/01/2024": "1/2/2024",
            "31.01.24": "01.02.24",
            "1/31/2024 10:30 PM": "2/1/2024 9:00 AM",
            "31-Jan-2024": "01-Feb-2024",
            "Jan 31 2024": "February 1 2024",
        }.items()
    },
    "names with commas": Odd(
        "t.csv", '"lactate, venous",pulse\n' + ROWS, {"lactate, venous": AGES, "pulse": PULSES}
    ),
}


def read(odd, tmp_path):
    path = tmp_path / odd.name
    path.write_bytes(odd.content if isinstance(odd.content, bytes) else odd.content.encode())
    files = Files(path, **odd.given)
    source = open_source(files)
    rows = rows_of(files, source)
    parts = rows.accumulate(lambda block: [np.where(block.observed, block.values, np.nan)])
    told = [*source.notes, *(str(column.sentence) for column in source.columns if column.sentence)]
    return rows.names, np.concatenate(parts), told


@pytest.mark.parametrize("case", ODD)
def test_odd_files_are_read_as_a_person_would_expect(case, tmp_path):
    odd = ODD[case]
    names, table, told = read(odd, tmp_path)
    assert names == tuple(odd.columns)
    np.testing.assert_allclose(table.T, list(odd.columns.values()), rtol=1e-12)
    for sentence in odd.told:
        assert any(sentence in one for one in told), told


WORDS = {
    "ages as ranges": (["<18", "18-65", ">65"] * 10, ("18-65", "<18", ">65")),
    "incomes of two kinds": (["<=50K", ">50K"] * 10, ("<=50K", ">50K")),
    "nothing but limits": (["<1", ">5"] * 10, ("<1", ">5")),
    "answers": (["yes", "no"] * 10, ("no", "yes")),
    "words for nothing": (["none", "some"] * 10, ("none", "some")),
}


@pytest.mark.parametrize("case", WORDS)
def test_words_stay_categories_whatever_signs_they_have(case):
    words, labels = WORDS[case]
    for cells in (
        MemoryColumn.of(words).sums,
        CellSums.of_text(pa.array(words), MissingCodes()),
    ):
        assert infer_column("x", ColumnEvidence(cells)).labels == labels


def test_a_code_of_a_column_that_is_not_there_is_refused(tmp_path):
    odd = Odd("t.csv", "age,pulse\n" + ROWS, {}, (), {"missing_values": ["puls:0"]})
    with pytest.raises(DataError, match="missing_values names 'puls', which the table does not"):
        read(odd, tmp_path)


REFUSED = {
    "nothing but texts": (
        "t.csv",
        "note\n" + "".join(f"this is text number {i}\n" for i in range(30)),
        "No column of numbers is left in t.csv",
    ),
    "a row that is longer": ("t.csv", "age,pulse\n1,2\n3,4,5\n6,7\n", "as many cells as the first"),
    "nothing at all": ("t.csv", "", "is empty. Give a table with a line of column names"),
    "two columns of one name": ("t.csv", "age,age\n1,2\n3,4\n", "Give each its own name"),
    "a kind that is not known": ("t.docx", "age,pulse\n" + ROWS, "is of no kind that is known"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_with_a_remedy(case, tmp_path):
    name, content, remedy = REFUSED[case]
    with pytest.raises((DataError, ValueError), match=remedy):
        read(Odd(name, content, {}), tmp_path)


def test_a_code_of_one_column_of_an_array_is_a_gap_there_only(tmp_path):
    np.save(tmp_path / "t.npy", np.array([[0.0, 0.0], [1.0, 2.0]]))
    files = Files(tmp_path / "t.npy", missing_values=["1:0"])
    table = next(open_source(files).pieces((0, 1), 5)).table()
    np.testing.assert_array_equal(table, [[0, GAP], [1, 2]])


def test_a_row_of_gaps_among_words_does_not_end_a_title():
    lines = ["sex,colour", "female,red", "male,", ",", "male,green", "male,red"]
    assert detect_dialect(lines, ",", ReadOptions())[2:4] == (0, None)
