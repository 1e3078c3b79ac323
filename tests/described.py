"""The arguments of public calls as their signatures and docstrings describe them."""

import ast
import contextlib
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bioeval

_PACKAGE = Path(bioeval.__file__).parent
_PUBLIC = _PACKAGE / "__init__.pyi"


@dataclass(frozen=True)
class Parameter:
    """An argument of a call, as its signature and its docstring describe it."""

    default: Any  # None where it has none
    required: bool
    words: tuple[str, ...]  # from which to choose, if any
    types: frozenset[str]  # that it may have besides: int, float, bool, str
    many: bool  # whether the types are those of the values of a sequence
    text: str


def first_sentence(text: str) -> str:
    """Return the first sentence of a text of a docstring, without its marks; a list ends it."""
    ends = r"(?<=\.)\s+(?=[A-Z`])|(?<=[.:])\s+(?=- )"
    sentence = re.split(ends, " ".join(text.split()))[0].rstrip(":")
    return re.sub(r":\w+:(?=`)|``?\"?|\"?``|`", "", sentence)


# ------------------------------------------------------------------------- the source


@functools.cache
def parameters(call: str) -> dict[str, Parameter]:
    """Return the parameters of a public function or class, as ``zoo`` or ``stats.Interval``."""
    file, node = _found(call)
    texts = _texts(ast.get_docstring(node) or "")
    described = {}
    for name, annotation, default in _signature(node):
        text = texts.get(name, "")
        if reference := re.match(r"As for :\w+:`~?(?:bioeval\.)?([\w.]+)`", text):
            described_there = parameters(reference[1])
            text = described_there[name].text if name in described_there else ""
        words, types, is_repeated = (
            _kinds(file, annotation) if annotation is not None else ((), (), False)
        )
        value = None
        with contextlib.suppress(ValueError, TypeError):  # a constant, or none
            value = ast.literal_eval(default)  # type: ignore[arg-type]
        described[name] = Parameter(
            value, default is None, tuple(dict.fromkeys(words)), frozenset(types), is_repeated, text
        )
    return described


def _found(call: str) -> tuple[Path, Any]:
    """Return the file and the node of a public function, class or method."""
    first, *parts = call.split(".")
    file = _PUBLIC
    if (_PACKAGE / first / "__init__.pyi").exists() and parts:
        file, first = _PACKAGE / first / "__init__.pyi", parts.pop(0)
    file, node = _definition(file, first) or (file, None)
    for name in parts:
        node = next(x for x in getattr(node, "body", ()) if getattr(x, "name", "") == name)
    if node is None:
        raise LookupError(f"no public call {call}")
    return file, node


def _signature(node: Any) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    """Yield the name, annotation and default of each parameter."""
    if isinstance(node, ast.ClassDef):
        methods = [
            statement for statement in node.body if getattr(statement, "name", "") == "__init__"
        ]
        if not methods:  # a dataclass
            for statement in node.body:
                if isinstance(statement, ast.AnnAssign) and "ClassVar" not in ast.dump(
                    statement.annotation
                ):
                    yield ast.unparse(statement.target), statement.annotation, statement.value
            return
        node = methods[0]
    positional = [*node.args.posonlyargs, *node.args.args]
    defaults = [None] * (len(positional) - len(node.args.defaults)) + node.args.defaults
    keywords = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    for argument, default in (*zip(positional, defaults, strict=True), *keywords):
        if argument.arg != "self":
            yield argument.arg, argument.annotation, default


def _texts(docstring: str) -> dict[str, str]:
    """Return the text of each parameter of a docstring of numpydoc."""
    _, _, parameters_text = docstring.partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w[\w ]*\n-+\n", parameters_text)[0]
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines():
        if re.match(r"\w", line):  # names, perhaps with a type
            names = line.partition(" : ")[0].split(", ")
            texts |= dict.fromkeys(names, "")
        else:
            texts |= {name: f"{texts[name]} {line.strip()}".strip() for name in names}
    return texts


def _kinds(file: Path, node: ast.expr) -> tuple[list[str], set[str], bool]:
    """Return the words, the plain types, and whether there are many, of an annotation."""
    if isinstance(node, ast.Constant):
        return ([node.value], set(), False) if isinstance(node.value, str) else ([], set(), False)
    if isinstance(node, ast.BinOp):
        parts, is_repeated = [node.left, node.right], False
    elif isinstance(node, ast.Subscript):
        inner = node.slice
        parts = [*inner.elts] if isinstance(inner, ast.Tuple) else [inner]
        is_repeated = getattr(node.value, "id", "") != "Literal"
    elif isinstance(node, ast.Name):
        if node.id in ("int", "float", "bool", "str"):
            return [], {node.id}, False
        definition = _definition(file, node.id)
        if definition is None or not isinstance(
            value := getattr(definition[1], "value", None), ast.expr
        ):
            return [], set(), False
        return _kinds(definition[0], value)
    else:
        return [], set(), False
    words: list[str] = []
    types: set[str] = set()
    for part in parts:
        more_words, more_types, more_many = _kinds(file, part)
        words, types, is_repeated = words + more_words, types | more_types, is_repeated or more_many
    return words, types, is_repeated


def _definition(file: Path, name: str) -> tuple[Path, ast.stmt] | None:
    """Return where a name of a module is defined: the file, and the statement."""
    definition = None
    for statement in _statements(file):
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        names = {getattr(statement, "name", ""), *(getattr(x, "id", "") for x in targets)}
        if name in names:
            definition = file, statement  # the last one: others are overloads
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if (alias.asname or alias.name) == name:
                    definition = _definition(_module(file, statement), alias.name)
    return definition


@functools.cache
def _statements(file: Path) -> list[ast.stmt]:
    """Return the statements of a module, including statements for type checkers."""
    if not file.exists():
        return []
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return [x for each in body for x in (each.body if isinstance(each, ast.If) else [each])]


def _module(file: Path, statement: ast.ImportFrom) -> Path:
    folder = file.parents[statement.level - 1] if statement.level else _PACKAGE.parent
    path = folder.joinpath(*(statement.module or "").split("."))
    places = (path.with_suffix(".py"), path / "__init__.pyi", path / "__init__.py")
    return next((place for place in places if place.exists()), path)
