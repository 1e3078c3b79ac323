"""The command ``bioeval``, and its commands under the headings of ``bioeval --help``.

A command ``x-y`` is the function ``x_y_command`` of the file ``x_y.py``, or of one of `FILES`, and
is imported when it is used.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Iterator
from typing import Any

import click

from bioeval.base.errors import nearest_name
from bioeval.base.version import __version__
from bioeval.cli.command import Command

#: What each command does, by heading.
HEADINGS = {
    "Begin with": {
        "run": "Evaluate verification, identification, re-identification.",
        "compare": "Compare or rank systems on the same data.",
        "threshold": "Choose a threshold, with the FAR and FRR to expect of it.",
        "report": "Write an HTML page with the rates at a threshold, and curves.",
    },
    "Data and examples": {
        "demo": "Show all of it on two face recognition systems, in half a minute.",
        "example": "Write scores of real faces that come with bioeval.",
        "simulate": "Simulate scores of a population with known truth.",
        "check": "Check data before an evaluation: labels, copies, failures.",
        "convert": "Convert a file to another format.",
        "info": "Print versions, for a report of a fault.",
    },
    "Systems": {
        "fuse": "Fuse systems, and evaluate them with the fused system.",
    },
    "People and causes": {
        "explain": "Explain which counters each comparison of a row adds to.",
        "zoo": "Evaluate each subject; test for goats, wolves and lambs.",
        "groups": "Evaluate verification by group of people, or by condition.",
        "gallery-size": "Evaluate identification by number of enrolled subjects.",
    },
    "Outside the core": {
        "protocols": "List, explain and check protocol cards.",
        "conventions": "Evaluate by every protocol card that fits, one row each.",
        "gom": "Compare systems of open-world re-identification by GOM.",
        "tracking": "Evaluate or compare trackers: CLEAR MOT, IDF1, HOTA.",
    },
}

COMMANDS = {name: does for commands in HEADINGS.values() for name, does in commands.items()}

#: The commands of each file that has several.
FILES = {
    "about": ("demo", "protocols", "info"),
    "data": ("example", "simulate", "check", "convert"),
    "studies": (
        *("explain", "zoo", "groups", "gallery-size", "conventions"),
        *("gom", "tracking"),
    ),
    "systems": ("compare", "fuse"),
}


#: Key of ``Context.meta``, which all contexts of click share, of the arguments of the command line.
COMMAND_LINE = "bioeval.command_line"

#: Endings of files that ``bioeval run`` reads.
DATA = (".npz", ".npy", ".csv", ".mat", ".h5", ".parquet")


class BrokenOutputError(Exception):
    """A broken pipe; not an OS error, since click has its own exit code for those."""


@contextlib.contextmanager
def _with_broken_pipes_as_errors() -> Iterator[None]:
    """Raise a broken pipe as BrokenOutputError, which click does not handle itself."""
    try:
        yield
    except BrokenPipeError as error:
        raise BrokenOutputError(error) from error


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports the one that is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _imported(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an error for an unknown word names the nearest command."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            listed = ", ".join(COMMANDS)
            hint = _hint_for(args[0]) or nearest_name(args[0], COMMANDS)
            ctx.fail(f"no command {args[0]!r}; expected one of {listed}.{hint}")
        return super().resolve_command(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], *more: Any, **options: Any
    ) -> click.Context:
        """Parse the command line, and keep it for the origin of results; print ``--help``."""
        arguments = list(args)
        if args[:1] == ["help"]:  # `bioeval help run` is `bioeval run --help`
            args = [*args[1:], "--help"]
        with _with_broken_pipes_as_errors():
            context = super().make_context(info_name, args, *more, **options)
        context.meta[COMMAND_LINE] = arguments
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _with_broken_pipes_as_errors():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their headings, without importing them."""
        widest = max(map(len, COMMANDS))
        for heading, commands in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{x:{widest}}", commands[x]) for x in commands])


@functools.cache
def _imported(name: str) -> Command:
    function = name.replace("-", "_")
    # A command is in the file of its name, unless FILES lists it under another file.
    file = next((file for file, names in FILES.items() if name in names), function)
    module = importlib.import_module(f"bioeval.cli.commands.{file}")
    return click.command(name, cls=Command)(getattr(module, f"{function}_command"))


def _hint_for(word: str) -> str:
    """Return a hint if a file or a task stands where a command belongs; else an empty text."""
    from pathlib import Path

    if word.replace("-", "_") in ("verification", "open_set", "closed_set", "reid"):
        return (
            f" To evaluate {word}: bioeval run FILE --protocol CARD, with a card that has this "
            "task (bioeval protocols lists the cards)"
        )
    ending = Path(word).suffix.lower()
    if ending == ".toml":
        return f" To see a card: bioeval protocols {word}"
    if ending in DATA or Path(word).is_file():
        return f" To evaluate a file: bioeval run {word}"
    return ""


HELP = """Evaluate biometric recognition: verification, identification, tracking.

\b
Examples:
  bioeval example faces --system eigenfaces --out faces-1991.npz
  bioeval run faces-1991.npz
  bioeval threshold faces-1991.npz --far 0.01

bioeval COMMAND --help prints the help of a command.
"""


@click.group(
    help=HELP,
    cls=LazyGroup,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] [ARGS]...",  # the default of click depends on its version
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    epilog="Exit codes: 0 done, 1 a condition of --fail-if holds, the data have an error or refute "
    "a promise, 2 wrong usage or bad input, 70 the program failed (a fault of its own, no memory, "
    "a result that was not written, a missing package), 130 interrupted (Ctrl-C), 141 broken pipe "
    "(SIGPIPE), 143 terminated (SIGTERM).",
)
@click.version_option(__version__, message="bioeval %(version)s")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Show the help where no command is given."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
