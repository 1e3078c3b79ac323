"""Pages of the site for each public name and command, and for the variables of the results."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import click
from card_reference import reference
from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from variables import variables_page

from bioeval.cli.command import by_heading
from bioeval.cli.lazy_group import COMMANDS, HEADINGS, root

#: The modules whose names are public.
PUBLIC = ("bioeval", "bioeval.plot", "bioeval.partition", "bioeval.stats", "bioeval.datasets")

#: What ``api.md`` ends with on the site.
LISTED = """
## Variables of results

What each variable is, its unit, and its term in ISO/IEC 19795-1:

```{toctree}
generated/variables
```

```{toctree}
:hidden:
:glob:

generated/bioeval.*
```
"""


class Commands(Directive):
    """Commands under the headings of ``bioeval --help``, each with a page: ``.. commands::``."""

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for heading, commands in HEADINGS.items():
            lines += [f".. rubric:: {heading}", ""]
            lines += [f"* :doc:`generated/bioeval-{x}`: {commands[x]}" for x in commands]
            lines += ["", ".. toctree::", "   :hidden:", ""]
            lines += [f"   generated/bioeval-{x}" for x in commands] + [""]
        block = nodes.container()
        self.state.nested_parse(StringList(lines, source="commands"), 0, block)
        return block.children


def command_page(name: str) -> str:
    """Return the page of a command: what it does, examples, options under headings, details."""
    command = root.get_command(_root(), name)
    assert command is not None
    ctx = click.Context(command, info_name=name, parent=_root())
    usage = " ".join(command.collect_usage_pieces(ctx))
    title = f"bioeval {name}"
    lines = [title, "=" * len(title), "", _literals(command.help or ""), ""]
    lines += [
        ".. code-block:: console",
        "",
        f"   $ {title} {usage}",
        "",
        "Examples",
        "--------",
        "",
    ]
    lines += [".. code-block:: bash", "", *(f"   {x}" for x in command.examples), ""]
    options_by_heading = by_heading(command.get_params(ctx), ctx)
    for heading, options in options_by_heading.items():
        lines += [heading, "-" * len(heading), "", ".. list-table::", "   :widths: 30 70", ""]
        for option, text in options:
            lines += [f"   * - ``{option}``", f"     - {_escaped(text)}"]
        lines += [""]
    if command.epilog:
        lines += ["Details", "-------", ""]
        for paragraph in command.epilog.split("\n\n"):
            kept = paragraph.startswith("\b\n")  # lines that stay as they are
            text = paragraph.removeprefix("\b\n").split("\n")
            shown = ["::", "", *(f"   {x}" for x in text)] if kept else [_literals(" ".join(text))]
            lines += [*shown, ""]
    return "\n".join(lines)


def _root() -> click.Context:
    return click.Context(root, info_name="bioeval", **root.context_settings)


def _literals(text: str) -> str:
    return "``".join(
        part if i % 2 else _escaped(part)
        for i, part in enumerate(text.replace("\n", " ").split("`"))
    )


def _escaped(text: str) -> str:
    plain = re.sub(r"([\\*_|`])", r"\\\1", text)
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"``\1``", plain)  # else a dash


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
    pages = {f"bioeval-{name}": command_page(name) for name in COMMANDS}
    for module in PUBLIC:
        for name, kind in names(module):
            title = name.replace("bioeval.", "be.", 1)
            inherited = ["   :inherited-members:"] * (name == "bioeval.Scores")
            page = [title, "=" * len(title), "", f".. auto{kind}:: {name}", *inherited, ""]
            pages[name] = "\n".join(page)
    for name, text in pages.items():
        _write_if_new(folder / f"{name}.rst", text)
    _write_if_new(folder / "variables.md", variables_page())
    for path in folder.glob("bioeval*.rst"):  # of names that are gone
        if path.stem not in pages:
            path.unlink()


def _write_if_new(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def link(app: Sphinx, docname: str, source: list[str]) -> None:
    """Link the names in ``api.md`` to their pages, listed under it; list the fields of a card."""
    if docname == "docs/api":
        pages = {name for module in PUBLIC for name, _ in names(module)}

        def linked(match: re.Match[str]) -> str:
            name = f"bioeval.{match[1]}"
            return f"[{match[0]}](generated/{name}.rst)" if name in pages else match[0]

        def first_cell(match: re.Match[str]) -> str:
            return re.sub(r"`be\.([\w.]+)`", linked, match[0])

        text = re.sub(r"^\| `be\.[^|]*", first_cell, source[0], flags=re.MULTILINE)
        source[0] = f"{text}\n{LISTED}"
    elif docname == "docs/protocol-cards":
        source[0] += f"\n{reference()}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.connect("source-read", link)
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
