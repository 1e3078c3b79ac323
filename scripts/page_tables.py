"""Writes the tables of the pages that the code has: formats, fields of cards, variables, names.

What belongs to a study is between two marks, ``<!-- studies -->`` and ``<!-- end of studies -->``,
under the headings of ``bioeval --help``: the headings and the order come from the manifests of the
studies, and a study that is gone leaves nothing there.

Run ``.venv/bin/python scripts/page_tables.py`` after a change of them; tests compare the pages with
the tables.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import tempfile
import textwrap
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from card_reference import reference

import bioeval as be
from bioeval.base.errors import Argument
from bioeval.base.lazy import modules_of, offered_value
from bioeval.base.manifest import StudyManifest
from bioeval.base.messages import MessageType
from bioeval.base.studies import manifests
from bioeval.cli.lazy_group import HEADINGS
from bioeval.cli.outputs import write_csv
from bioeval.document import Text, page_of, tables
from bioeval.document.core_messages import CORE
from bioeval.scores.formats import registry
from bioeval.scores.formats.format import ARRAYS, FLAGS
from bioeval.views.registry import sections_of
from bioeval.views.writers.data import as_data, messages_data
from bioeval.views.writers.html import as_html
from bioeval.views.writers.latex import as_latex
from bioeval.views.writers.lines import Lines
from bioeval.views.writers.markdown import MarkdownLines, as_markdown
from bioeval.views.writers.terminal import as_text

#: The pages with tables that the code has.
PAGES = (
    *("variables.md", "api.md", "plots.md", "install.md", "writing-a-study.md"),
    *("messages.md", "one-table.md"),
)

DOCS = Path(__file__).resolve().parents[1] / "docs"


def formats_held() -> list[str]:
    """Return the rows of what each format holds, and of the options that it has."""
    rows = []
    first: dict[tuple[str, ...], str] = {ARRAYS: "those of arrays"}
    for form in registry.formats():
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
        for form in registry.formats()
    ]


#: What is put before or after the name of a variable, explained at the top of the page.
FORMS = (
    "train_", "_summary", "_mean", "_sd", "_se", "_pooled", "_folds", "_low", "_high",
    "_in_band", "_at_least", "_at_most", "_flagged",
)  # fmt: skip


def variables(of: str, above: dict[str, Any]) -> str:
    """Return the table of the variables of one kind of result, such as ``studies.zoo.results.ZOO``.

    Those of tables `above` with the same meaning are named in the last row; the others are added.
    """
    module, _, name = of.rpartition(".")
    found = getattr(importlib.import_module(f"bioeval.{module}"), name)
    if callable(found):
        found = found()
    forms: dict[str, list[str]] = {key: [] for key in found}
    for key in reversed(found):  # the forms of a form are those of the variable
        for form in FORMS:
            base = key.removeprefix(form) if form.endswith("_") else key.removesuffix(form)
            if base != key and base in found and _says(form, found[key].long_name, base, found):
                forms[base] += [form, *forms.pop(key)]
                break
    rows = [("variable", "what it is", "unit", "ISO/IEC 19795-1", "forms"), ("---",) * 5]
    known = [key for key in forms if above.get(key) == found[key]]
    for key in [key for key in forms if key not in known]:
        what = above[key] = found[key]
        rows.append((f"`{key}`", what.long_name, what.units, what.iso, _words(FORMS, forms[key])))
    if known:
        also = _words(FORMS, [form for key in known for form in forms[key]])
        rows.append((_words(known, known), "as in the tables above", "", "", also))
    return _table(rows)


def _words(of: Iterable[str], which: list[str]) -> str:
    return " ".join(f"`{word}`" for word in of if word in which)


def _says(form: str, text: str, base: str, found: dict[str, Any]) -> bool:
    """Whether the name of a form is that of a variable with the meaning of the form."""
    bound = form in ("_at_least", "_at_most")
    return bound or found[base].long_name in text or re.search(rf"\b{base}\b", text) is not None


def names(of: str, _: dict[str, Any]) -> str:
    """Return the table of the public names of a module, such as ``bioeval.plot function``.

    Names of studies are not among them; see :func:`names_of_studies`.
    """
    module, _, kind = of.partition(" ")
    package = importlib.import_module(module)
    rows = [("name", "what it does" if kind == "function" else "what it is"), ("---",) * 2]
    for name in sorted(package.__all__, key=str.lower):
        thing = getattr(package, name)
        of_study = str(getattr(thing, "__module__", "")).startswith("bioeval.studies.")
        if callable(thing) and isinstance(thing, type) == (kind == "class") and not of_study:
            rows.append(_named(module, name))
    return _table(rows)


def _named(module: str, name: str) -> tuple[str, str]:
    """Return the row of a public name, with the first paragraph of its docstring."""
    thing = getattr(importlib.import_module(module), name)
    first = (inspect.getdoc(thing) or "").split("\n\n")[0]
    return f"`{module.replace('bioeval', 'be', 1)}.{name}`", _plain(first)


def _plain(text: str) -> str:
    """Return a text of the code in one line, its code in single backticks."""
    return re.sub(r":\w+:`([^`]+)`", r"``\1``", " ".join(text.split())).replace("``", "`")


def _comment_on(module: str, name: str) -> str:
    """Return the comment ``#:`` above the value of a name in a module; empty without one."""
    source = inspect.getsource(importlib.import_module(module))
    above = re.search(rf"((?:^ *#: .*\n)+) *{name}\b[^\n]* = ", source, re.MULTILINE)
    if above is None:
        return ""
    return _plain(re.sub(r"^ *#:", "", above[1], flags=re.MULTILINE))


