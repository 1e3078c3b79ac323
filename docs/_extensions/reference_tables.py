"""Directives of the site: tables of result variables, of public names, of commands.

The tables are read from the package when the site is built, so that none can grow old.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx

#: The modules whose names are public.
PUBLIC = ("bioeval", "bioeval.plot", "bioeval.partition", "bioeval.stats")


class ResultVariables(Directive):
    """Table of the variables of one kind of result: ``.. result-variables:: results.zoo.ZOO``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module, _, name = self.arguments[0].rpartition(".")
        found = getattr(importlib.import_module(f"bioeval.{module}"), name)
        rows = [
            (nodes.literal(text=name), _text(what.long_name), _text(what.units), _text(what.iso))
            for name, what in found.items()
        ]
        return [
            table(("variable", "what it is", "unit", "ISO/IEC 19795-1"), (22, 52, 10, 16), rows)
        ]


class PublicNames(Directive):
    """Summary and pages of the public names of a module: ``.. public-names:: bioeval.stats``.

    With ``function`` or ``class`` as second argument, those alone.
    """

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        wanted = self.arguments[1] if len(self.arguments) > 1 else ""
        lines = [".. autosummary::", "   :toctree: generated", ""]
        lines += [f"   {name}" for name, kind in names(self.arguments[0]) if wanted in ("", kind)]
        block = nodes.container()
        self.state.nested_parse(StringList(lines, source=self.arguments[0]), 0, block)
        return block.children


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


def _text(text: str) -> nodes.Node:
    return nodes.inline(text=text)


def table(heads: tuple[str, ...], widths: tuple[int, ...], rows: list[tuple]) -> nodes.table:
    """Return a table of the rows, each a tuple of inline nodes."""
    group = nodes.tgroup(cols=len(heads))
    group += [nodes.colspec(colwidth=width) for width in widths]
    head, body = nodes.thead(), nodes.tbody()
    head += _row([_text(text) for text in heads])
    body += [_row(row) for row in rows]
    group += [head, body]
    return nodes.table("", group)


def _row(cells: list[nodes.Node] | tuple[nodes.Node, ...]) -> nodes.row:
    row = nodes.row()
    for cell in cells:
        row += nodes.entry("", nodes.paragraph("", "", cell))
    return row


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.add_directive("result-variables", ResultVariables)
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True}
