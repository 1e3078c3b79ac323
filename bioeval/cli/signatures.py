"""Options that are arguments of a public call: help, words, type and default are those of the call.

They are read from the source of the call, since importing it would load numpy for ``--help``.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bioeval.cli.arguments import NUMBER
from bioeval.cli.command import F, option

_PACKAGE = Path(__file__).parents[1]

_PLAIN = {"int": int, "float": NUMBER, "str": str}

_IMPORT = re.compile(r"^ *from (bioeval\S+|\.\S+) import (\([^)]*\)|.*)$", re.MULTILINE)
_NEXT_STATEMENT = re.compile(r"\n(?=[^\s\])])")


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
    # The file of the definition: the stubs of public names say where each is imported from.
    first, *parts = call.split(".")
    stub = _PACKAGE / "__init__.pyi"
    if parts and (_PACKAGE / first / stub.name).exists():
        stub, first = _PACKAGE / first / stub.name, parts.pop(0)
    file: Path | None = stub
    while file is not None and not (definition := _definition(_text(file), [first, *parts])):
        file = _imports(file).get(first)
    if file is None:
        raise LookupError(f"no public call {call}")
    node: Any = ast.parse(textwrap.dedent(definition)).body[-1]
    # The section of parameters ends at the next heading.
    _, _, section = str(ast.get_docstring(node)).partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w[\w ]*\n-+\n", section)[0]
    # The annotation and the default of each argument; a class has no signature here.
    signature: dict[str, tuple[ast.expr | None, Any]] = {}
    if isinstance(node, ast.FunctionDef):
        positional, keywords = node.args.args, node.args.kwonlyargs
        defaults = [None] * (len(positional) - len(node.args.defaults)) + node.args.defaults
        both = zip([*positional, *keywords], [*defaults, *node.args.kw_defaults], strict=True)
        signature = {argument.arg: (argument.annotation, default) for argument, default in both}
    found: dict[str, Argument] = {}
    # A heading such as "ap, cmc : str" at the margin, and the indented text below it.
    for heading, text in re.findall(r"^(\w.*)\n((?:[ ]+.*\n?|\n)*)", section, re.MULTILINE):
        listed, _, kind = heading.partition(" : ")
        for argument in listed.split(", "):
            text_of_argument = text
            if reference := re.match(r"As for :\w+:`~?(?:bioeval\.)?([\w.]+)`", text.strip()):
                of_other = arguments_of(reference[1])
                text_of_argument = of_other[argument].text if argument in of_other else ""
            annotation, default = signature.get(argument, (None, None))
            value = None
            with contextlib.suppress(ValueError, TypeError):  # a constant, or none
                value = ast.literal_eval(default)
            stated = kind.partition("default: ")[2].strip('"') if value is None else ""
            found[argument] = Argument(text_of_argument, stated, value, annotation, file)
    return found


def _kinds(file: Path, annotation: ast.expr) -> tuple[list[str], set[str]]:
    """Return the words and the plain types in an annotation, or in the alias that it names."""
    words: list[str] = []
    types: set[str] = set()
    for part in ast.walk(annotation):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            words.append(part.value)
        elif isinstance(part, ast.Name) and part.id in {*_PLAIN, "bool"}:
            types.add(part.id)
        elif isinstance(part, ast.Name):
            place: Path | None = file
            while place and f"\n{part.id} = " not in _text(place):
                place = _imports(place).get(part.id)
            if place:
                text = _text(place).partition(f"\n{part.id} = ")[2]
                alias = ast.parse(_NEXT_STATEMENT.split(text, 1)[0], mode="eval")
                more_words, more_types = _kinds(place, alias.body)
                words, types = words + more_words, types | more_types
    return words, types


def _definition(text: str, path: list[str]) -> str:
    """Return a function, class or method, from its first overload to the end of its docstring."""
    name = path[-1]
    forms = [f"\ndef {name}(", f"\nclass {name}(", f"\nclass {name}:"]
    if len(path) > 1:
        forms = [f"\n    def {name}("]
    start = min((x for x in map(text.find, forms) if x >= 0), default=None)
    if start is None:
        return ""
    docstring = text.index('"""', start)
    return text[start : text.index('"""', docstring + 3) + 3]


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
