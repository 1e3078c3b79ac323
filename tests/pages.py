"""Pages of the documentation, as tests read them: blocks of code, headings, links.

A page runs from its top in an empty folder. Three comments, which no reader of the page sees, help:

``<!-- first:`` ... ``-->``
    Python that makes what the next blocks take as given: arrays, files.
``<!-- not run: WHY -->``
    The next block is not run, for the reason.
``<!-- numbers: WHENCE -->``
    Numbers do not come from a block above, but from there: up to the next block or heading.
"""

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
        """Commands of a shell with the output that the page shows, which may be empty."""
        prompt = "" if self.language in ("sh", "bash") else "$ "
        listed: list[list[str]] = []
        code = self.code.replace("\\\n", " ")
        for line in code.splitlines():
            if line.startswith(prompt) and (prompt or line.strip()):
                listed.append([line.removeprefix(prompt), ""])
            elif listed and not prompt:
                continue
            elif listed:
                listed[-1][1] += line + "\n"
        return [(command, shown) for command, shown in listed]


def blocks(page: Path, all_of_them: bool = False) -> Iterator[Block]:
    """Yield the blocks of a page that run, or all blocks, in order; hidden blocks are Python."""
    text = page.read_text(encoding="utf-8")
    skip = False
    for piece in _PIECE.finditer(text):
        line = text.count("\n", 0, piece.start()) + 1
        if piece["reason"]:
            skip = True
        elif piece["first"] is not None:
            yield Block("python", piece["first"], line)
        else:
            if all_of_them or not skip:
                yield Block(piece["language"], piece["code"], line)
            skip = False


def prose(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, table or quotation: its first line and its section's, and its bare text.

    Code, links, years and numbers of standards are left out of the text.
    """

    section: int
    line: int
    text: str


def paragraphs(page: Path) -> Iterator[Paragraph]:
    """Yield the paragraphs of a page whose numbers no comment speaks for."""
    end, section, free = "", 0, False  # the end of the fence or comment that the line is in
    lines: list[str] = []
    for number, line in enumerate([*page.read_text(encoding="utf-8").splitlines(), ""], 1):
        opens = next((mark for mark in ("```", "<!--") if line.startswith(mark)), "")
        if not end and not opens and line.strip():
            lines.append(line)
            if line.startswith("#"):
                section, free = number, False
            continue
        if lines and not free and not lines[0].startswith("#"):
            bare = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", "\n".join(lines))
            bare = re.sub(r"ISO/IEC [\d-]+|\b(19|20)\d\d\b", " ", bare)
            yield Paragraph(section, number - len(lines), bare)
        lines = []
        if not end and opens:
            free = line.startswith("<!-- numbers: ")
            end = {"```": "```", "<!--": "-->"}[opens]
            end = "" if end in line[3:] else end
        elif end and line.startswith(end):
            end = ""


def anchors(page: Path) -> set[str]:
    """Return the targets of links to a page: plain anchors, and slugs of headings."""
    text = prose(page)
    names = set(re.findall(r'<a id="([^"]+)"></a>', text))
    uses: dict[str, int] = {}
    for heading in re.findall(r"^#+ +(.+)$", text, re.MULTILINE):
        bare = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", bare.lower()).strip().replace(" ", "-")
        again = uses.get(slug, 0)
        uses[slug] = again + 1
        names.add(f"{slug}-{again}" if again else slug)
    return names
