"""The table of layouts: each list without names of columns is read in one way, or refused."""

import itertools
import re
from pathlib import Path

import pytest
from pages import ROOT

import bioeval as be
from bioeval.scores.formats.layouts import KEYED, LISTS, TRIALS

# Two cells of a column for each letter of a signature; most lines decide.
CELLS = {
    "w": ("target", "nontarget"),
    "b": ("1", "0"),
    "i": ("17", "23"),
    "f": ("0.25", "1.5"),
    "t": ("id1/a", "id2/b"),
}


def ways(signature, table):
    """The roles that the rows of a table give to the columns of a signature."""
    found = [re.fullmatch(row.pattern, signature) for row in table]
    return [{role: match.start(role) for role in match.groupdict()} for match in found if match]


def written(folder, signature):
    """A list with this signature, whose cells of text differ from column to column."""
    rows = zip(*([f"{x}{i}" if letter == "t" else x for x in CELLS[letter]]
                 for i, letter in enumerate(signature)), strict=True)  # fmt: skip
    path = folder / "x.txt"
    path.write_text("".join(" ".join(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
def test_every_signature_is_read_in_one_way_or_refused(tmp_path, width):
    """Where two rows of the table fit, the file is refused, with the question that decides."""
    signatures = ["".join(letters) for letters in itertools.product(CELLS, repeat=width)]
    several = []
    for signature in signatures:
        several += [signature] * (len({tuple(x.items()) for x in ways(signature, LISTS)}) > 1)
    assert len(several) == {1: 0, 2: 0, 3: 0, 4: 14, 5: 34}[width]
    for signature in several:
        with pytest.raises(be.DataError, match="names of the columns in a first line"):
            be.load(written(tmp_path, signature), kind="similarity")


@pytest.mark.parametrize("width", [1, 2, 3])
def test_every_short_signature_has_the_roles_of_its_row(tmp_path, width):
    """Read without an argument, and with one that says whose the names are."""
    for letters in itertools.product(CELLS, repeat=width):
        signature = "".join(letters)
        path = written(tmp_path, signature)
        for options, table in (
            ({}, [*LISTS, *KEYED]),
            ({"subject_from": "^(.)"}, [*KEYED, *LISTS]),
        ):
            found = ways(signature, table)
            try:
                scores = be.load(path, kind="similarity", **options)
            except be.DataError as error:
                assert str(error).count(";") >= 1, signature  # what was found, and what to do
                continue
            column = CELLS[signature[found[0]["score"]]]
            assert scores.values.tolist() == [float(x) for x in column], signature


@pytest.mark.parametrize("row", [*LISTS, *KEYED], ids=lambda row: row.example)
def test_examples_are_of_their_row(tmp_path, row):
    """The first row that fits an example is its own."""
    letters = {"target": "w", "1": "b", "7": "i", "0.7": "f"}
    signature = "".join(letters.get(cell, "t") for cell in row.example.split())
    table = LISTS if row in LISTS else KEYED
    assert next(x for x in table if re.fullmatch(x.pattern, signature)) is row
    assert "score" in re.fullmatch(row.pattern, signature).groupdict()


def test_the_page_has_the_table():
    """`docs/formats.md` has a line of each row, as it is written here."""
    lines = ["| line | meaning | seen in |", "|---|---|---|"]
    rows = [x for x in (*LISTS, *KEYED, *TRIALS) if x.meaning]
    lines += [f"| `{x.example}` | {x.meaning} | {x.source} |" for x in rows]
    page = Path(ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert "\n".join(lines) in page, "the table is now:\n" + "\n".join(lines)


@pytest.mark.parametrize("name", ["0001", "1e5", "NA", "007", "1.0"])
def test_names_stay_the_text_that_they_are(tmp_path, name):
    (tmp_path / "x.csv").write_text(
        f"similarity,genuine,template_a,template_b\n0.5,1,{name},2\n0.1,0,{name},3\n"
    )
    read = be.load(tmp_path / "x.csv")
    assert read.pair_templates.tolist() == [[name, "2"], [name, "3"]]