def studies_by_heading() -> dict[str, dict[str, StudyManifest]]:
    """Return the manifests of the studies by name, under the headings of ``bioeval --help``."""
    placed = []
    for name, study in manifests().items():
        first = next(iter(study.commands), None)
        heading, place = (first.heading, first.place) if first else (study.heading, 100)
        placed.append((place, name, heading))
    found: dict[str, dict[str, StudyManifest]] = {heading: {} for heading in HEADINGS}
    for _, name, heading in sorted(placed):
        found.setdefault(heading, {})[name] = manifests()[name]
    return {heading: studies for heading, studies in found.items() if studies}


def names_of_studies() -> str:
    """Return the calls and plots of each study, a table under each heading."""
    parts = []
    for heading, studies in studies_by_heading().items():
        rows = [("name", "what it does or is"), ("---",) * 2]
        for name, study in studies.items():
            package = importlib.import_module(f"bioeval.studies.{name}")
            rows.append((f"**{(package.__doc__ or '').splitlines()[0].rstrip('.')}**", ""))
            rows += [_named("bioeval", x) for names in study.calls.values() for x in names]
            rows += [_named("bioeval.plot", plot.name) for plot in study.plots]
        parts.append(f"### {heading}\n\n{_table(rows)}\n")
    return "".join(parts)


def study_api(package: str, _: dict[str, Any]) -> str:
    """Return the table of the names that studies may use of a package and that are not public.

    Values and types have a comment ``#:`` instead of a docstring; those without stand in the last
    row.
    """
    module = importlib.import_module(package)
    homes = modules_of(vars(module).get("_FOR_STUDIES") or vars(module)["_NAMES"])
    rows, values = [("name", "what it does or is"), ("---",) * 2], []
    for name in sorted(homes, key=str.lower):
        thing = getattr(module, name)
        if thing is not Any and isinstance(thing, (type, FunctionType, ModuleType)):
            _, what = _named(package, name)
        else:
            what = _comment_on(homes[name], name)
        if what:
            rows.append((f"`{name}`", what))
        else:
            values.append(f"`{name}`")
    if values:
        rows.append((" ".join(values), "values and types"))
    return _table(rows)


