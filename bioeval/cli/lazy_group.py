"""The command ``bioeval``; subcommands are imported when they are used."""

from __future__ import annotations

import contextlib
import importlib
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import click

from bioeval.base.errors import nearest_name
from bioeval.base.manifest import Subcommand
from bioeval.base.studies import manifests
from bioeval.base.version import __version__

#: The headings of the help, in order; a study may have another one, which comes last.
_HEADINGS = (
    *("Start", "Decide", "Look into", "Attacks", "Plan", "Re-identification and tracking"),
    *("Sites", "Data and cards"),
)

#: The command that prints the help of the others.
HELP_COMMAND = "help"

_CORE_COMMANDS = (
    Subcommand(
        "example",
        "Write scores of real faces that come with bioeval.",
        "Start",
        1,
        "bioeval.cli.example",
    ),
    Subcommand("run", "Evaluate scores or embeddings.", "Start", 3, "bioeval.cli.run"),
    Subcommand(
        "simulate",
        "Simulate scores of a population with known truth.",
        "Data and cards",
        1,
        "bioeval.cli.simulate",
    ),
    Subcommand(
        "convert", "Convert a file to another format.", "Data and cards", 2, "bioeval.cli.convert"
    ),
    Subcommand(
        "info",
        "Print versions, for a report of a fault.",
        "Data and cards",
        4,
        "bioeval.cli.info",
    ),
    Subcommand(
        "protocols",
        "List, explain and check protocol cards.",
        "Data and cards",
        3,
        "bioeval.cli.protocols",
    ),
)


def _headings() -> dict[str, tuple[Subcommand, ...]]:
    """Return the commands of this package and of the studies under the headings of the help."""
    listed = list(_CORE_COMMANDS)
    for study in manifests().values():
        listed += study.commands
    under: dict[str, list[Subcommand]] = {heading: [] for heading in _HEADINGS}
    for command in sorted(listed, key=lambda command: command.place):
        under.setdefault(command.heading, []).append(command)
    return {heading: tuple(x) for heading, x in under.items() if x}


#: The commands under the headings of the help, and all of them by name.
HEADINGS = _headings()
COMMANDS = {x.name: x for x in itertools.chain.from_iterable(HEADINGS.values())}

#: Options that only other commands have, by command, and what does their work.
NOT_OPTIONS: dict[str, Mapping[str, str]] = {
    "run": {
        "--folds": "--protocol course-kfold has 10 folds of subjects. For 5, write [partition] "
        "folds = 5 in a card (bioeval protocols course-kfold --toml > my.toml copies this card), "
        "or give bioeval threshold --folds 5",
        "--threshold": "--target far=X, such as --target far=0.001, chooses with folds or --train",
    }
}
for _study in manifests().values():
    NOT_OPTIONS |= _study.not_options

#: The arguments of the command line, in what the contexts of click share.
COMMAND_LINE = "bioeval.command_line"

#: Endings of files that ``bioeval run`` reads.
DATA = (".npz", ".npy", ".csv", ".mat", ".h5", ".parquet")


class BrokenOutputError(Exception):
    """A broken pipe; not an OS error, since click has its own exit code for those."""


@contextlib.contextmanager
def _closed_pipes() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise BrokenOutputError(error) from error


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports the one that is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return [*COMMANDS, HELP_COMMAND]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        home = "bioeval.cli.command"
        if cmd_name in COMMANDS:
            home = COMMANDS[cmd_name].home
        for member in vars(importlib.import_module(home)).values():
            if isinstance(member, click.Command) and member.name == cmd_name:
                return member
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        if args and args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            listed = ", ".join(COMMANDS)
            near = _command_for(args[0]) or nearest_name(args[0], COMMANDS)
            ctx.fail(f"no command {args[0]!r}; expected one of {listed}.{near}")
        for arg in args[1:]:
            option = arg.partition("=")[0]
            if option in NOT_OPTIONS.get(args[0], ()):
                other = NOT_OPTIONS[args[0]][option]
                ctx.fail(f"{option} is no option of bioeval {args[0]}; {other}")
        return super().resolve_command(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], *more: Any, **options: Any
    ) -> click.Context:
        """Parse the command line, and keep it; ``--help`` is printed here."""
        arguments = list(args)
        with _closed_pipes():
            context = super().make_context(info_name, args, *more, **options)
        context.meta[COMMAND_LINE] = arguments
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _closed_pipes():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their headings, without importing them."""
        widest = max(map(len, COMMANDS))
        for heading, commands in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{x.name:{widest}}", x.does) for x in commands])


def _command_for(word: str) -> str:
    """Return a hint for a file, or a task of a card, in the place of the command."""
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
  bioeval threshold faces-1991.npz --target far=0.01

\b
bioeval help COMMAND prints the help of a command.
bioeval help examples COMMAND prints all its examples.
"""


@click.group(
    help=HELP,
    cls=LazyGroup,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] [ARGS]...",  # which versions of click write in two ways
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    epilog="Exit codes: 0 done, 1 the evaluation failed or its result was not written, "
    "2 wrong usage or bad input, 130 interrupted (Ctrl-C), 141 broken pipe (SIGPIPE), "
    "143 terminated (SIGTERM).",
)
@click.version_option(__version__, message="bioeval %(version)s")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Show the help where no command is given."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
