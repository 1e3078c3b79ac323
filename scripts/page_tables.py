"""Writes the tables of the documentation that the code has: formats, and the fields of cards.

Run ``.venv/bin/python scripts/page_tables.py`` after a change of them; tests compare the
pages with the tables.
"""

from __future__ import annotations

import re
from pathlib import Path

from card_reference import reference

from bioeval.scores.formats import registry
from bioeval.scores.formats.options import ARRAYS, FLAGS

DOCS = Path(__file__).resolve().parents[1] / "docs"


def formats_held() -> list[str]:
    """Return the rows of what each format holds, and of the options that it has."""
    rows = []
    first: dict[tuple[str, ...], str] = {ARRAYS: "those of arrays"}
    for form in registry.FORMATS:
        flags = ", ".join(f"`{flag}`" for flag in dict.fromkeys(FLAGS[x] for x in form.options))
        options = first.get(form.options, flags)
        first.setdefault(form.options, f"as {form.name}")
        rows.append(f"| {form.name} | {form.holds} | {form.written or 'no'} | {options} |")
    return rows


def formats_recognised() -> list[str]:
    """Return the rows of how each format is recognised, and of what it cannot hold."""
    return [
        f"| {form.name} | {form.recognised_by} | "
        f"{form.cannot_hold or '-' if form.written else '(only read)'} |"
        for form in registry.FORMATS
    ]


def written(path: Path, pattern: str, text: str) -> None:
    """Put a text in the place of the group ``here`` of a pattern in a page."""
    page = path.read_text(encoding="utf-8")
    found = re.search(pattern, page)
    if found is None:
        raise SystemExit(f"{path}: the place of a table is not found: {pattern}")
    path.write_text(page[: found.start("here")] + text + page[found.end("here") :], "utf-8")


def main() -> None:
    """Write the tables."""
    rows = r".*\n\|[-|]+\n(?P<here>(\|.*\n)+)"
    held, recognised = formats_held(), formats_recognised()
    written(DOCS / "formats.md", rf"\| format \| holds{rows}", "\n".join([*held, ""]))
    written(DOCS / "formats.md", rf"\| format \| recognised{rows}", "\n".join([*recognised, ""]))
    fields = r"(?P<here>### Above the first section\n[\s\S]*?\n)(?=\n*## |\Z)"
    written(DOCS / "protocol-cards.md", fields, reference())


if __name__ == "__main__":
    main()
