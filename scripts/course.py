"""Run the lectures and labs of the course, and write what a teacher shows: see scripts/course."""

from __future__ import annotations

import argparse
import base64
import html
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from labs import COURSE, filled
from nbclient import NotebookClient
from nbconvert.filters import Highlight2HTML, markdown2html
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter

ROOT = Path(__file__).parents[1]
PARTS = [path.stem for path in sorted(COURSE.glob("*.ipynb"))]

#: Pixels for a point of a figure: letters of 9 points are at least 1/35 of a slide's 820 pixels.
SCALE = 2.61


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/course", add_help=False)
    parser.add_argument("parts", nargs="*", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--out", type=Path, default=ROOT / "course-out", metavar="DIR")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for part in options.parts:
        print(f"Running {part}; this can take a minute ...", flush=True)
        if part.startswith("lab"):
            print(write_solved_lab(part, options.out / f"{part}-solved.ipynb"))
        else:
            lecture = nbformat.read(COURSE / f"{part}.ipynb", as_version=4)
            notebook = executed(lecture, "retina", "pdf")
            figures = write_figures(notebook, options.out / part)
            slides = write_slides(notebook, options.out / f"{part}.slides.html")
            print(f"{slides}, and {len(figures)} figures in {options.out / part}")


def executed(notebook: NotebookNode, *formats: str) -> NotebookNode:
    """Run a notebook in an empty folder; each figure is kept in the formats."""
    with TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            timeout=600,
            extra_arguments=[
                f"--InlineBackend.figure_formats={set(formats)}",
                "--log-level=ERROR",
            ],
            resources={"metadata": {"path": folder}},
        ).execute()
    return notebook


def write_figures(notebook: NotebookNode, folder: Path) -> list[Path]:
    """Write the figures, named by their cells."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for cell in notebook.cells:
        data = [output.get("data", {}) for output in cell.get("outputs", [])]
        pdfs = [x.pop("application/pdf") for x in data if "application/pdf" in x]
        for k, pdf in enumerate(pdfs, 1):
            written.append(folder / (f"{cell.id}-{k}.pdf" if len(pdfs) > 1 else f"{cell.id}.pdf"))
            written[-1].write_bytes(base64.b64decode(pdf))
    return written


def write_solved_lab(lab: str, path: Path) -> Path:
    notebook = executed(nbformat.from_dict(filled(lab)), "png")
    nbformat.write(for_other_folders(notebook), path)
    return path


def for_other_folders(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook without warnings, and with links to other pages as plain text."""
    for cell in notebook.cells:
        if "outputs" in cell:
            cell.outputs = [x for x in cell.outputs if x.get("name") != "stderr"]
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", cell.source)
    return notebook


def write_slides(notebook: NotebookNode, path: Path) -> Path:
    """Write the slides as one HTML file, `slides.html` with the cells; it loads nothing."""
    slides: list[list[str]] = []
    for cell in for_other_folders(notebook).cells:
        place = cell.metadata["slideshow"]["slide_type"]
        if place in ("slide", "subslide"):
            slides.append([])
        if place == "notes":
            slides[-1].append(f"<aside>{markdown2html(cell.source)}</aside>")
        elif place != "skip":
            fragment = ' class="fragment"' if place == "fragment" else ""
            slides[-1] += [f"<div{fragment}>{x}</div>" for x in blocks_of(cell)]
    sections = "\n".join(f"<section>{''.join(x)}</section>" for x in slides)
    page = (Path(__file__).parent / "slides.html").read_text(encoding="utf-8")
    colours = HtmlFormatter(style="tango").get_style_defs(".highlight")
    for name, text in (("TITLE", path.stem), ("HIGHLIGHT", colours), ("SECTIONS", sections)):
        page = page.replace(name, text, 1)
    path.write_text(page, encoding="utf-8")
    return path


def blocks_of(cell: NotebookNode) -> Iterator[str]:
    """Yield the HTML of a cell: text, or code (drawing by hand is hidden) and its figures."""
    if cell.cell_type == "markdown":
        yield markdown2html(cell.source)
        return
    code = "" if "hide-input" in cell.metadata.get("tags", ()) else Highlight2HTML()(cell.source)
    for output in cell.get("outputs", ()):
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "image/png" not in data:  # stays with its code
            code += data.get("text/html") or f"<pre>{html.escape(data['text/plain'])}</pre>"
            continue
        if code:
            yield code
        code = ""
        size = output.metadata["image/png"]
        width, height = (round(size[x] * SCALE * 72 / 100) for x in ("width", "height"))
        image = f"data:image/png;base64,{data['image/png'].strip()}"
        yield f'<img width="{width}" height="{height}" src="{image}" alt="">'
    if code:
        yield code


if __name__ == "__main__":
    main()
