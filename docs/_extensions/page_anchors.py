"""Links to anchors that pages have as plain HTML: ``<a id="far"></a>``.

A repository shows such anchors and the site's parser knows headings alone; so a link to one is
handed to it as an address. That every link has its target is held by ``tests/docs/test_links.py``.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from sphinx.application import Sphinx

LINK = re.compile(r"\]\((?P<page>[^)#\s:]*)#(?P<anchor>[^)\s]+)\)")
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')


@functools.cache
def anchors_of(page: Path) -> frozenset[str]:
    """Return the plain anchors of a page."""
    return (
        frozenset(ANCHOR.findall(page.read_text(encoding="utf-8")))
        if page.is_file()
        else frozenset()
    )


def rewrite(app: Sphinx, docname: str, source: list[str]) -> None:
    """Write links to plain anchors as addresses."""
    here = Path(app.env.doc2path(docname))
    if here.suffix != ".md":
        return

    def address(link: re.Match[str]) -> str:
        page, anchor = link["page"], link["anchor"]
        target = (here.parent / page) if page else here
        if target.suffix != ".md" or anchor not in anchors_of(target.resolve()):
            return link[0]
        return f"](page:{page.removesuffix('.md')}#{anchor})" if page else f"](here:#{anchor})"

    source[0] = LINK.sub(address, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", rewrite)
    return {"parallel_read_safe": True}