#: The study that a section of a page belongs to.
OF_STUDY = re.compile(r"<!-- (?:study: |variables: studies\.)(\w+)")


def by_study(text: str) -> str:
    """Put sections of a page, ``### TITLE``, in the order of their studies, under the headings."""
    sections: dict[str, list[str]] = {}
    for section in re.split(r"^(?=### )", text, flags=re.MULTILINE)[1:]:
        study = OF_STUDY.search(section)
        if study is None:
            raise SystemExit(f"no <!-- study: NAME --> below {section.splitlines()[0]}")
        own = re.sub(r"^## .*\n+", "", section, flags=re.MULTILINE).rstrip("\n")
        sections.setdefault(study[1], []).append(f"{own}\n\n")
    parts = []
    for heading, studies in studies_by_heading().items():
        own = "".join(section for name in studies for section in sections.get(name, ()))
        parts.append(f"## {heading}\n\n{own}" if own else "")
    return "".join(parts)


def versions(extra: str, _: dict[str, Any]) -> str:
    """Return the versions of packages with which continuous integration runs the tests.

    Of the ``dependencies``, or of an extra; the lowest and those of the locks.
    """
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    required = project["optional-dependencies"].get(extra, project["dependencies"])
    lowest, newest = _pinned("requirements-lowest.lock"), _pinned("requirements-full.lock")
    rows = [("package", "lowest", "newest"), ("---",) * 3]
    for name in sorted(re.split(r"[\[<>=]", text)[0] for text in required):
        rows.append((name, " ".join(lowest[name]), ", ".join(newest[name])))
    return _table(rows)


def _pinned(lock: str) -> dict[str, list[str]]:
    """Return the versions of each package in a lock; several where they depend on the Python."""
    found: dict[str, list[str]] = {}
    text = (DOCS.parent / lock).read_text(encoding="utf-8")
    for name, version in re.findall(r"^([a-z0-9-]+)(?:\[[^]]*\])?==([^ ;]+)", text, re.MULTILINE):
        found.setdefault(name, []).append(version)
    return found


def messages() -> str:
    """Return the page of each message: those of the core, then those of the studies by heading."""
    parts = ["## Messages of every evaluation\n\n", *map(_message, CORE)]
    for heading, studies in studies_by_heading().items():
        listed = [x for study in studies.values() if study.messages for x in _offered(study)]
        if listed:
            parts += [f"## {heading}\n\n", *map(_message, listed)]
    return "".join(parts)


def _offered(study: StudyManifest) -> tuple[MessageType, ...]:
    """Return the messages of a study."""
    listed: tuple[MessageType, ...] = offered_value(study.messages)
    return listed


def _message(entry: MessageType) -> str:
    """Return the section of a message."""
    page = page_of(entry)
    example = _Sentences().write(page.example)
    meaning, remedy = Lines().write(page.meaning), Lines().write(page.remedy)
    severity = "Without a fault" if entry.severity == "ok" else entry.severity.capitalize()
    return (
        f"### {entry.code}\n\n{severity}, for example:\n\n> {example}\n\n{meaning}\n\n"
        f"What to do: {remedy}\n\n"
    )


class _Sentences(MarkdownLines):
    """Sentences in Markdown, with the names of arguments as code."""

    def write(self, text: Text | None, rates: Sequence[float] = ()) -> str:
        """Return a text; an argument is not escaped."""
        if isinstance(text, Argument):
            return Lines().write(text)
        return super().write(text, rates)


