"""The sections of a page: the document of all results but for its other parts, and its lines."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TypeVar

from bioeval.page.results import COMPARISON, SUMMARIES, PageResults, is_evaluation
from bioeval.results.variables import TASKS as VARIABLES_OF_TASKS
from bioeval.showing.blocks import (
    Block,
    Facts,
    Messages,
    Paragraph,
    Section,
    Table,
)
from bioeval.showing.cells import Label, Picture
from bioeval.showing.frame import RECORDS
from bioeval.showing.images import Images
from bioeval.showing.nodes import Node
from bioeval.showing.show import sections_of
from bioeval.showing.text import Text, say
from bioeval.showing.writers.html import HtmlLines, body
from bioeval.showing.writers.lines import Lines

_Part = TypeVar("_Part")

#: The title of the section of evaluations.
_MEASURES = "Measures"


@dataclass
class PageDocument:
    """The sections of a page as HTML by title, and what leaves them: its other parts."""

    sections: list[dict[str, str]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _said: set[str] = field(default_factory=set)

    @classmethod
    def written(cls, results: PageResults, lines: Lines) -> PageDocument:
        """Return the document of the results of a page, a section for each study."""
        document = cls()
        for title, section in _of_studies(results):
            document._add(title, section, list(document._rest(section, lines)), lines)
        for title, section in _of_documents(results):
            document._add(title, section, section.blocks, lines)
        return document

    def _add(self, title: Text, section: Section, blocks: Sequence[Block], lines: Lines) -> None:
        lines = lines.section_lines(section)
        text = body(replace(section, title="", blocks=blocks), lines).replace(
            '<div class="in"><table>', '<div class="in" tabindex="0"><table>'
        )
        if text:
            self.sections.append({"title": lines.write(title), "text": text})

    def _rest(self, section: Section, lines: Lines) -> Iterator[Block]:
        """Collect answers and messages of a section; yield other blocks without earlier notes."""
        lines = lines.section_lines(section)
        for block in section.blocks:
            match block:
                case Messages():
                    sentences = self.alarms if block.alarm else self.notes
                    for about, texts in lines.sentences_about(block.messages).items():
                        sentences += [f"{about}: {x}" if about else x for x in texts]
                case Paragraph(role="answer"):
                    self.answers.append(lines.write(block.text))
                case Paragraph(role="note"):
                    yield from (replace(block, text=x) for x in self._new([block.text]))
                case Table():
                    yield replace(block, notes=self._new(block.notes))
                case Facts():
                    yield replace(block, facts=self._new(block.facts))
                case Section():
                    yield replace(block, blocks=list(self._rest(block, lines)))
                case _:
                    yield block

    def _new(self, parts: Iterable[_Part]) -> list[_Part]:
        new = [x for x in parts if repr(x) not in self._said]
        self._said |= {repr(x) for x in new}
        return new


def _of_studies(results: PageResults) -> Iterator[tuple[Text, Section]]:
    by_title: dict[tuple[str, str], list[Node]] = {}
    for node in results.nodes:
        of_one = node.system if node.result_type in RECORDS else ""
        by_title.setdefault((_title(node), of_one), []).append(node)
    for (title, _), nodes in sorted(by_title.items(), key=lambda x: _place(x[1])):
        heading: Text = title
        if len({node.system for node in nodes}) == 1:
            heading = _of_system(results.systems, nodes[0].system, title)
            nodes = [node._replace(system="") for node in nodes]
        (section,) = sections_of(nodes, "brief")
        yield heading, section


def _of_documents(results: PageResults) -> Iterator[tuple[Text, Section]]:
    for document in results.documents:
        section = document.result._section()
        name = section.title or document.name or section.id.capitalize()
        yield _of_system(results.systems, document.system, name), section


def _of_system(systems: Sequence[str], system: str, title: Text) -> Text:
    if len(systems) == 1 or system not in systems:
        return title
    return say("{title}: {system}", title=title, system=Label(system))


def _title(node: Node) -> str:
    root = node.task.partition("/")[0]
    if root not in VARIABLES_OF_TASKS:
        return root.replace("_", " ").capitalize()
    summaries = (title for dim, title in SUMMARIES.items() if dim in node.dataset.dims)
    return next(summaries, _MEASURES)


def _place(nodes: Sequence[Node]) -> int:
    return (not is_evaluation(nodes[0])) + (nodes[0].result_type != COMPARISON)


#: Pixels along the longer side of pictures that are stored without loss, and how others are.
_SMALL, _JPEG = 64, {"quality": 82}


class PageLines(HtmlLines):
    """Lines of HTML with small pictures of templates."""

    def __init__(self, vocabulary: str, task: str, images: Images):
        super().__init__(vocabulary, task)
        self.images = images

    def picture(self, picture: Picture) -> str:
        """Return a small picture of a template; nothing where its name stands for none."""
        name = picture.source
        if isinstance(name, Mapping):  # names by the column of metadata
            column = self.images.column_of(name)
            if not column:
                return ""
            name = name[column]
        elif not self.images.shows(str(name)):
            return ""
        image = self.images.find(name := str(name))
        if image is None:
            return escape(f"{name}: no image; {self.images.missing[name]}")
        raw = io.BytesIO()
        small = image.mode == "L" and max(image.size) <= _SMALL
        image.save(raw, "PNG" if small else "JPEG", optimize=True, **{} if small else _JPEG)
        data = base64.b64encode(raw.getvalue()).decode("ascii")
        source = f"data:image/{'png' if small else 'jpeg'};base64,{data}"
        return f'<img class="thumb" src="{source}" alt="{escape(name)}">'
