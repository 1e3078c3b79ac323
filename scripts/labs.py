"""Fill the gaps of a lab with the solutions on the page for teachers."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

COURSE = Path(__file__).parents[1] / "docs" / "course"

#: A gap is a group of lines with dots.
GAP = re.compile(r"(?:^.*\.\.\..*\n?)+", re.MULTILINE)


def solutions(lab: str) -> list[str]:
    """Return the code that fills each gap of a lab, such as "lab-1", in order."""
    page = (COURSE / "teacher" / "lab-solutions.md").read_text(encoding="utf-8")
    title = lab.replace("-", " ").capitalize()
    section = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^```\{code-block\} python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def filled(lab: str, first: int | None = None) -> dict[str, Any]:
    """Return the notebook of a lab with all gaps filled, or only the `first` ones.

    Raises
    ------
    ValueError
        If the lab has more or fewer gaps than solutions.
    """
    notebook = json.loads((COURSE / f"{lab}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    cells = [x for x in notebook["cells"] if "gap" in x["metadata"].get("tags", ())]
    gaps = sum(len(GAP.findall(cell["source"])) for cell in cells)
    codes = solutions(lab)
    if gaps != len(codes):
        raise ValueError(f"{lab} has {gaps} gaps, and {len(codes)} solutions")
    remaining = iter(codes[:first])

    def fill(gap: re.Match[str]) -> str:
        code = next(remaining, None)
        indentation = re.match(" *", gap[0])[0]
        return gap[0] if code is None else textwrap.indent(code, indentation)

    for cell in cells:
        cell["source"] = GAP.sub(fill, cell["source"]).rstrip("\n")
    return notebook
