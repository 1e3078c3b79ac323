"""Run the lectures and labs of the course, and write what a teacher shows: see scripts/course."""

from __future__ import annotations

import argparse
import base64
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from labs import COURSE, filled
from nbclient import NotebookClient
from nbconvert import SlidesExporter
from nbformat import NotebookNode
from traitlets.config import Config

ROOT = Path(__file__).parents[1]
PARTS = [path.stem for path in sorted(COURSE.glob("*.ipynb"))]

#: Code that draws by hand is hidden; a slide that is higher than the screen scrolls.
SLIDES = Config(
    TagRemovePreprocessor={"enabled": True, "remove_input_tags": {"hide-input"}},
    SlidesExporter={
        "reveal_width": "1150",
        "reveal_height": "820",
        "reveal_scroll": True,
        "exclude_input_prompt": True,
        "exclude_output_prompt": True,
    },
)


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
            notebook = executed(lecture, "png", "pdf")
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
    notebook = for_other_folders(notebook)
    html, _ = SlidesExporter(config=SLIDES).from_notebook_node(notebook)
    path.write_text(html, encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
