"""Options that are arguments of a public call: help, words, type and default are those of the call.

They are read from the source of the call, since importing it would load numpy for ``--help``. The
source keeps to these conventions:

- a stub ``__init__.pyi`` has ``from bioeval.x import name`` of each public name
- a ``def`` or ``class`` begins a line, a method after four blanks, and its first triple quotes are
  those of its docstring
- under ``Parameters``, ``name : type, default: x`` or ``name, other : type`` is at the margin, and
  its text is indented; ``As for :func:`call``` takes the text of the same argument of that call
- an alias of types in an annotation, ``NAME = Literal[...]``, is at the margin of a module
"""

from __future__ import annotations

import ast
import contextlib
import functools
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bioeval.cli.arguments import NUMBER
from bioeval.cli.command import F, option

_PACKAGE = Path(__file__).parents[1]

_PLAIN = {"int": int, "float": NUMBER, "str": str}

_IMPORT = re.compile(r"^ *from (bioeval\S+|\.\S+) import (\([^)]*\)|.*)$", re.MULTILINE)
_NEXT_STATEMENT = re.compile(r"\n(?=[^\s\])])")

_NEXT_SECTION = re.compile(r"\n\n\w[\w ]*\n-+\n")

# A heading such as "ap, cmc : str" at the margin, and the indented text below it.
_ENTRY = re.compile(r"^(\w.*)\n((?:[ ]+.*\n?|\n)*)", re.MULTILINE)

_REFERENCE = re.compile(r"As for :\w+:`~?(?:bioeval\.)?([\w.]+)`")


class Argument(NamedTuple):
    """An argument of a call."""

    text: str  # in the docstring
    stated: str  # the default that the docstring states, where the signature has None
    default: Any  # None if it is no constant
    annotation: ast.expr | None
    file: Path  # of the annotation

    @property
    def kinds(self) -> tuple[tuple[str, ...], set[str]]:
        """The words to choose from, and plain types besides, such as int."""
        words, types = _kinds(self.file, self.annotation) if self.annotation else ([], set())
        return tuple(dict.fromkeys(words)), types

    @property
    def first_sentence(self) -> str:
        """The first sentence of the text, without its marks; a list ends it."""
        ends = r"(?<=\.)\s+(?=[A-Z`])|(?<=[.:])\s+(?=- )"
        sentence = re.split(ends, " ".join(self.text.split()))[0].rstrip(":")
        return re.sub(r":\w+:(?=`)|``?\"?|\"?``|`", "", sentence)


def option_of(
    call: str,
    usage: str,
    type: Any = None,
    *,
    default: Any = ...,
    more: str = "",
    name: str | None = None,
    **settings: Any,
) -> Callable[[F], F]:
    """Return the option of a command for an argument of a call, as ``--quantile X`` of ``zoo``.

    `more` follows the first sentence of the argument, without its period, in the help. An option
    that is required, or given several times, has no default.
    """
    argument = arguments_of(call)[name or usage.partition(" ")[0].strip("-").replace("-", "_")]
    help = argument.first_sentence.rstrip(".") + (more or ".")
    if argument.stated:
        help = f"{help}  [{argument.stated}]"
    if type is None:
        words, types = argument.kinds
        plain = (_PLAIN[x] for x in ("str", "float", "int") if x in types)
        type = words or next(plain, str)
    if default is ...:
        is_single = not (settings.get("multiple") or settings.get("required"))
        default = argument.default if is_single else None
    return option(usage, help, type, default, name=name, **settings)


@functools.cache
def arguments_of(call: str) -> dict[str, Argument]:
    """Return the arguments of a public call, such as ``zoo`` or ``stats.IntervalMethod``."""
    definition, file = _definition_of(call)
    node: Any = ast.parse(textwrap.dedent(definition)).body[-1]  # after overloads
    signature = _signature(node)
    found: dict[str, Argument] = {}
    for name, type_and_default, text in _described(str(ast.get_docstring(node))):
        annotation, default = signature.get(name, (None, None))
        value = None
        with contextlib.suppress(ValueError, TypeError):  # no default, or no constant
            value = ast.literal_eval(default)
        stated = type_and_default.partition("default: ")[2].strip('"') if value is None else ""
        reference = _REFERENCE.match(text.strip())
        if reference is not None:
            of_other_call = arguments_of(reference[1])
            text = of_other_call[name].text if name in of_other_call else ""
        found[name] = Argument(text, stated, value, annotation, file)
    return found


