"""What is said of a file that a site sends: what it holds, and what it discloses about people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bioeval.document import Column, Label, Paragraph, Section, Table, say

if TYPE_CHECKING:
    from bioeval.studies.sites.gallery_parts import BestMates
    from bioeval.studies.sites.protocol_tally import Tally


@dataclass(frozen=True)
class SiteFile:
    """A file that was written, with its contents."""

    place: Path | None
    contents: Tally | BestMates


def section(file: SiteFile) -> Section:
    """Return what a file holds, and what it discloses."""
    disclosures = file.contents.disclosures()
    of_all = "all tasks" if any(tasks for tasks, _ in disclosures) else ""
    rows = [(Label(tasks) if tasks else of_all, text) for tasks, text in disclosures]
    return Section(
        "site-file",
        "",
        (
            Paragraph(
                say(
                    "wrote {file}: {contents}",
                    file=Label(file.place),
                    contents=Label(repr(file.contents).strip("<>")),
                )
            ),
            Table(
                "discloses",
                (Column("tasks", grouped=True), Column("discloses")),
                rows,
                title="It holds no template and no name. It discloses:",
            ),
        ),
    )
