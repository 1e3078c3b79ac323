"""Explained rows of scores on a page: their ordered lists, what they add, and the picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from bioeval.base.errors import printable
from bioeval.results.row_walk import RowWalk
from bioeval.views.page import words
from bioeval.views.page.cells import Table, Text
from bioeval.views.page.pictures import as_address
from bioeval.views.plots.row_walk import RowWalkDisplay
from bioeval.views.row_lists import ShownList, lists_of
from bioeval.views.tables.row_walk import about, adds, legend, notes, noun, title_of, why

#: Entries of a list that is also there as a whole, at most.
MOST_ENTRIES = 400


def apart(results: Any) -> tuple[Any, list[RowWalk]]:
    """Return results without the explained rows among them (None if nothing is left), and these."""
    if isinstance(results, RowWalk):
        return None, [results]
    if not isinstance(results, Mapping) or isinstance(results, xr.Dataset | xr.DataTree):
        return results, []
    others, walks = {}, []
    for key, one in results.items():
        rest, found = apart(one)
        walks += found
        if rest is not None:
            others[key] = rest
    return (others if others or not walks else None), walks


def row_section(walk: RowWalk, number: int, walks: list[RowWalk]) -> dict[str, Any]:
    """Return the section of an explained row, the one of this number of all rows of the page."""
    of = f" of {walk.system}" if len({one.system for one in walks}) > 1 else ""
    title = printable(f"{walk.title}{of}")
    file = f"row-{walk.probe}-{number}"
    tables = list(_lists(walk, f"{file}-list"))
    body = [[task.title, adds(task), why(task)] for task in walk.tasks]
    heads = ["Task", "Adds", "Why"]
    tables.append(Table(f"{file}-adds", "What this row adds to the counters", heads, body))
    figure = Figure(layout="constrained")
    RowWalkDisplay.from_results(walk).plot(figure)
    source, _ = as_address(figure)
    return {
        "id": f"row-{number}",
        "title": title,
        "lines": [(name.capitalize(), printable(text)) for name, text in about(walk)],
        "tables": [table.trimmed() for table in tables],
        "notes": [*notes(walk), *legend([walk])],
        "picture": {
            "plot": "row_walk", "title": f"{title} as a picture", "file": file, "source": source,
            "wide": True,
        },
    }  # fmt: skip


def _lists(walk: RowWalk, name: str) -> Iterator[Table]:
    """Yield the lists as text and picture have them, and the whole ones of those shortened."""
    for k, (shown, whole) in enumerate(
        zip(lists_of(walk), lists_of(walk, shorten=False), strict=True), start=1
    ):
        shortened = any(line.number > 1 for line in shown.lines)
        note = ["What decides is shown, the rest is counted."] if shortened else []
        yield replace(_list(shown, walk, f"{name}-{k}", note), folds=False)
        if shortened and len(whole.lines) <= MOST_ENTRIES:
            table = _list(whole, walk, f"{name}-{k}-whole", [])
            yield replace(table, caption=f"{table.caption}, every entry")


def _list(shown: ShownList, walk: RowWalk, name: str, note: list[str]) -> Table:
    """Return a list with places, roles, what each entry adds under each task, and why."""
    what = "Template" if shown.unit == "template" else "By template"
    body: list[list[Any]] = []
    for line in shown.lines:
        score: Any = ""
        if line.score is not None:
            score = Text(words.score(line.score), right=True, digits=words.digits(line.score))
        accepted = {None: "", True: "yes", False: "no"}[line.accepted]
        place = Text(line.place, right=True)
        names = line.template, line.subject
        body.append([place, *names, score, line.role_text, accepted, *line.cells, line.reason])
    said = [*note, *(f"{text}." for text in shown.left_out)]
    if shown.conditional:
        said.append("a | b: a if accepted, b if rejected.")
    score_head = noun(walk.kind).capitalize()
    heads = ["Place", what, "Subject", score_head, "Role", "Accepted", *shown.heads, "Reason"]
    heads[6:-1] = [f"{head[0].upper()}{head[1:]}" for head in heads[6:-1]]
    return Table(name, title_of(shown), heads, body, " ".join(said))
