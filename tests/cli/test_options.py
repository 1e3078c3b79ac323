"""Options and arguments: one meaning in all calls, one name, one text, and the declared values."""

import functools
import inspect
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from commands import COMMANDS, EXAMPLES, command_of, options_of

import bioeval as be
from bioeval.base.kinds import Kind
from bioeval.cli.signatures import Argument, arguments_of
from bioeval.protocol.tasks import Ties

#: What has no arguments of scores or results.
OTHERS = ("Protocol", "Measure", "eer_scorer", "set_options")

#: Whose words to choose from are those of each call.
OF_THE_CALL = {"method", "cmc", "interval"}

#: Words to choose from that no signature lists.
OF_COMMANDS = {"none", "sequence-jackknife", "unseen", "seen", "all"}

#: Options with a text of their own, where the command takes less than the call, or something else.
OWN_TEXT = """
    folds fusion interval name names per_query probe rank_unit repeats system target templates
    train unenrolled verbose
"""

#: Where a command prints and writes, and on what it runs: options that no call has.
OF_EVERY_COMMAND = """
    as_json fail_if force images_root latex markdown memory_limit name no_auc out
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
def described() -> dict[str, dict[str, Argument]]:
    """Map each argument of public calls to the calls that have it."""
    by_option: dict[str, dict[str, Argument]] = defaultdict(dict)
    for call in (*be.__all__, *OF_SUBMODULES):
        public = functools.reduce(getattr, call.split("."), be)
        if callable(public) and call not in OTHERS and not call.endswith(("Error", "Warning")):
            for name, argument in arguments_of(call).items():
                by_option[name][call] = argument
    return by_option


OF_SUBMODULES = ("stats.IntervalMethod", "datasets.faces")


def shared() -> dict[str, list[Argument]]:
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
        types = {frozenset(x.kinds[1]) for x in calls if x.kinds[1]}
        assert len(types) <= 1 or name == "interval", (name, types)
        if name not in OF_THE_CALL:
            words = [set(x.kinds[0]) for x in calls]
            assert all(x <= max(words, key=len) for x in words), name


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


def test_an_argument_is_read_as_python_has_it():
    """Defaults and words of the source are those of the signature, and of its annotations."""
    read = 0
    for call in filter(str.islower, be.__all__):
        public = getattr(be, call)
        signature = inspect.signature(public).parameters if inspect.isfunction(public) else {}
        for name, argument in arguments_of(call).items() if signature else ():
            default = signature[name].default if name in signature else None
            assert argument.default in (None, default), (call, name)
            read += argument.default is not None
    assert read > 50
    assert arguments_of("gallery_size")["ties"].kinds == (get_args(Ties), set())
    assert arguments_of("load")["kind"].kinds == (get_args(Kind), set())
    assert arguments_of("zoo")["quantile"].kinds == ((), {"float"})
    assert arguments_of("simulate")["wolf_sd"].stated == "0"
    with pytest.raises(LookupError, match="no public call zooo"):
        arguments_of("zooo")


def test_the_first_sentence_ends_before_the_next_one():
    text = 'One of two. ``"single"``: a template, as :func:`bioeval.open_set` has it.'
    argument = Argument(text, "", None, None, Path())
    assert argument.first_sentence == "One of two."
    argument = argument._replace(text=text[12:])
    assert argument.first_sentence == "single: a template, as bioeval.open_set has it."


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_says_what_its_argument_says(command):
    """The option quotes the first sentence of some call: both texts are corrected together."""
    for param in options_of(command):
        calls = described()[str(param.name)].values()
        if param.hidden or param.name in OWN_TEXT.split() or not calls:
            continue
        texts = [x.first_sentence.rstrip(".") for x in calls]
        assert any(str(param.help).startswith(x) for x in texts), param.name
        if isinstance(param.type, click.Choice):
            words = {word for x in calls for word in x.kinds[0]}
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
        ("simulate", "camera_sd", "--camera-sd"),
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
