"""Run the lectures of the course; write their slides as HTML and each figure as a PDF.

A browser shows the slides: the arrow keys turn pages, S opens the remarks for the speaker, and
`?print-pdf` behind the address prints. Slides load reveal.js from the network, figures do not.
"""

from __future__ import annotations

import argparse
import base64
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbconvert import SlidesExporter
from nbformat import NotebookNode
from traitlets.config import Config

ROOT = Path(__file__).parents[1]
LECTURES = sorted((ROOT / "docs" / "course").glob("lecture-*.ipynb"))

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
    parser = argparse.ArgumentParser(
        prog="scripts/course",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, default=ROOT / "course-out", metavar="DIR",
                        help="folder of the slides and figures (default: course-out)")  # fmt: skip
    out = parser.parse_args().out
    for path in LECTURES:
        notebook = executed(path)
        figures = write_figures(notebook, out / path.stem)
        slides = write_slides(notebook, out / f"{path.stem}.slides.html")
        print(f"{slides}, and {len(figures)} figures in {out / path.stem}")


def executed(path: Path) -> NotebookNode:
    """Run a notebook in an empty folder; each figure is kept as PNG and as PDF."""
    notebook = nbformat.read(path, as_version=4)
    formats = "--InlineBackend.figure_formats={'png', 'pdf'}"
    with TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            timeout=600,
            extra_arguments=[formats],
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


def write_slides(notebook: NotebookNode, path: Path) -> Path:
    """Write the slides, without warnings; links to other pages are plain text in them."""
    for cell in notebook.cells:
        if "outputs" in cell:
            cell.outputs = [x for x in cell.outputs if x.get("name") != "stderr"]
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", cell.source)
    html, _ = SlidesExporter(config=SLIDES).from_notebook_node(notebook)
    path.write_text(html, encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
