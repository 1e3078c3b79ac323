"""Options and arguments: one meaning in all calls, one name, one text, and the declared values."""

import ast
import contextlib
import functools
import inspect
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from commands import COMMANDS, EXAMPLES, command_of, options_of

import bioeval
import bioeval as be

# The arguments of public calls as their signatures and docstrings describe them.

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


#: What has no arguments of scores or results.
OTHERS = ("Protocol", "Measure", "eer_scorer", "set_options")

#: Whose words to choose from are those of each call.
OF_THE_CALL = {"method", "cmc", "interval"}

#: Words to choose from that no signature lists.
OF_COMMANDS = {"none", "sequence-jackknife", "unseen", "seen", "all"}

#: Options with a text of their own, where the command takes less than the call, or something else.
OWN_TEXT = """
    far folds frames fusion images n_templates name names per_query probe protocol
    rank_unit rates repeats system target task templates threshold title train unenrolled
    verbose weights worst
"""

#: Where a command prints and writes, and on what it runs: options that no call has.
OF_EVERY_COMMAND = """
    as_json fail_if force images images_root latex markdown memory_limit name no_auc out
    plot_formats plots report worst
"""

#: What one command does besides its call.
OF_THE_COMMAND = {
    "convert": {"dry_run", "listed"},
    "example": {"components", "people", "system"},  # of faces, which bioeval.datasets has
    "fuse": {"save_to"},
    "gom": {"as_given"},  # not scaled
    "protocols": {"toml"},
    "report": {"check", "folds", "names", "zoo"},  # of several calls
    # The option of be.set_options, failure rates, a column of the metadata, and priors of a card.
    "run": {"client", "fta", "fte", "min_dcf", "single_gallery"},
    "threshold": {"far", "on"},  # a rule in short, and another call
}

RULE = """
bioeval {command}: {options} are no arguments of a public call.
docs/api.md, "Arguments": give each the argument's name, as in
option(..., name="ARGUMENT"). List what the command alone does in OF_THE_COMMAND of
tests/cli/test_options.py.
"""


@functools.cache
def described() -> dict[str, dict[str, Parameter]]:
    """Map each argument of public calls to the calls that have it."""
    by_option: dict[str, dict[str, Parameter]] = defaultdict(dict)
    for call in (*be.__all__, *OF_SUBMODULES):
        public = functools.reduce(getattr, call.split("."), be)
        if callable(public) and call not in OTHERS and not call.endswith(("Error", "Warning")):
            for name, parameter in parameters(call).items():
                by_option[name][call] = parameter
    return by_option


OF_SUBMODULES = ("stats.IntervalMethod", "datasets.faces")


def shared() -> dict[str, list[Parameter]]:
    """Map each argument of several calls of bioeval itself to its descriptions."""
    of_calls = {
        name: [x for call, x in calls.items() if call not in OF_SUBMODULES]
        for name, calls in described().items()
    }
    return {name: calls for name, calls in of_calls.items() if len(calls) > 1}


