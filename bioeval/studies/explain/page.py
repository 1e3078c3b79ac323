"""Explained rows on a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bioeval.base import printable
from bioeval.document import Text
from bioeval.studies.explain.plots import RowWalkDisplay
from bioeval.studies.explain.results import RowExplanation
from bioeval.studies.explain.shown_lists import (
    ShownList,
    about,
    adds,
    legend,
    lists_of,
    notes,
    noun,
    templates_of,
    title_of,
    why,
)
from bioeval.views import Images, Thumbnail, pictures_of_templates, written

#: Entries of a list that is also there as a whole, at most.
MOST_ENTRIES = 400


def row_section(explained: RowExplanation, images: Images) -> dict[str, Any]:
    """Return the section of an explained row."""
    pictures = pictures_of_templates(images, templates_of(explained))
    rows = []
    for task in explained.tasks:
        rows.append([task.title, _plain(adds(task)), _plain(why(task))])
    adding = {
        "name": "adds",
        "caption": "What this row adds to the counters",
        "heads": ["Task", "Adds", "Why"],
        "rows": rows,
    }
    return {
        "title": explained.title,
        "system": explained.system,
        "protocol": explained.protocol,
        "name": f"row-{explained.probe}",
        "image": pictures.get(explained.name),
        "lines": [(name, _plain(text)) for name, text in about(explained) if text],
        "tables": [*_lists(explained, pictures), adding],
        "notes": list(map(_plain, (*notes(explained), *legend([explained])))),
        "plot": "row_walk",
        "display": RowWalkDisplay.from_results(explained),
    }


def _plain(text: Text) -> str:
    """Return a text in the words of the lecture."""
    return written(text, "verification")


def _lists(
    explained: RowExplanation, pictures: Mapping[str, Thumbnail]
) -> Iterator[dict[str, Any]]:
    """Yield the lists as shown in text and picture, and the full lists of those shortened."""
    pairs = zip(lists_of(explained), lists_of(explained, shorten=False), strict=True)
    for k, (shown, whole) in enumerate(pairs, start=1):
        shortened = len(shown.single) < len(shown.lines)
        note = ["Decisive entries are shown; the others are counted."] if shortened else []
        table = _list(shown, explained, f"list-{k}", note)
        if pictures:
            table["heads"].insert(1, "Image")
            for row, line in zip(table["rows"], shown.lines, strict=True):
                row.insert(1, pictures.get(line.template, ""))
        yield {**table, "folds": False}
        if shortened and len(whole.lines) <= MOST_ENTRIES:
            table = _list(whole, explained, f"list-{k}-whole", [])
            yield {**table, "caption": f"{table['caption']}, every entry"}


def _list(
    shown: ShownList, explained: RowExplanation, name: str, note: list[str]
) -> dict[str, Any]:
    """Return a list with places, roles, the counters of each entry by task, and reasons."""
    template_head = "Template" if shown.unit == "template" else "By template"
    rows = []
    for line in shown.lines:
        accepted = {None: "", True: "yes", False: "no"}[line.accepted]
        place = {"text": "..." if line.place is None else str(line.place), "right": True}
        template = printable(line.template) if line.number == 1 else f"{line.number:,} more"
        score = "" if line.score is None else line.score
        row = [place, template, printable(line.subject), score, line.role_text, accepted]
        rows.append([*row, *map(_plain, (*line.cells, line.reason))])
    remarks = [*note, *(f"{_plain(text)}." for text in shown.left_out)]
    if shown.conditional:
        remarks.append("a | b: a if accepted, b if rejected.")
    score_head = noun(explained.kind).capitalize()
    counters = [f"{head[0].upper()}{head[1:]}" for head in shown.heads]
    heads = ["Place", template_head, "Subject", score_head, "Role", "Accepted", *counters, "Reason"]
    caption = title_of(shown)
    return {
        "name": name,
        "caption": caption,
        "heads": heads,
        "rows": rows,
        "note": " ".join(remarks),
    }
