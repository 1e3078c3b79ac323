"""Explained rows on a page: the list, what each entry adds, escaping, the commands."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
from report_text import EVIL, Elements, written

import bioeval as be
from bioeval.base.errors import DataError
from bioeval.cli.program import main


@pytest.fixture(scope="module")
def scores():
    return be.simulate(16, 3, random_state=2)


def tables(text: str) -> dict[str, list[list[str]]]:
    """The tables of rows of a page by name: their cells as text, heads first, numbers as digits."""
    found = {}
    for name, body in re.findall(r'data-name="(row-[^"]*)">(.*?)</table>', text, re.S):
        rows = re.findall(r"<tr>(.*?)</tr>", body, re.S)
        cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
        found[name] = [[_text(cell) for cell in row] for row in cells]
    return found


def _text(cell: str) -> str:
    digits = re.search(r'data-value="([^"]*)"', cell)
    return digits[1] if digits else html.unescape(re.sub(r"<[^>]*>", "", cell))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.cases(1)
def test_a_row_is_the_ordered_list_of_its_probe(kind, tmp_path):
    """Against the definition: sorted by nearness, counted by the threshold."""
    rng = np.random.default_rng(4)
    values, labels, probe = rng.random((12, 12)), np.repeat([*"abcd"], 3), 5
    given = be.Scores(values, labels, kind=kind)
    limit = float(np.median(values[probe]))
    text, page = written(be.explain(given, probe, threshold=limit), tmp_path)
    heads, *rows = tables(text)["row-1-templates"]
    sign = 1 if kind == "distance" else -1
    order = [j for j in np.argsort(sign * values[probe]) if j != probe]
    rows = [row for row in rows if row[0]]  # without the line of the threshold
    assert len(rows) == 11
    for place, (column, row) in enumerate(zip(order, rows, strict=True), start=1):
        cells = dict(zip(heads, row, strict=True))
        own = labels[column] == labels[probe]
        accepted = sign * values[probe, column] <= sign * limit
        assert (cells["place"], cells["template"]) == (str(place), str(column))
        assert cells["subject"] == labels[column]
        assert float(cells[kind]) == values[probe, column]
        assert cells["role"] == ("genuine" if own else "impostor")
        counter = ("GA" if accepted else "FR") if own else ("FA" if accepted else "GR")
        assert cells["verification"] == counter
    assert "the probe itself" in text
    assert "<title>Probe 5 (subject b) - bioeval report</title>" in text


@pytest.mark.slow
def test_rows_are_shown_beside_results(scores, tmp_path):
    tree = be.evaluate(scores)
    rows = {"one": be.explain(scores, 1), EVIL: be.explain(scores, 2)}
    text, page = written({"s": tree, "rows": rows}, tmp_path)
    assert {number["system"] for number in page.numbers} == {"s"}
    ids = [attrs["id"] for tag, attrs in page.tags if tag == "section" and "id" in attrs]
    assert {"task-verification", "row-1", "row-2"} <= set(ids) and len({*ids}) == len(ids)
    links = {attrs.get("href") for tag, attrs in page.tags if tag == "a"}
    assert {"#row-1", "#row-2"} <= links
    assert "The threshold control of the page does not move these numbers." in text


@pytest.mark.slow
def test_names_in_a_row_are_never_markup(scores, tmp_path):
    labels = [f"{EVIL}{x}" for x in scores.probe_labels]
    named = be.Scores(np.asarray(scores.values), labels, name=EVIL)
    text, page = written(be.explain(named, 1, protocol="auto"), tmp_path)
    assert text.count("</script>") == 3
    assert not any("onerror" in attrs for _, attrs in page.tags)
    assert EVIL in " ".join(cell for row in tables(text)["row-1-templates"] for cell in row)


def test_nothing_at_all_is_refused(tmp_path):
    with pytest.raises(DataError, match="no dataset"):
        be.report({}, tmp_path / "x.html")


@pytest.mark.slow
def test_commands_show_rows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    be.save(be.simulate(16, 3, random_state=2), "s.npz")
    assert main(["explain", "s.npz", "--probe", "2", "--report", "row.html"]) == 0
    text = (tmp_path / "row.html").read_text()
    assert "bioeval explain s.npz --probe 2" in text and "row-1-templates" in tables(text)
    assert main(["explain", "s.npz", "--probe", "2", "--report", "row.html"]) == 2
    assert main(["explain", "s.npz", "--step-by-step", "--report", "all.html"]) == 0
    options = ["--interval", "none", "--folds", "0"]
    many = [*options, "--explain", "2", "--explain", "4", "--out", "r.html"]
    assert main(["report", "s.npz", *many]) == 0
    page = Elements((tmp_path / "r.html").read_text())
    assert {"row-1", "row-2"} <= {attrs.get("id") for _, attrs in page.tags}
    assert main(["report", "s.npz", *options, "--explain", "99", "--out", "x.html"]) == 2
    assert main(["report", "s.nc", "--explain", "0", "--out", "x.html"]) == 2
    assert "--explain needs scores" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()
