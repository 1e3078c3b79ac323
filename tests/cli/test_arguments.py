"""An argument means one thing in all calls, and each option is described by a docstring."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import click
import pytest

import bioeval as be
from bioeval.cli.calls import Parameter, first_sentence, parameters
from bioeval.cli.lazy_group import COMMANDS, root

ROOT = Path(__file__).parents[2]

#: What has no arguments of scores or results.
OTHERS = ("Protocol", "Measure", "eer_scorer", "set_options")

#: Whose words to choose from are those of each call.
OF_THE_CALL = {"method", "cmc", "interval"}


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
