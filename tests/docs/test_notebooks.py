"""Every notebook runs from its top, without a network and without what was run before."""

import json

import pytest
from optional import optional_import
from pages import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))

#: The lab has gaps, at which it stops; its solution runs.
LAB, SOLUTION = (ROOT / "docs" / "notebooks" / f"{name}.ipynb" for name in ("lab", "lab-solution"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel and its client
@pytest.mark.parametrize("path", [x for x in NOTEBOOKS if x != LAB], ids=lambda path: path.stem)
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


def cells_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def test_the_lab_is_its_solution_with_gaps():
    lab, solution = cells_of(LAB), cells_of(SOLUTION)
    assert len(lab) == len(solution)
    gaps = 0
    for k, (cell, solved) in enumerate(zip(lab, solution, strict=True)):
        assert cell["metadata"] == solved["metadata"]
        if cell["metadata"].get("tags") == ["gap"]:
            gaps += 1
            assert "..." in "".join(cell["source"])
            assert "..." not in "".join(solved["source"])
            check = "".join(lab[k + 1]["source"])
            assert "assert " in check or "gap" in lab[k + 1]["metadata"].get("tags", ())
        elif k > 0:  # the first one tells which of the two it is
            assert cell["source"] == solved["source"]
    assert gaps >= 8


def test_notebooks_are_kept_without_outputs():
    assert len(NOTEBOOKS) >= 6
    for path in NOTEBOOKS:
        cells = cells_of(path)
        assert not [cell for cell in cells if cell.get("outputs")], path.name
