"""Pages of reports as tests read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

import bioeval as be

EVIL = '</script><img src=x onerror="window.evil=1"><b>'


class Elements(HTMLParser):
    """The elements of a page with data attributes, and the tags that it has."""

    def __init__(self, text: str):
        super().__init__()
        self.numbers: list[dict[str, str]] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = {key: value or "" for key, value in attrs}
        self.tags.append((tag, given))
        if "data-variable" in given:
            self.numbers.append({k.removeprefix("data-"): v for k, v in given.items()})


def written(results, tmp_path, **options) -> tuple[str, Elements]:
    text = be.report(results, tmp_path / "page.html", **options).read_text(encoding="utf-8")
    return text, Elements(text)


@dataclass
class Sentence:
    """A sentence of a page."""

    system: str
    text: str = ""
    rest: str = ""  # the text without its numbers
    numbers: list[dict[str, str]] = field(default_factory=list)  # data attributes, and the text


class Answer(HTMLParser):
    """The sentences of a page, and the rows of its table of systems."""

    def __init__(self, text: str):
        super().__init__()
        self.sentences: list[Sentence] = []
        self.rows: list[Sentence] = []
        self._inside, self._system, self._open = False, "", ""
        self._read = False  # in sentences of the answer, or in its table
        self._number: dict[str, str] | None = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = {key.removeprefix("data-"): value or "" for key, value in attrs}
        if tag == "section":
            self._inside = given.get("id") == "answer"
        if not self._inside:
            return
        if tag == "div":
            self._read = given.get("class") == "answer"
        if tag == "h2":
            self._open, self._system = tag, ""
        elif (tag == "p" and self._read) or tag == "tr":
            self._open = tag
            self._found.append(Sentence(self._system))
        elif "value" in given and self._open in ("p", "tr"):
            self._number = {**given, "text": ""}
            self._found[-1].numbers.append(self._number)

    @property
    def _found(self) -> list[Sentence]:
        return self.rows if self._open == "tr" else self.sentences

    def handle_endtag(self, tag):
        if tag in ("h2", "p", "tr"):
            self._open = ""
        elif tag == "section":
            self._inside = False
        elif tag == "span":
            self._number = None

    def handle_data(self, data):
        if self._open == "h2":
            self._system += data
        elif self._open in ("p", "tr"):
            sentence = self._found[-1]
            sentence.text += data
            if self._number is None:
                sentence.rest += data
            else:
                self._number["text"] += data
