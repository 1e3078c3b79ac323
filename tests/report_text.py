"""Pages of reports as tests read them."""

import html
import re
from html.parser import HTMLParser

import bioeval as be

EVIL = '</script><img src=x onerror="window.evil=1"><b>'


class Elements(HTMLParser):
    """The elements of a page, each with its attributes."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, {key: value or "" for key, value in attrs}))


def written(results, tmp_path, **options) -> str:
    return be.report(results, tmp_path / "page.html", **options).read_text(encoding="utf-8")


def plain(markup: str) -> str:
    """The text of markup, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def answer(text: str) -> list[str]:
    """The sentences of the answer of a page."""
    first = text[text.index('<section id="answer"') :].partition("</section>")[0]
    return [plain(x) for x in re.findall(r"<p>(.*?)</p>", first, re.S)]


def rates(text: str) -> list[dict[str, str]]:
    """The rows of the table of the threshold, by the headings."""
    table = re.search(r'<table id="rates">.*?</table>', text, re.S)[0]  # type: ignore[index]
    heads, *rows = (
        [plain(x) for x in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)
    )
    return [dict(zip(heads, row, strict=True)) for row in rows]
