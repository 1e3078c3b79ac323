"""Every notebook runs from its top, without a network and without what was run before."""

from __future__ import annotations

import pytest
from optional import optional_import
from pages import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel and its client
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path):
    nbclient, nbformat = optional_import("nbclient"), optional_import("nbformat")
    optional_import("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=where).execute()
    shown = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    assert shown, "a notebook shows something"
    said = [out["text"] for out in shown if out.get("name") == "stderr"]
    assert not [text for text in said if "bioeval: compiling" not in text]


def test_notebooks_are_kept_without_outputs():
    import json

    assert len(NOTEBOOKS) >= 6
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not [cell for cell in cells if cell.get("outputs")], path.name
