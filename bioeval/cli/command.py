"""How a command is declared: its options, their headings, its help; and ``bioeval help``."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Callable, Sequence
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bioeval.base.errors import BioevalError, Naming
from bioeval.cli.arguments import FilesOption, without_second_files
from bioeval.cli.console import put
from bioeval.cli.examples import EXAMPLES, all_examples, examples_in_help

if TYPE_CHECKING:
    from bioeval.cli.progress import Stages

F = TypeVar("F", bound=Callable[..., Any])

#: Arguments of the library that a protocol card sets, where a command has no option for them.
OF_A_CARD = ("ties", "impostors", "rank_unit", "fusion", "unmated", "unenrolled_claims")

#: An empty line before lines that are indented: click would fill a paragraph without a mark.
_INDENTED = re.compile(r"\n\n(?=[^\n]*\n  )")

#: Options by heading, in the order of the help; other options are what is evaluated.
EVALUATED = "What is evaluated"
HEADINGS: dict[str, Sequence[str]] = {
    EVALUATED: (),
    "Folds and experiments": (
        *("--train", "--validation", "--gallery-quality", "--unseen", "--stratify", "--enrolled"),
        *("--probe-templates", "--too-few", "--repeats", "--folds"),
    ),
    "Uncertainty": ("--interval", "--confidence", "--replicates", "--seed"),
    "Output": (
        *(
            "--out",
            "--force",
            "--plots",
            "--plot-format",
            "--plot-style",
            "--report",
            "--json",
            "--latex",
        ),
        *("--markdown", "--terms", "--name", "--worst", "--images", "--images-root", "--per-query"),
    ),
    "Scores": (
        *("--scores", "--kind", "--nan", "--embeddings", "--gallery-embeddings", "--metric"),
        *("--average", "--mask", "--indices", "--first-index", "--format", "--as"),
    ),
    "Labels and metadata": (
        *("--labels", "--gallery-labels", "--meta", "--exclude"),
        *("--names-of", "--subject-from", "--session-from"),
    ),
    "Lists": (
        *("--genuine", "--pairs", "--trials", "--impostor", "--missing-pairs", "--keep"),
        "--unordered",
    ),
    "Size and speed": ("--memory", "--cluster", "--no-auc"),
    "Help": ("--help",),
}

#: Options that have another heading in a command.
_OF_COMMAND = {
    "run": {
        "Folds and experiments": (
            *("--train", "--gallery-templates", "--unenrolled", "--repeats", "--target"),
            *("--by", "--claims"),
        )
    }
}


def by_heading(
    command: str, params: Sequence[click.Parameter], ctx: click.Context
) -> dict[str, list[tuple[str, str]]]:
    """Return the lines of a command's options under their headings."""
    place: dict[str, str] = {}
    order: dict[str, int] = {}
    options_of: dict[str, list[click.Option]] = {}
    for heading, options in HEADINGS.items():
        options_of[heading] = []
        place |= dict.fromkeys(options, heading)
        order |= zip(options, itertools.count())
    for heading, options in _OF_COMMAND.get(command, {}).items():
        place |= dict.fromkeys(options, heading)
        order |= zip(options, itertools.count(-len(options)))  # before others
    for param in params:
        if isinstance(param, click.Option):
            options_of[place.get(_long(param), EVALUATED)].append(param)
    listed = {}
    for heading, under in options_of.items():
        under.sort(key=lambda option: order.get(_long(option), len(order)))
        records = (option.get_help_record(ctx) for option in under)
        if lines := list(filter(None, records)):  # a hidden option has none
            listed[heading] = lines
    every = list(itertools.chain.from_iterable(listed.values()))
    if len(every) <= _FEW:  # a command of few options has one heading
        return {"Options": every}
    return listed


def _long(option: click.Parameter) -> str:
    """Return the long name of an option."""
    return max(option.opts, key=len)


_FEW = 12


