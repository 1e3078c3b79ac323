"""The registry: what it says of each format holds in the reader, the writer and the documents."""

from __future__ import annotations

import inspect

import pytest
from click.testing import CliRunner

import bioeval as be
from bioeval.cli.commands.convert import command
from bioeval.scores.formats import registry
from bioeval.scores.formats.format import (
    LISTS,
    OPTIONS,
    ReadOptions,
    say,
)


def test_the_options_of_formats_are_those_of_load():
    arguments = {*inspect.signature(be.load).parameters}
    assert {say(name).name.partition(".")[0] for name in OPTIONS} <= arguments
    for form in registry.FORMATS:
        assert set(form.options) < set(OPTIONS)


def test_the_options_of_the_command_are_those_of_load():
    of_command = {option.name for option in command.params}
    assert {*inspect.signature(be.load).parameters} - of_command == {"path", "mask", "format"}


@pytest.mark.parametrize("form", registry.FORMATS, ids=lambda form: form.name)
def test_options_that_a_format_does_not_have(tmp_path, form):
    """An option outside the registered ones is refused, before the file is read."""
    for name in set(OPTIONS) - set(form.options):
        argument, _, key = name.partition(".")
        given = {name: {"camera": "x"} if name == "meta" else 1}
        if key:
            given = {"columns": {key: "x"}} if argument == "columns" else {LISTS[key]: 1}
        with pytest.raises(be.DataError, match="has no meaning for") as caught:
            ReadOptions(**given).allow(form.expected, form.options)
        assert caught.value.arguments[0] == ("columns.camera" if name == "meta" else say(name).name)


def test_the_help_names_what_can_be_written():
    text = " ".join(CliRunner().invoke(command, ["--help-all"]).output.split())
    for form in registry.written_formats():
        assert f"{form.suffixes[0]} ({form.written})" in text
