"""The command ``bioeval``; subcommands are imported when they are used."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from bioeval.base.errors import nearest_name
from bioeval.base.version import __version__

#: The registry: each command, which is ``command`` in the file of its name, and what it does.
COMMANDS = {
    "run": "Evaluate scores or embeddings.",
    "check": "Check data before an evaluation: labels, copies, failures.",
    "explain": "Explain which counters each comparison of a row adds to.",
    "threshold": "Choose a threshold, with the FAR and FRR to expect of it.",
    "compare": "Compare two systems on the same data.",
    "report": "Write an HTML page with curves and a movable threshold.",
    "calibration": "Evaluate log-likelihood ratios: Cllr, costs by prior.",
    "fuse": "Fuse systems, and evaluate them with the fused system.",
    "gom": "Compare systems of open-world re-identification by GOM.",
    "zoo": "Evaluate each subject; test for goats, wolves and lambs.",
    "gallery-size": "Evaluate identification by number of enrolled subjects.",
    "gallery-templates": "Evaluate all tasks by number of templates per subject.",
    "over-time": "Evaluate over time, and by the age of templates.",
    "workload": "Estimate false alarms and rejected people per day.",
    "sample-size": "Find how many subjects and templates a test needs.",
    "plan": "Estimate comparisons, memory and hours of an evaluation.",
    "groups": "Evaluate verification by demographic group.",
    "epc": "Evaluate errors on one set at thresholds of another.",
    "error-discard": "Evaluate errors when samples of low quality are discarded.",
    "vulnerability": "Evaluate how often presentation attacks are accepted.",
    "epsc": "Evaluate errors and accepted attacks at thresholds of another set.",
    "pad": "Evaluate presentation attack detection: APCER, BPCER.",
    "morphing": "Evaluate morphing attacks: MMPMR, attack potential.",
    "conventions": "Find the convention behind a published number.",
    "tracking": "Evaluate tracks: CLEAR MOT, identity measures, HOTA.",
    "tally": "Count at one site, for rates over several sites.",
    "best-mates": "Find the nearest mates in one part of a gallery.",
    "merge": "Merge the counts of several sites, and print the rates.",
    "protocols": "List, explain and check protocol cards.",
    "convert": "Convert a file to another format.",
    "simulate": "Simulate scores of a population with known truth.",
    "example": "Write scores of real faces that come with bioeval.",
}


#: The commands under the headings of the help, in the order in which they are met.
HEADINGS = {
    "Start": ("example", "check", "run", "report"),
    "Decide": ("threshold", "compare", "epc", "calibration", "fuse"),
    "Look into": (
        *("explain", "zoo", "groups", "error-discard", "over-time", "gallery-size"),
        *("gallery-templates", "conventions"),
    ),
    "Attacks": ("vulnerability", "epsc", "pad", "morphing"),
    "Plan": ("workload", "sample-size", "plan"),
    "Re-identification and tracking": ("gom", "tracking"),
    "Sites": ("tally", "best-mates", "merge"),
    "Data and cards": ("simulate", "convert", "protocols"),
}


#: The command that prints the help of the others.
HELP_COMMAND = "help"

#: Commands that are in a file of another name.
SHARED_FILES = {
    HELP_COMMAND: "command",
    "epsc": "epc",
    **dict.fromkeys(("gallery-size", "gallery-templates"), "galleries"),
    **dict.fromkeys(("vulnerability", "pad", "morphing"), "attacks"),
    **dict.fromkeys(("workload", "sample-size", "plan"), "planning"),
    **dict.fromkeys(("tally", "best-mates", "merge"), "sites"),
}

#: Commands that were removed, and what does their work.
REMOVED = {
    "extend": "count all scores again: bioeval tally DATA --out FILE",
    "withdraw": "count the scores that are left again: bioeval tally DATA --out FILE",
}

_NO_PRICE = "the plan gives core hours, and nothing is made smaller to fit"
_NO_WIDTH = "bioeval sample-size plans the width of an interval"
_NO_NOISE = "small counts are left out by --share --min-count N"

#: Options that were removed, by command, and what does their work.
REMOVED_OPTIONS = {
    "plan": {
        **dict.fromkeys(("--price", "--max-hours", "--max-cost"), _NO_PRICE),
        **dict.fromkeys(("--frr", "--icc", "--far", "--far-icc", "--width"), _NO_WIDTH),
        "--recalibrate": "this machine is measured in each run",
    },
    "tally": dict.fromkeys(
        ("--epsilon", "--probes-per-person", "--templates-per-person"), _NO_NOISE
    ),
}

#: Options that only other commands have, by command, and what does their work.
NOT_OPTIONS = {
    "run": {
        "--folds": "--protocol course-kfold has 10 folds of subjects. For 5, write [partition] "
        "folds = 5 in a card (bioeval protocols course-kfold --toml > my.toml copies this card), "
        "or give bioeval threshold --folds 5",
        "--threshold": "--target far=X, such as --target far=0.001, chooses with folds or --train",
    },
    "report": {"--target": "--far X, such as --far 0.001, reports FRR at this FAR"},
    "threshold": {"--far": "--target far=X, such as --target far=0.001, chooses by a FAR"},
    **dict.fromkeys(
        ("zoo", "over-time", "error-discard", "explain"),
        {"--far": "--threshold far=X, such as --threshold far=0.001, chooses by a FAR"},
    ),
}

#: The arguments of the command line, in what the contexts of click share.
COMMAND_LINE = "bioeval.command_line"

#: Endings of files that ``bioeval run`` reads.
DATA = (".npz", ".npy", ".csv", ".mat", ".h5", ".zarr", ".parquet")


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
        file = SHARED_FILES.get(cmd_name, cmd_name.replace("-", "_"))
        found = vars(importlib.import_module(f"bioeval.cli.{file}")).values()
        return next(x for x in found if isinstance(x, click.Command) and x.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        if args and args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            if args[0] in REMOVED:
                ctx.fail(f"the command {args[0]!r} was removed; {REMOVED[args[0]]}")
            listed = ", ".join(COMMANDS)
            near = _command_for(args[0]) or nearest_name(args[0], COMMANDS)
            ctx.fail(f"no command {args[0]!r}; expected one of {listed}.{near}")
        for arg in args[1:]:
            option = arg.partition("=")[0]
            if option in REMOVED_OPTIONS.get(args[0], ()):
                ctx.fail(f"{option} was removed; {REMOVED_OPTIONS[args[0]][option]}")
            if option in NOT_OPTIONS.get(args[0], ()):
                other = NOT_OPTIONS[args[0]][option]
                ctx.fail(f"{option} is no option of bioeval {args[0]}; {other}")
        return super().resolve_command(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], *others: Any, **options: Any
    ) -> click.Context:
        """Parse the command line, and keep it; ``--help`` is printed here."""
        given = list(args)
        with _closed_pipes():
            context = super().make_context(info_name, args, *others, **options)
        context.meta[COMMAND_LINE] = given
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _closed_pipes():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their headings, without importing them."""
        widest = max(map(len, COMMANDS))
        for heading, names in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{x:{widest}}", COMMANDS[x]) for x in names])


def _command_for(word: str) -> str:
    """Return a hint for a file in the place of the command."""
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