class Command(click.Command):
    """A command whose help is its docstring, and whose errors name its options.

    The first paragraph of the docstring comes before the examples and options, the others after.

    The name of each parameter is that of the library's argument, so that a message about the
    argument is one about the option.
    """

    def __init__(self, name: str | None, help: str | None = None, **settings: Any):
        summary, _, details = cleandoc(help or "").partition("\n\n")
        details = _INDENTED.sub("\n\n\b\n", f"\n\n{details}").strip("\n")
        super().__init__(name, help=summary, epilog=details, **settings)

    def naming(self) -> Naming:
        """Return the function that writes an argument of the library as the command's option.

        An argument in ``_key``, the name of an array, has the option without the ending: one
        option takes a file or an array.
        """
        options = {}
        for param in self.params:
            if isinstance(param, click.Option):
                options[param.name] = _long(param)

        def named(name: str, value: str | None) -> str:
            """Write an argument, and its value if any."""
            option = options.get(name) or options.get(name.removesuffix("_key"))
            if option is None and name in OF_A_CARD and value:
                return f"{name} = {value} in a protocol card"
            if value is None:
                return option or name
            typed = value.strip('"')
            if option is None:
                return f"{name}={value}"
            return f"{option} {shlex.quote(typed)}"

        return named

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of the command line; an option of files takes one or two of them."""
        of_files = {}
        for param in self.params:
            if isinstance(param.type, FilesOption):
                of_files[_long(param)] = param
        words, second_files = without_second_files(args, of_files)
        left = super().parse_args(ctx, words)
        for option, seconds in second_files.items():
            name, files = str(of_files[option].name), ctx.params[str(of_files[option].name)]
            if of_files[option].multiple:
                pairs = zip(files, seconds, strict=True)
                ctx.params[name] = tuple(first + second for first, second in pairs)
            else:  # of several, the last holds
                ctx.params[name] = files + seconds[-1]
        return left

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does, and its most used examples."""
        super().format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            for line in examples_in_help(self.name or ""):
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the details below the options."""
        if self.epilog:
            with formatter.section("Details"):
                formatter.write_text(self.epilog)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, in columns of one width."""
        listed = by_heading(self.name or "", self.get_params(ctx), ctx)
        every = itertools.chain.from_iterable(listed.values())
        widest = min(30, max(len(name) for name, _ in every))
        for heading, lines in listed.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{widest}}", text) for name, text in lines])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of the library names the command's options."""
        try:
            return super().invoke(ctx)
        except BioevalError as error:
            raise type(error)(error.message(self.naming())) from error


def naming() -> Naming:
    """Return the function that writes an argument as an option of the command that runs."""
    command = click.get_current_context().command
    assert isinstance(command, Command)
    return command.naming()


def option_group(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that gives a command these options, in this order."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class Words(click.Choice):
    """Words to choose from; ``open-set`` is ``open_set``, and the other way round."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the word in its own spelling."""
        known = {str(word).replace("-", "_"): word for word in self.choices}
        return super().convert(known.get(str(value).replace("-", "_"), value), param, ctx)


def option(
    usage: str,
    help: str | None,
    type: Any = None,
    default: Any = None,
    *,
    name: str | None = None,
    **more: Any,
) -> Callable[[F], F]:
    """Return an option of a command, as ``--width W`` with the word for its value.

    `type` is one of :mod:`bioeval.cli.arguments`, of click or of Python, words to choose from, or
    ``bool`` of an option without a value; `name` is the argument of the library where it is not
    that of the option.
    """
    option, _, metavar = usage.partition(" ")
    names = [option]
    if name is not None:
        names.append(name)
    if isinstance(type, (list, tuple)):
        type = Words(type)
    if type is bool:
        more |= {"is_flag": True, "default": False}
    else:
        more |= {"type": type, "metavar": metavar or None}
    if default is not None:
        more["default"] = default
    return click.option(*names, help=help, **more)


def progress_shown() -> Stages:
    """Return the display of a command's stages, imported late: rich takes a while to load."""
    from bioeval.cli.progress import Stages

    return Stages()


@click.command("help", cls=Command)
@click.argument("words", nargs=-1, metavar="[examples] [COMMAND]")
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Print the help of a command; with `examples`, all its examples.

    Without a command, `bioeval help` prints the list of commands, and `bioeval help examples` the
    number of examples of each.
    """
    examples = words[:1] == ("examples",)
    names = words[examples:]  # without that word
    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    if len(names) > 1:
        raise click.UsageError(f"expected one command, not {len(names)}: {' '.join(names)}")
    if not names:
        put(f"{_counts() if examples else root.get_help()}\n")
        return
    _, asked, _ = root.command.resolve_command(root, [*names])
    assert asked is not None
    if examples and names[0] not in EXAMPLES:
        raise click.UsageError(f"{names[0]!r} has no other examples than those of its help")
    inner = click.Context(asked, info_name=names[0], parent=root)
    put(f"{all_examples(names[0]) if examples else asked.get_help(inner)}\n")


def _counts() -> str:
    """Return the commands with their numbers of examples."""
    lines = [f"  {name:17} {len(examples):2}" for name, examples in EXAMPLES.items()]
    head = "Numbers of examples; bioeval help examples COMMAND prints them:"
    return "\n".join([head, *lines])
