"""Pages of reports as tests read them."""

from __future__ import annotations

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
