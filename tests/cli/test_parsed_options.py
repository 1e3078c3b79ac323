"""Options have the values that are declared, whatever the version of click does with defaults."""

import inspect

import click
import pytest

from bioeval.cli.lazy_group import COMMANDS, root


def command_of(name: str) -> click.Command:
    found = root.get_command(click.Context(root), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_options_left_out_have_their_declared_values(name, tmp_path):
    """A flag is False, and an option that may be repeated is empty."""
    command = command_of(name)
    line = []
    for param in command.params:
        if param.required:
            word = "far=0.01" if "promise" in (param.name or "") else "1"
            line += [max(param.opts, key=len), word] if isinstance(param, click.Option) else ["x"]
    with command.make_context(name, line, resilient_parsing=False) as context:
        parsed = dict(context.params)
    for param in command.params:
        if not isinstance(param, click.Option) or param.required or param.name == "help":
            continue
        if param.callback is not None:  # which gives the value
            continue
        value = parsed[param.name]
        if param.is_flag:
            assert value is False, param.name
        elif param.multiple:
            assert not value, param.name


def test_no_option_has_a_value_for_a_flag():
    """Versions of click differ in what is left of the default where a flag has its own value."""
    for name in COMMANDS:
        for param in command_of(name).params:
            if isinstance(param, click.Option) and param.is_flag:
                assert not isinstance(param.flag_value, str), f"bioeval {name} {param.opts}"
                assert inspect.isfunction(param.callback) or param.default is False