def forms() -> str:
    """Return the result of the page ``one-table.md`` as each writer has it."""
    page = (DOCS / "one-table.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {"be": be, "np": np}
    exec(code, names)
    (section,) = sections_of(names["result"])
    table = next(table for table in tables(section) if table.shown_rows)
    rows = as_data(section)[table.id]
    data = {table.id: rows, "messages": messages_data(section)}
    with tempfile.TemporaryDirectory() as folder:
        write_csv(Path(folder) / "table.csv", rows)
        csv = (Path(folder) / "table.csv").read_text(encoding="utf-8")
    html = re.sub(r"<style>.*</style>", "", as_html(section))
    html = re.sub(r"><(?=(tr|p|table)\b)", ">\n<", html)
    frame = be.to_frame(names["result"], table.id)
    parts = [
        ("Terminal", "text", as_text(section, 80)),
        ("Terminal, in the terms of the standard", "text", as_text(section, 80, "iso")),
        ("Markdown", "markdown", as_markdown(section)),
        ("LaTeX", "latex", as_latex(section)),
        (
            "HTML, in notebooks and on the page",
            "html",
            html,
        ),
        (f"CSV: `{table.id}.csv`", "text", csv),
        ("JSON: this table, and the messages", "json", json.dumps(data, indent=1)),
        (f'Data frame: `be.to_frame(result, "{table.id}")`', "text", frame.to_string()),
    ]
    return "\n".join(
        f"## {name}\n\n<!-- not run: scripts/page_tables.py writes it -->\n\n"
        f"```{form}\n{text.rstrip()}\n```\n"
        for name, form, text in parts
    )


def _table(rows: list[tuple[str, ...]]) -> str:
    return "".join("| " + " | ".join(x.replace("|", "\\|") for x in row) + " |\n" for row in rows)


def filled(page: str) -> str:
    """Fill the table below each mark of a page, such as ``<!-- variables: results.zoo.ZOO -->``."""
    kinds = {"variables": variables, "names": names, "study api": study_api, "versions": versions}
    mark = re.compile(rf"^(<!-- ({'|'.join(kinds)}): (.+?) -->\n)(\n?(\|.*\n)+)?", re.MULTILINE)
    above: dict[str, Any] = {}
    region = re.compile(r"(<!-- studies(: names)? -->\n)([\s\S]*?)(?=<!-- end of studies -->)")
    page = re.sub(
        r"(<!-- messages -->\n)[\s\S]*", lambda found: f"{found[1]}\n{messages().rstrip()}\n", page
    )
    page = re.sub(r"(<!-- forms -->\n)[\s\S]*", lambda found: f"{found[1]}\n{forms()}", page)
    rest, regions = region.subn("", page)
    lost = re.search(rf"^{OF_STUDY.pattern}", rest, re.MULTILINE)
    if regions and lost:
        raise SystemExit(f"{lost[0]} stands after <!-- end of studies -->; move it above")
    page = region.sub(
        lambda found: f"{found[1]}\n{names_of_studies() if found[2] else by_study(found[3])}", page
    )
    return mark.sub(lambda found: f"{found[1]}\n{kinds[found[2]](found[3], above)}", page)


def written(path: Path, pattern: str, text: str) -> None:
    """Put a text in the place of the group ``here`` of a pattern in a page."""
    page = path.read_text(encoding="utf-8")
    found = re.search(pattern, page)
    if found is None:
        raise SystemExit(f"{path}: the place of a table is not found: {pattern}")
    path.write_text(page[: found.start("here")] + text + page[found.end("here") :], "utf-8")


#: Columns of the help of the package, without those by which pydoc sets it in.
_HELP_WIDTH = 96

#: The first heading in the help of the package of plots.
_FIRST_PLOTS = "Scores, verification and identification"


def help_text() -> str:
    """Return the names that ``help(be)`` lists, each with what it does."""
    groups: dict[str, list[str]] = {}
    core = [name for name in be.__all__ if not _of_study(name) and not _is_error(name)]
    groups["Scores, tasks and results"] = [*core]
    for heading, studies in studies_by_heading().items():
        calls = [study.calls for study in studies.values()]
        groups[heading] = [x for call in calls for names in call.values() for x in names]
    lines = _described("bioeval", groups)
    short: dict[str, str] = {}
    for manifest in manifests().values():
        short |= manifest.other_names
    lines += _in_one_paragraph("Short names", [f"{x} ({short[x]})" for x in sorted(short)])
    errors = [name for name in be.__all__ if _is_error(name)]
    lines += _in_one_paragraph("Errors and warnings", errors)
    return "\n".join(lines).lstrip("\n")


def plot_help_text() -> str:
    """Return the plots that ``help(be.plot)`` lists, each with what it draws."""
    core = [name for names in vars(be.plot)["_NAMES"].values() for name in names]
    groups = {_FIRST_PLOTS: sorted(name for name in core if name[0].islower())}
    for heading, studies in studies_by_heading().items():
        groups[heading] = [plot.name for study in studies.values() for plot in study.plots]
    return "\n".join(_described("bioeval.plot", groups)).lstrip("\n")


def _described(module: str, groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the lines of names under their headings, each with what it does."""
    lines: list[str] = []
    for heading, listed in groups.items():
        if not listed:
            continue
        lines += ["", heading]
        width = max(map(len, listed))
        for name in listed:
            _, what = _named(module, name)
            what = _cut(what.replace("`", "").rstrip("."), _HELP_WIDTH - width - 6)
            text = f"    {name:<{width}}  {what}"
            lines += textwrap.wrap(text, _HELP_WIDTH, subsequent_indent=" " * (width + 6))
    return lines


def _in_one_paragraph(heading: str, names: Iterable[str]) -> list[str]:
    """Return the lines of names without an explanation, under a heading."""
    text = f"    {', '.join(names)}"
    return ["", heading, *textwrap.wrap(text, _HELP_WIDTH, subsequent_indent=" " * 4)]


def _cut(text: str, width: int) -> str:
    """Return a sentence without its last part where it is longer than a line.

    The part begins after a colon or a semicolon, else after a comma outside of parentheses.
    """
    for mark in (r"[:;] ", r", (?![^(]*\))"):
        ends = list(re.finditer(mark, text))
        if len(text) > width and ends:
            text = text[: ends[-1].start()]
    return text


def _of_study(name: str) -> bool:
    """Whether a public name is that of a study, or of a module."""
    thing = getattr(be, name)
    home = str(getattr(thing, "__module__", ""))
    return isinstance(thing, ModuleType) or not callable(thing) or ".studies." in home


def _is_error(name: str) -> bool:
    """Whether a public name is an error or a warning."""
    return name in vars(be)["_NAMES"]["bioeval.base.errors"]


def with_help(module: str) -> str:
    """Return the source of the package with these names in its docstring."""
    return _with_listing(module, "Scores, tasks and results", help_text())


def with_plot_help(module: str) -> str:
    """Return the source of the package of plots with its plots in its docstring."""
    return _with_listing(module, _FIRST_PLOTS, plot_help_text())


def _with_listing(module: str, first: str, listing: str) -> str:
    """Return a source whose docstring ends in a listing, which begins with the heading `first`."""
    head, _, rest = module.partition(f"\n\n{first}\n")
    _, end, after = rest.partition('"""\n')
    return f"{head}\n\n{listing}\n{end}{after}"


def main() -> None:
    """Write the tables."""
    for file, written_help in ((be.__file__, with_help), (be.plot.__file__, with_plot_help)):
        package = Path(str(file))
        package.write_text(written_help(package.read_text(encoding="utf-8")), encoding="utf-8")
    rows = r".*\n\|[-|]+\n(?P<here>(\|.*\n)+)"
    held, recognised = formats_held(), formats_recognised()
    written(DOCS / "formats.md", rf"\| format \| holds{rows}", "\n".join([*held, ""]))
    written(DOCS / "formats.md", rf"\| format \| recognised{rows}", "\n".join([*recognised, ""]))
    fields = r"(?P<here>### Above the first section\n[\s\S]*?\n)(?=\n*## |\Z)"
    written(DOCS / "protocol-cards.md", fields, reference())
    for name in PAGES:
        page = DOCS / name
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
