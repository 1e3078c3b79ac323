"""A page of the site for each public name, and links to them from the tables of ``api.md``."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from sphinx.application import Sphinx

#: The modules whose names are public.
PUBLIC = ("bioeval", "bioeval.plot", "bioeval.partition", "bioeval.stats")


def names(of_module: str) -> list[tuple[str, str]]:
    """Return the public names of a module in full, each with its kind: function or class."""
    module = importlib.import_module(of_module)
    found = []
    for name in sorted(module.__all__, key=str.lower):
        thing = getattr(module, name)
        if isinstance(thing, type) or callable(thing):
            kind = "class" if isinstance(thing, type) else "function"
            found.append((f"{of_module}.{name}", kind))
    return found


def write_pages(app: Sphinx) -> None:
    """Write the page of each public name (autosummary reads sources, where no lazy name is)."""
    folder = Path(app.confdir) / "generated"
    folder.mkdir(exist_ok=True)
    for module in PUBLIC:
        for name, kind in names(module):
            title = name.replace("bioeval.", "be.", 1)
            page = [title, "=" * len(title), "", f".. auto{kind}:: {name}", ""]
            _write_if_new(folder / f"{name}.rst", "\n".join(page))


def _write_if_new(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def link(app: Sphinx, docname: str, source: list[str]) -> None:
    """Link the names in the tables of ``api.md`` to their pages, which the site lists under it."""
    if docname == "docs/api":
        page = r"| [`be.\1`](generated/bioeval.\1.rst) "
        text = re.sub(r"^\| `be\.([\w.]+)` ", page, source[0], flags=re.MULTILINE)
        source[0] = f"{text}\n```{{toctree}}\n:hidden:\n:glob:\n\ngenerated/*\n```\n"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.connect("source-read", link)
    return {"parallel_read_safe": True}
