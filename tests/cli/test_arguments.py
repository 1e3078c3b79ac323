"""An argument means one thing in all calls, and each option is described by a docstring."""

import functools
import re
from collections import defaultdict
from pathlib import Path

import click
import pytest
from described import Parameter, first_sentence, parameters

import bioeval as be
from bioeval.cli.lazy_group import COMMANDS, root

ROOT = Path(__file__).parents[2]

#: What has no arguments of scores or results.
OTHERS = ("Protocol", "Measure", "eer_scorer", "set_options")

#: Whose words to choose from are those of each call.
OF_THE_CALL = {"method", "cmc", "interval"}


#: Options with a text of their own, where the command takes less than the call, or something else.
OF_THE_COMMAND = {
    *(
        "cohort",
        "dev",
        "far",
        "folds",
        "frames",
        "fusion",
        "images",
        "n_templates",
        "name",
        "names",
    ),
    *(
        "per_query",
        "probe",
        "protocol",
        "rank_unit",
        "rates",
        "repeats",
        "system",
        "target",
        "task",
    ),
    *("templates", "terms", "threshold", "title", "train", "unenrolled", "verbose", "weights"),
    "worst",
}


def shared() -> dict[str, dict[str, Parameter]]:
    """The arguments of two calls or more, by call."""
    found: dict[str, dict[str, Parameter]] = defaultdict(dict)
    for call in be.__all__:
        thing = getattr(be, call)
        if callable(thing) and call not in OTHERS and not call.endswith(("Error", "Warning")):
            for name, parameter in parameters(call).items():
                found[name][call] = parameter
    return {name: calls for name, calls in found.items() if len(calls) > 1}


def test_the_table_of_arguments_has_those_of_two_calls_or_more():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Arguments\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(shared())


@pytest.mark.parametrize("name", sorted(shared()))
def test_an_argument_has_one_type(name):
    calls = shared()[name].values()
    types = {x.types for x in calls if x.types}
    assert len(types) <= 1 or name == "interval", types
    if name not in OF_THE_CALL:
        widest = max((set(x.words) for x in calls), key=len)
        assert all(set(x.words) <= widest for x in calls)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_on_a_screen(command, monkeypatch):
    """Of 40 lines and 80 columns; that of `run` on two."""
    found = root.get_command(click.Context(root), command)
    ctx = click.Context(found, info_name=f"bioeval {command}", terminal_width=80)
    lines = found.get_help(ctx).splitlines()
    assert len(lines) <= (80 if command == "run" else 40)
    assert not [line for line in lines if len(line) > 80]
    options = [x for x in found.params if isinstance(x, click.Option)]
    assert all(option.help for option in options)


def test_the_first_sentence_ends_before_the_next_one():
    text = 'One of two. ``"single"``: a template, as :func:`bioeval.open_set` has it.'
    assert first_sentence(text) == "One of two."
    assert first_sentence(text[12:]) == "single: a template, as bioeval.open_set has it."


#: Words to choose from that no signature lists.
OF_COMMANDS = {"none", "sequence-jackknife", "unseen", "seen", "all"}


def _of_calls(name: str) -> list[Parameter]:
    """An argument, in each call that has it."""
    found = []
    for call in (*be.__all__, "stats.IntervalMethod", "datasets.faces"):
        thing = functools.reduce(getattr, call.split("."), be)
        if callable(thing) and call not in OTHERS and not call.endswith(("Error", "Warning")):
            found += [x for named, x in parameters(call).items() if named == name]
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_says_what_its_argument_says(command):
    """The first sentence of some call, so that both are corrected together; and its words."""
    for param in root.get_command(click.Context(root), command).params:
        described = _of_calls(str(param.name))
        if not isinstance(param, click.Option) or param.hidden:
            continue
        if param.name not in OF_THE_COMMAND and described:
            texts = [first_sentence(x.text).rstrip(".") for x in described]
            assert any(str(param.help).startswith(x) for x in texts), param.name
            if isinstance(param.type, click.Choice):
                words = {word for x in described for word in x.words}
                assert {*param.type.choices} <= words | OF_COMMANDS, param.name
