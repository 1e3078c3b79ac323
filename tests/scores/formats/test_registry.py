"""What is said of formats holds in the reader, the writer and the documents."""

import inspect

from click.testing import CliRunner

import bioeval as be
from bioeval.cli.commands.convert import convert_command
from bioeval.scores.formats.writing import WRITTEN


def test_the_options_of_the_command_are_those_of_load():
    of_command = {option.name for option in convert_command.params}
    assert {*inspect.signature(be.load).parameters} - of_command == {"path", "format"}


def test_the_help_names_what_can_be_written():
    text = " ".join(CliRunner().invoke(convert_command, ["--help-all"]).output.split())
    for form in WRITTEN:
        assert f"{form.endings[0]} ({form.what})" in text
