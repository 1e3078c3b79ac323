"""Every notebook runs from its top, without a network and without what was run before."""

import json
import re

import pytest
from optional import optional_import
from pages import ROOT, anchors

NOTEBOOKS = sorted(x for x in (ROOT / "docs").rglob("*.ipynb") if "_build" not in x.parts)

#: Labs have gaps, at which they stop.
LABS = sorted((ROOT / "docs" / "course").glob("lab-*.ipynb"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel and its client
@pytest.mark.parametrize(
    "path", [x for x in NOTEBOOKS if x not in LABS], ids=lambda path: path.stem
)
def test_notebooks_run(path, tmp_path):
    nbclient, nbformat = optional_import("nbclient"), optional_import("nbformat")
    optional_import("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=where).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    assert outputs, "a notebook shows something"
    said = [out["text"] for out in outputs if out.get("name") == "stderr"]
    assert not [text for text in said if "bioeval: compiling" not in text]


def cells_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_of_notebooks_have_targets(path):
    cells = [cell for cell in cells_of(path) if cell["cell_type"] == "markdown"]
    text = "".join("".join(cell["source"]) for cell in cells)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        page, _, anchor = link.partition("#")
        target = path.parent / page
        assert link.startswith("https://") or target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), link


def test_notebooks_are_kept_without_outputs():
    assert len(NOTEBOOKS) >= 6
    for path in NOTEBOOKS:
        cells = cells_of(path)
        assert not [cell for cell in cells if cell.get("outputs")], path.name
