"""An option bears the name of the library's argument, so that a message names the option."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest

import bioeval as be
from bioeval.cli.lazy_group import COMMANDS, root

#: Where a command prints and writes, and on what it runs: options that no call has.
OF_EVERY_COMMAND = {
    *("as_json", "fail_if", "force", "images", "images_root", "latex", "markdown"),
    *("memory_limit", "name"),
    *("no_auc", "out", "plot_formats", "plots", "report", "terms", "worst"),
}

#: What one command does besides its call.
OF_THE_COMMAND = {
    # A Calibrator that is fitted to a set, and the scores of others.
    "calibration": {"calibrate", "save_to", "train"},
    "convert": {"dry_run", "listed"},
    "example": {"components", "people", "system"},  # of faces, which bioeval.datasets has
    "explain": {"steps"},
    "fuse": {"save_to"},
    "gom": {"as_given"},  # not scaled
    "normalise": {"min_dcf", "save_to"},  # what is shown of the scores, and where they are written
    "protocols": {"toml"},
    "report": {"check", "folds", "names", "workload", "zoo"},  # of several calls
    # The option of be.set_options, failure rates, a column of the metadata, and priors of a card.
    "run": {
        "client",
        "fta",
        "fte",
        "min_dcf",
        "single_gallery",
    },
    "threshold": {"promise", "on"},  # other calls
    "tracking": {"targets"},
    "workload": {"task"},
}

RULE = """
bioeval {command}: {options} are no arguments of {calls}.
CONTRIBUTING.md, "Arguments": give each the argument's name, as in
option(..., name="ARGUMENT"). List what the command alone does in OF_THE_COMMAND of
tests/cli/test_option_names.py.
"""


def arguments(call: Callable[..., Any]) -> Iterator[str]:
    """The arguments of a function, or of a class and its public methods."""
    calls = [call]
    if inspect.isclass(call):
        methods = inspect.getmembers(call, inspect.isroutine)
        calls += [method for name, method in methods if not name.startswith("_")]
    for each in calls:
        yield from inspect.signature(each).parameters


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_each_option_bears_the_name_of_an_argument(command):
    calls = {name for name in be.__all__ if name[0].islower() and callable(getattr(be, name))}
    calls.add("Calibrator")
    known = OF_EVERY_COMMAND | OF_THE_COMMAND.get(command, set())
    for call in calls:
        known = known.union(arguments(getattr(be, call)))
    known = known.union(inspect.signature(be.stats.IntervalMethod).parameters)
    if command == "run":
        known = known.union(arguments(be.partition.Experiment))
    params = root.get_command(click.Context(root), command).params
    options = {param.name.removesuffix("_b") for param in params if isinstance(param, click.Option)}
    assert options >= OF_THE_COMMAND.get(command, set())  # none is listed that has gone
    unknown = sorted(options - known)
    assert not unknown, RULE.format(
        command=command, options=", ".join(unknown), calls=", ".join(sorted(calls))
    )