def _definition_of(call: str) -> tuple[str, Path]:
    """Return the text of a public call from its first line to its docstring, and its file.

    The stubs of public names say where each is imported from, and so do the modules on the way.
    """
    first, *parts = call.split(".")
    file: Path | None = _PACKAGE / "__init__.pyi"
    stub_of_part = _PACKAGE / first / "__init__.pyi"
    if parts and stub_of_part.exists():
        file = stub_of_part
        first = parts.pop(0)
    while file is not None:
        definition = _definition(_text(file), [first, *parts])
        if definition:
            return definition, file
        file = _imports(file).get(first)
    raise LookupError(f"no public call {call}")


def _definition(text: str, path: list[str]) -> str:
    """Return a function, class or method, from its first overload to the end of its docstring.

    `path` is its name, or a class and a method, which is the first one of this name in the file.
    Empty if the file has none.
    """
    name = path[-1]
    forms = [f"\ndef {name}(", f"\nclass {name}(", f"\nclass {name}:"]
    if len(path) > 1:
        forms = [f"\n    def {name}("]
    starts = [text.find(form) for form in forms if form in text]
    if not starts:
        return ""
    start = min(starts)
    docstring = text.index('"""', start)
    end = text.index('"""', docstring + 3) + 3
    return text[start:end]


def _signature(node: ast.AST) -> dict[str, tuple[ast.expr | None, Any]]:
    """Return the annotation and the default of each argument; none of a class."""
    if not isinstance(node, ast.FunctionDef):
        return {}
    positional = node.args.args
    without_default = len(positional) - len(node.args.defaults)
    defaults = [*[None] * without_default, *node.args.defaults, *node.args.kw_defaults]
    arguments = [*positional, *node.args.kwonlyargs]
    both = zip(arguments, defaults, strict=True)
    return {argument.arg: (argument.annotation, default) for argument, default in both}


def _described(docstring: str) -> Iterator[tuple[str, str, str]]:
    """Yield each argument in the section of parameters: its name, type and default, and text."""
    _, _, after_heading = docstring.partition("\nParameters\n----------\n")
    section = _NEXT_SECTION.split(after_heading)[0]
    for heading, text in _ENTRY.findall(section):
        names, _, type_and_default = heading.partition(" : ")
        for name in names.split(", "):
            yield name, type_and_default, text


def _kinds(file: Path, annotation: ast.expr) -> tuple[list[str], set[str]]:
    """Return the words and the plain types in an annotation of a file, or in aliases in it."""
    words: list[str] = []
    types: set[str] = set()
    for part in ast.walk(annotation):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            words.append(part.value)
        elif isinstance(part, ast.Name) and part.id in {*_PLAIN, "bool"}:
            types.add(part.id)
        elif isinstance(part, ast.Name):
            place = _file_with_alias(file, part.id)
            if place is not None:
                text = _text(place).partition(f"\n{part.id} = ")[2]
                alias = ast.parse(_NEXT_STATEMENT.split(text, 1)[0], mode="eval").body
                alias_words, alias_types = _kinds(place, alias)
                words += alias_words
                types |= alias_types
    return words, types


def _file_with_alias(file: Path, name: str) -> Path | None:
    """Return the file that has ``name = ...``: this one, or the one that the name comes from."""
    place: Path | None = file
    while place is not None and f"\n{name} = " not in _text(place):
        place = _imports(place).get(name)
    return place


@functools.cache
def _imports(file: Path) -> dict[str, Path]:
    """Return the file of each name that a module imports from this package."""
    files: dict[str, Path] = {}
    for module, names in _IMPORT.findall(_text(file)):
        folder = file.parent if module.startswith(".") else _PACKAGE.parent
        path = folder.joinpath(*module.strip(".").split("."))
        for place in (path.with_suffix(".py"), path / "__init__.pyi", path / "__init__.py"):
            if place.exists():
                files |= dict.fromkeys(re.findall(r"\w+", names), place)
                break
    return files


@functools.cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
