"""Lectures are slides with remarks for the speaker, and their figures become PDFs."""

import importlib
import json
import re

import labs
import pytest
from browser import Visit, chromium
from optional import optional_import
from pages import ROOT

from bioeval.plot.plot_axes import LOOKS

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
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    asserts = [x for x in code if re.search(r"^assert ", "".join(x["source"]), re.MULTILINE)]
    assert all(cell["metadata"]["tags"] == ["remove-cell"] for cell in asserts)
    shown = [c for c in code if "hide-input" not in c["metadata"].get("tags", ())]
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


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_letters_of_figures_have_a_35th_of_the_height_of_a_slide(path):
    optional_import("nbconvert")
    scale = importlib.import_module("course").SCALE
    source = path.read_text(encoding="utf-8")
    assert 'be.plot.style(\\"slide\\")' in source
    written = [float(x) for x in re.findall(r"fontsize=([\d.]+)", source)]
    sizes = [LOOKS["slide"].label, LOOKS["slide"].small, *written]
    assert min(sizes) * scale >= 820 / 35
    width = max(float(x) for x in re.findall(r"figsize=\(([\d.]+),", source))
    assert width * 72 * scale <= 1280


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel and its client
def test_slides_and_figures_are_written(tmp_path):
    nbformat = optional_import("nbformat")
    for name in ("nbclient", "nbconvert", "ipykernel"):
        optional_import(name)
    course = importlib.import_module("course")
    new = nbformat.v4
    draw = "import matplotlib.pyplot as plt\nplt.figure(figsize=(6.4, 3))\nplt.plot([1, 2]);"
    cells = [
        ("slide", new.new_markdown_cell("## A lecture on [faces](faces.md)" + 6 * "\n\nText.")),
        ("notes", new.new_markdown_cell("Ask first.")),
        ("fragment", new.new_code_cell(draw, id="line")),
        ("fragment", new.new_code_cell("print(6 * 7)", metadata={"tags": ["hide-input"]})),
        ("subslide", new.new_code_cell("print('A < B')")),
        ("skip", new.new_code_cell("print('not shown')")),
    ]
    for place, cell in cells:
        cell.metadata["slideshow"] = {"slide_type": place}
    notebook = new.new_notebook(cells=[cell for _, cell in cells])
    notebook = course.executed(notebook, "retina", "pdf")
    (figure,) = course.write_figures(notebook, tmp_path / "figures")
    assert figure.name == "line.pdf" and figure.read_bytes().startswith(b"%PDF")
    slides = course.write_slides(notebook, tmp_path / "slides.html")
    with chromium() as browser:
        visit = Visit(browser, slides, viewport={"width": 800, "height": 600})
        page = visit.page
        # The figure is too high to stand below the text: it has a page of its own, with the title.
        pages = page.locator("section").all_text_contents()
        assert len(pages) == 3 and all("A lecture on faces" in x for x in pages[:2])
        assert "42" in pages[1] and "6 * 7" not in pages[1] and "not shown" not in "".join(pages)
        assert page.locator("img").evaluate("x => x.offsetWidth / 1280") > 0.8
        sections = page.locator("section")
        assert sections.evaluate_all("x => x.every(y => y.scrollHeight <= 820)")
        with visit.context.expect_page() as opened:
            page.keyboard.press("s")
        remarks = opened.value
        for number in (1, 2):
            remarks.get_by_text(f"{number} / 3").wait_for()
            assert remarks.get_by_text("Ask first.").is_visible()
            for _ in range(3 - number):  # the code of the figure, the next page; the last fragment
                page.keyboard.press("ArrowRight")
        page.get_by_text("42").wait_for()  # a fragment
        page.keyboard.press("ArrowLeft")
        page.get_by_text("42").wait_for(state="hidden")
        page.keyboard.press("End")
        remarks.get_by_text("3 / 3").wait_for()
        assert not remarks.get_by_text("Ask first.").count()
        assert page.locator("text=A < B").last.is_visible()
        printed = page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 3
        assert not visit.problems
        assert all(x.startswith(("file:", "data:", "about:")) for x in visit.requests)


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