def test_the_table_of_arguments_has_those_of_two_calls_or_more(root):
    text = (root / "docs" / "api.md").read_text(encoding="utf-8")
    section = text.partition("## Arguments\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(shared())


def test_an_argument_has_one_type():
    for name, calls in shared().items():
        types = {x.types for x in calls if x.types}
        assert len(types) <= 1 or name == "interval", (name, types)
        if name not in OF_THE_CALL:
            widest = max((set(x.words) for x in calls), key=len)
            assert all(set(x.words) <= widest for x in calls), name


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_on_a_screen_and_examples_are_commands(command):
    """The help has at most 40 lines and 80 columns; the help of `run` has up to two screens."""
    command_found = command_of(command)
    ctx = click.Context(command_found, info_name=f"bioeval {command}", terminal_width=80)
    lines = command_found.get_help(ctx).splitlines()
    assert len(lines) <= (80 if command == "run" else 40)
    assert not [line for line in lines if len(line) > 80]
    assert all(option.help for option in options_of(command))
    assert 1 <= len(EXAMPLES[command]) <= 3
    for line in EXAMPLES[command]:
        program, name, *args = shlex.split(line)
        assert (program, name) == ("bioeval", command)
        command_found.make_context(name, args)


def test_the_first_sentence_ends_before_the_next_one():
    text = 'One of two. ``"single"``: a template, as :func:`bioeval.open_set` has it.'
    assert first_sentence(text) == "One of two."
    assert first_sentence(text[12:]) == "single: a template, as bioeval.open_set has it."


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_says_what_its_argument_says(command):
    """The option quotes the first sentence of some call: both texts are corrected together."""
    for param in options_of(command):
        calls = described()[str(param.name)].values()
        if param.hidden or param.name in OWN_TEXT.split() or not calls:
            continue
        texts = [first_sentence(x.text).rstrip(".") for x in calls]
        assert any(str(param.help).startswith(x) for x in texts), param.name
        if isinstance(param.type, click.Choice):
            words = {word for x in calls for word in x.words}
            assert {*param.type.choices} <= words | OF_COMMANDS, param.name


def arguments(call: Callable[..., Any]) -> Iterator[str]:
    """The arguments of a function, or of a class and its public methods."""
    calls = [call]
    if inspect.isclass(call):
        methods = inspect.getmembers(call, inspect.isroutine)
        calls += [method for name, method in methods if not name.startswith("_")]
    for function in calls:
        yield from inspect.signature(function).parameters


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_bears_the_name_of_an_argument(command):
    """A message can then name the option."""
    calls = [getattr(be, x) for x in be.__all__ if x[0].islower() and callable(getattr(be, x))]
    calls += [be.partition.Experiment] * (command == "run")
    allowed = {name for call in calls for name in arguments(call)} | {*OF_EVERY_COMMAND.split()}
    allowed |= {*inspect.signature(be.stats.IntervalMethod).parameters}
    allowed |= OF_THE_COMMAND.get(command, set())
    options = {param.name.removesuffix("_b") for param in options_of(command)}
    assert options >= OF_THE_COMMAND.get(command, set())  # none is listed that has gone
    unknown = sorted(options - allowed)
    assert not unknown, RULE.format(command=command, options=", ".join(unknown))


@pytest.mark.parametrize("name", COMMANDS)
def test_options_left_out_have_their_declared_values(name):
    """A flag is False, and a repeatable option is empty, whatever defaults click has."""
    line = []
    for param in command_of(name).params:
        if param.required:
            word = "far=0.01" if "promise" in (param.name or "") else "1"
            line += [max(param.opts, key=len), word] if isinstance(param, click.Option) else ["x"]
    with command_of(name).make_context(name, line, resilient_parsing=False) as context:
        parsed = dict(context.params)
    for param in options_of(name):
        if param.is_flag:
            assert not isinstance(param.flag_value, str), param.opts
            assert inspect.isfunction(param.callback) or param.default is False
        if param.required or param.name == "help" or param.callback is not None:
            continue
        if param.is_flag:
            assert parsed[param.name] is False, param.name
        elif param.multiple:
            assert not parsed[param.name], param.name


@pytest.mark.parametrize(
    ("command", "argument", "said"),
    [
        ("run", "far_targets", "--far"),
        ("run", "max_rank", "--max-rank"),
        ("run", 'nan="reject"', "--nan reject"),
        ("run", 'columns={"labels": "id"}', "--columns labels=id"),
        ("run", 'columns={"labels": ...}', "--columns labels=NAME"),
        ("run", 'columns={"scores": "my scores"}', "--columns 'scores=my scores'"),
        ("run", "first_index=0", "--lists first_index=0"),
        ("run", "unordered", "--lists unordered"),
        ("run", 'lists={"leave_out_query": True}', "--lists leave_out_query"),
        ("run", 'unmated="skip"', 'unmated = "skip" in a protocol card'),
        ("run", 'gallery_labels="g.csv"', "--gallery g.csv"),
        ("simulate", "session_sd", "--session-sd"),
        ("simulate", "random_state", "--seed"),
        ("simulate", 'layout="pairs"', "--layout pairs"),
        ("gallery-size", 'ties="stable"', "--ties stable"),
        ("zoo", 'threshold="far=0.1"', "--threshold far=0.1"),
        ("compare", "far_targets", "--far"),
        ("threshold", "target", "--target"),
        ("tracking", "mostly_tracked", "--mostly-tracked"),
        ("protocols", "max_rank", "`max_rank`"),
        ("protocols", 'columns={"scores": "D"}', '`columns={"scores": "D"}`'),
        ("run", "bioeval run x", "`bioeval run x`"),
    ],
)
def test_an_argument_is_named_as_the_option(command, argument, said):
    message = command_of(command).in_options(f"x.npz: `{argument}` is wrong; max_rank")
    assert message == f"x.npz: {said} is wrong; max_rank"
