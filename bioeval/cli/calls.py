"""Options from calls: an argument is described once, in the docstring of its function.

The source of a function is read and not imported, so that the help of a command loads nothing of
what its call needs.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bioeval.cli.arguments import Value, at_least
from bioeval.cli.command import F, option, option_group

_PACKAGE = Path(__file__).parents[1]
_PUBLIC = _PACKAGE / "__init__.pyi"

#: Arguments whose option has another name, a word for its value, or a type of its own: the same in
#: every command.
_HOW: dict[str, tuple[str, Any]] = {
    "a_dcf": ("--a-dcf N,N", Value.NUMBERS),
    "apcer_targets": ("--apcer X,X", Value.NUMBERS),
    "assure": ("--assure P", Value.CONFIDENCE),
    "attack": ("--attack COLUMN", str),
    "attempts": ("--attempts COLUMN", str),
    "cards": ("--card CARD", str),
    "confidence": ("--confidence P", Value.CONFIDENCE),
    "convention": ("--protocol CARD", str),
    "costs": ("--costs MISS,FALSE", Value.NUMBERS),
    "fusion": ("--fusion RULE", str),
    "days": ("--days N,N", Value.WHOLE_NUMBERS),
    "interval": ("--interval METHOD", None),
    "enrol": ("--enrol TEMPLATES", str),
    "far": ("--far X", Value.RATE),
    "far_targets": ("--far X", Value.FARS),
    "fractions": ("--fractions F,F", Value.NUMBERS),
    "frr": ("--frr P", Value.PROPORTION),
    "frr_targets": ("--frr X", Value.FRRS),
    "frr_width": ("--width W", Value.PROPORTION),
    "group": ("--by COLUMN", str),
    "impostor_share": ("--impostors P", Value.PROPORTION),
    "measure": ("--measure M", str),
    "measures": ("--measure M", str),
    "metric": ("--metric M", str),
    "n_subjects": ("--subjects N", int),
    "n_templates": ("--templates N", Value.COUNTS),
    "normalize": ("--normalize LOW,HIGH", Value.NUMBERS),
    "people_per_day": ("--people N", int),
    "priors": ("--priors P,P", Value.NUMBERS),
    "probe": ("--probe N|NAME", str),
    "probes": ("--probes N", Value.COUNTS),
    "protocol": ("--protocol CARD", str),
    "quality": ("--quality COLUMN", str),
    "random_state": ("--seed N", at_least(0)),
    "sizes": ("--sizes N,N", Value.WHOLE_NUMBERS),
    "target": ("--target T|RULE", Value.TARGET),
    "threshold": ("--threshold T|RULE", Value.THRESHOLD),
    "thresholds": ("--thresholds N|T,T", Value.THRESHOLDS),
    "unenrolled": ("--unenrolled N", Value.SIZE),
    "within": ("--within SD", Value.NUMBERS),
}

#: Arguments whose option may be given several times.
_REPEATED = ("cards", "measures", "quality")
_RATES = ("far_targets", "frr_targets")


@dataclass(frozen=True)
class Parameter:
    """An argument of a call, as its signature and its docstring describe it."""

    default: Any  # None where it has none
    required: bool
    words: tuple[str, ...]  # from which to choose, if any
    types: frozenset[str]  # that it may have besides: int, float, bool, str
    many: bool  # whether the types are those of the values of a sequence
    text: str


def options_of(call: str, *names: str, heading: str = "", **special: Any) -> Callable[[F], F]:
    """Return the options of these arguments of a public call.

    `special` has, by the name of an argument, what :func:`option_of` takes.
    """
    made = [option_of(call, name, **special.get(name, {})) for name in names]
    return option_group(*made, heading=heading)


def option_of(call: str, name: str, usage: str = "", type: Any = None, **more: Any) -> Any:
    """Return the option of an argument of a public call: `usage` and `type` if not the usual."""
    parameter = parameters(call)[name]
    usual, usual_type = _HOW.get(name, (f"--{name.replace('_', '-')}", _type(parameter)))
    usage, type = usage or usual, type or usual_type or _type(parameter)
    if " " not in usage and type in _METAVARS:
        usage += f" {_METAVARS[type]}"
    more = {"required": parameter.required, "name": name, **more}
    if name in _RATES:
        more |= {"multiple": True, "callback": _joined}
    elif name in _REPEATED:
        more |= {"multiple": True}
    elif type is not bool:
        more = {"default": _written(parameter.default), **more}
    return option(usage, first_sentence(parameter.text), type, **more)


_METAVARS: dict[Any, str] = {int: "N", float: "X", str: "NAME"}


def _joined(ctx: click.Context, param: click.Parameter, targets: Any) -> list[float] | None:
    """Return the rates of an option that is given several times."""
    return list(itertools.chain.from_iterable(targets)) or None


def _written(default: Any) -> Any:
    """Return a default as the command line has it."""
    if isinstance(default, tuple | list):
        return ",".join(f"{value:g}" for value in default) or None
    return default


def _type(parameter: Parameter) -> Any:
    """Return the type of an option."""
    if parameter.words and not parameter.types:
        return parameter.words
    if parameter.many:
        return Value.NUMBERS if "float" in parameter.types else Value.WHOLE_NUMBERS
    if parameter.types == {"bool"}:
        return bool
    if parameter.types == {"int"}:
        return int
    return float if parameter.types == {"float"} else str


def first_sentence(text: str) -> str:
    """Return the first sentence of a text of a docstring, without its marks."""
    sentence = re.split(r"(?<=\.)\s+(?=[A-Z`])", " ".join(text.split()))[0]
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
        if other := re.match(r"As for :\w+:`~?(?:bioeval\.)?([\w.]+)`", text):
            described_there = parameters(other[1])
            text = described_there[name].text if name in described_there else ""
        words, types, many = _kinds(file, annotation) if annotation is not None else ((), (), False)
        value = None
        with contextlib.suppress(ValueError, TypeError):  # a constant, or none
            value = ast.literal_eval(default)  # type: ignore[arg-type]
        described[name] = Parameter(
            value, default is None, tuple(dict.fromkeys(words)), frozenset(types), many, text
        )
    return described


def _found(call: str) -> tuple[Path, Any]:
    """Return the file and the node of a public function, class or method."""
    first, *rest = call.split(".")
    file = _PUBLIC
    if (_PACKAGE / first / "__init__.pyi").exists() and rest:
        file, first = _PACKAGE / first / "__init__.pyi", rest.pop(0)
    file, node = _definition(file, first) or (file, None)
    for name in rest:
        node = next(x for x in getattr(node, "body", ()) if getattr(x, "name", "") == name)
    if node is None:
        raise LookupError(f"no public call {call}")
    return file, node


def _signature(node: Any) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    """Yield the name, annotation and default of each parameter."""
    if isinstance(node, ast.ClassDef):
        methods = [x for x in node.body if getattr(x, "name", "") == "__init__"]
        if not methods:  # a dataclass
            for x in node.body:
                if isinstance(x, ast.AnnAssign) and "ClassVar" not in ast.dump(x.annotation):
                    yield ast.unparse(x.target), x.annotation, x.value
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
    _, _, rest = docstring.partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w[\w ]*\n-+\n", rest)[0]
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
        parts, many = [node.left, node.right], False
    elif isinstance(node, ast.Subscript):
        inner = node.slice
        parts = [*inner.elts] if isinstance(inner, ast.Tuple) else [inner]
        many = getattr(node.value, "id", "") != "Literal"
    elif isinstance(node, ast.Name):
        if node.id in ("int", "float", "bool", "str"):
            return [], {node.id}, False
        found = _definition(file, node.id)
        if found is None or not isinstance(value := getattr(found[1], "value", None), ast.expr):
            return [], set(), False
        return _kinds(found[0], value)
    else:
        return [], set(), False
    words: list[str] = []
    types: set[str] = set()
    for part in parts:
        more_words, more_types, more_many = _kinds(file, part)
        words, types, many = words + more_words, types | more_types, many or more_many
    return words, types, many


def _definition(file: Path, name: str) -> tuple[Path, ast.stmt] | None:
    """Return where a name of a module is defined: the file, and the statement."""
    found = None
    for statement in _statements(file):
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        names = {getattr(statement, "name", ""), *(getattr(x, "id", "") for x in targets)}
        if name in names:
            found = file, statement  # the last one: others are overloads
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if (alias.asname or alias.name) == name:
                    found = _definition(_module(file, statement), alias.name)
    return found


@functools.cache
def _statements(file: Path) -> list[ast.stmt]:
    """Return the statements of a module, those for type checkers among them."""
    if not file.exists():
        return []
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return [x for each in body for x in (each.body if isinstance(each, ast.If) else [each])]


def _module(file: Path, statement: ast.ImportFrom) -> Path:
    """Return the file of the module of an import."""
    folder = file.parents[statement.level - 1] if statement.level else _PACKAGE.parent
    path = folder.joinpath(*(statement.module or "").split("."))
    places = (path.with_suffix(".py"), path / "__init__.pyi", path / "__init__.py")
    return next((place for place in places if place.exists()), path)
