"""Pages of the documentation, as tests read them: blocks of code, headings, links.

A page runs from its top in an empty folder. Two comments, which no reader of the page sees, help:

``<!-- first:`` ... ``-->``
    Python that makes what the next blocks take as given: arrays, files.
``<!-- not run: WHY -->``
    The next block is not run, for the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    if not any(part in ("_build", "generated") for part in path.parts)
)

_PIECE = re.compile(
    r"^```\{?(?P<language>[\w-]*)[^\n]*\n(?P<code>.*?)^```$"
    r"|^<!-- first:\n(?P<first>.*?)^-->$"
    r"|^<!-- not run: (?P<reason>[^\n]+) -->$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A block of code of a page, with the line on which it begins."""

    language: str
    code: str
    line: int

    @property
    def commands(self) -> list[tuple[str, str]]:
        """Commands of a shell, each with the output that the page shows (empty: none is shown)."""
        prompt = "" if self.language in ("sh", "bash") else "$ "
        found: list[list[str]] = []
        code = self.code.replace("\\\n", " ")
        for line in code.splitlines():
            if line.startswith(prompt) and (prompt or line.strip()):
                found.append([line.removeprefix(prompt), ""])
            elif found and not prompt:
                continue
            elif found:
                found[-1][1] += line + "\n"
        return [(command, shown) for command, shown in found]


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page that run, in order; hidden ones are Python."""
    text = page.read_text(encoding="utf-8")
    skip = False
    for piece in _PIECE.finditer(text):
        line = text.count("\n", 0, piece.start()) + 1
        if piece["reason"]:
            skip = True
        elif piece["first"] is not None:
            yield Block("python", piece["first"], line)
        else:
            if not skip:
                yield Block(piece["language"], piece["code"], line)
            skip = False


def prose(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """Return what a link to a page may point to: plain anchors, and slugs of headings."""
    text = prose(page)
    found = set(re.findall(r'<a id="([^"]+)"></a>', text))
    seen: dict[str, int] = {}
    for heading in re.findall(r"^#+ +(.+)$", text, re.MULTILINE):
        bare = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", bare.lower()).strip().replace(" ", "-")
        again = seen.get(slug, 0)
        seen[slug] = again + 1
        found.add(f"{slug}-{again}" if again else slug)
    return found
