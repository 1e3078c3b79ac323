"""Lectures are slides with remarks for the speaker, and their figures become PDFs."""

import importlib
import json
import re

import labs
import pytest
from optional import optional_import
from pages import ROOT

LECTURES = sorted((ROOT / "docs" / "course").glob("lecture-*.ipynb"))
SLIDE_TYPES = {"slide", "subslide", "fragment", "notes", "skip"}


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_each_cell_of_a_lecture_has_its_place_in_the_slides(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    types = [cell["metadata"]["slideshow"]["slide_type"] for cell in cells]
    assert types[0] == "slide" and set(types) <= SLIDE_TYPES
    assert types.count("notes") >= 8
    titles = [cell for cell in cells if "".join(cell["source"]).startswith("#")]
    assert all(cell["metadata"]["slideshow"]["slide_type"] == "slide" for cell in titles)
    shown = [c for c in cells if c["cell_type"] == "code"]
    shown = [c for c in shown if "hide-input" not in c["metadata"].get("tags", ())]
    assert max(len(x.rstrip("\n")) for c in shown for x in c["source"]) <= 88


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_an_answer_by_hand_is_a_fragment_of_its_own(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    asked = [k for k, x in enumerate(cells) if "**By hand.**" in "".join(x["source"])]
    assert len(asked) >= 12
    for k in asked:
        answer = cells[k + 1]
        assert answer["id"] == cells[k]["id"] + "-answer"
        assert answer["metadata"]["slideshow"]["slide_type"] == "fragment"


def test_failures_and_the_words_of_iso_have_a_slide():
    slides = {c["id"]: c for x in LECTURES for c in json.loads(x.read_text("utf-8"))["cells"]}
    for slide, words in (("failures", ("FTE", "FTA")), ("iso", ("FNMR", "FMR", "FNIR", "FPIR"))):
        assert slides[slide]["metadata"]["slideshow"]["slide_type"] == "slide"
        assert all(x in "".join(slides[slide]["source"]) for x in words)


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_cells_that_assert_are_hidden(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and re.search(r"^assert ", source, re.MULTILINE):
            assert cell["metadata"]["tags"] == ["remove-cell"], cell["id"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel and its client
def test_slides_and_figures_are_written(tmp_path):
    nbformat = optional_import("nbformat")
    for name in ("nbclient", "nbconvert", "ipykernel"):
        optional_import(name)
    course = importlib.import_module("course")
    new = nbformat.v4
    cells = [
        new.new_markdown_cell("# A lecture on [faces](faces.md)"),
        new.new_code_cell("import matplotlib.pyplot as plt\nplt.plot([1, 2]);", id="line"),
        new.new_code_cell("print(6 * 7)", metadata={"tags": ["hide-input"]}),
        new.new_markdown_cell("Ask first."),
    ]
    for cell, place in zip(cells, ("slide", "fragment", "fragment", "notes"), strict=True):
        cell.metadata["slideshow"] = {"slide_type": place}
    notebook = course.executed(new.new_notebook(cells=cells), "png", "pdf")
    (figure,) = course.write_figures(notebook, tmp_path / "figures")
    assert figure.name == "line.pdf" and figure.read_bytes().startswith(b"%PDF")
    html = course.write_slides(notebook, tmp_path / "slides.html").read_text(encoding="utf-8")
    assert "A lecture on faces" in html and "data:image/png" in html and "42" in html
    assert "6 * 7" not in html and re.search(
        r'<aside class="notes">\s*.*Ask first', html, re.DOTALL
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel and its client
@pytest.mark.parametrize(("lab", "checks"), [("lab-1", 9), ("lab-2", 7)])
def test_solved_labs_are_written(lab, checks, tmp_path):
    for name in ("nbformat", "nbclient", "nbconvert", "ipykernel"):
        optional_import(name)
    course = importlib.import_module("course")
    path = course.write_solved_lab(lab, tmp_path / "solved.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    printed = "".join("".join(x["text"]) for x in outputs if x["output_type"] == "stream")
    assert printed.count("ok") == checks and "](" not in str(cells)


def test_a_lab_with_more_gaps_than_solutions_is_refused(monkeypatch):
    monkeypatch.setattr(labs, "solutions", lambda lab: ["by_hand = {}"])
    with pytest.raises(ValueError, match="lab-1 has 10 gaps, and 1 solutions"):
        labs.filled("lab-1")
