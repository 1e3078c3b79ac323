"""How a command is declared: its options, their headings, its help.

A command is a function with options::

    @option("--width W", "width of a table", int, 80)
    @option_group(option("--seed N", "seed", int, name="random_state"), heading="Intervals")
    def table_command(width, random_state): ...

``bioeval table --help`` describes the options of this command alone, and names those under a
heading of :data:`SHARED`; ``--help-all`` describes all. A message of the library about
``random_state=3``, in backquotes, is printed as one about ``--seed 3``.
"""

from __future__ import annotations

import functools
import re
import shlex
import textwrap
from collections.abc import Callable, Sequence
from inspect import cleandoc
from typing import Any, TypeVar

import click

from bioeval.base.errors import NAMED, BioevalError
from bioeval.cli.console import put

F = TypeVar("F", bound=Callable[..., Any])

#: Arguments of the library that a protocol card sets, where a command has no option for them.
CARD_ARGUMENTS = (
    *("ties", "impostors", "rank_unit", "fusion", "unmated"),
    *("too_few", "enrolled", "validation", "unseen", "probe_templates"),
)

#: An empty line before lines that are indented: click would fill a paragraph without a mark.
_INDENTED = re.compile(r"\n\n(?=[^\n]*\n  )")

#: The value of an argument that is an entry of a mapping.
_ENTRY = re.compile(r'\{"(\w+)": (.*)\}')

#: Headings of options that several commands share, in the order of the help.
SHARED = ("System in use", "Intervals", "Output", "Reading", "Size and speed")

#: Heading of the options without one.
_UNGROUPED = "Options"

#: The longest option, with its words to choose from, that has these words in its own column of the
#: help; the words of a longer one are in its description.
_WIDEST_OPTION = 20

#: Key of ``Context.meta``: whether the help describes every option (``--help-all``).
_SHOWS_ALL = __name__


def by_heading(
    params: Sequence[click.Parameter], ctx: click.Context
) -> dict[str, list[tuple[str, str]]]:
    """Return the help of options, pairs of usage and description, by heading.

    The headings of the command alone come first, then those of :data:`SHARED`.
    """
    options_by_heading: dict[str, list[tuple[str, str]]] = {_UNGROUPED: []}
    for param in params:
        if not isinstance(param, click.Option):
            continue
        usage_and_text = param.get_help_record(ctx)
        if usage_and_text is None:  # a hidden option
            continue
        heading = getattr(param, "heading", "") or _UNGROUPED
        options_by_heading.setdefault(heading, []).append(usage_and_text)
    own = [heading for heading in options_by_heading if heading not in SHARED]
    shared = [heading for heading in SHARED if heading in options_by_heading]
    return {heading: options_by_heading[heading] for heading in (*own, *shared)}


def _show_all(ctx: click.Context, param: click.Parameter, is_requested: bool) -> None:
    if is_requested:
        ctx.meta[_SHOWS_ALL] = True
        put(f"{ctx.get_help()}\n")
        ctx.exit()


class Command(click.Command):
    """A command whose help is its docstring, and whose errors name its options.

    The paragraphs of the docstring are what the command does, its examples, and details. The name
    of each parameter is that of the library's argument, so that a message about the argument is one
    about the option.
    """

    def __init__(self, name: str | None, help: str | None = None, **settings: Any):
        summary, examples, *details = cleandoc(help or "\n\n").split("\n\n")
        self.examples = examples.splitlines()
        epilog = _INDENTED.sub("\n\n\b\n", "\n\n" + "\n\n".join(details)).strip("\n")
        super().__init__(name, help=summary, epilog=epilog, **settings)

    def in_options(self, text: str) -> str:
        """Return a message with the command's options for arguments of the library in backquotes.

        ``nan="reject"`` is ``--nan reject``, and ``columns={"scores": "D"}``, an entry of a
        mapping, ``--columns scores=D``. One for which the command has no option stays as it is.
        """
        return NAMED.sub(self._option_of, text)

    @functools.cached_property
    def _options(self) -> dict[str | None, click.Option]:
        """The options by the name of their argument."""
        return {param.name: param for param in self.params if isinstance(param, click.Option)}

    def _option_of(self, match: re.Match[str]) -> str:
        """Return the option for a match of :data:`NAMED`, or the matched text if there is none."""
        from bioeval.scores.formats.roles import LOAD_NAMES

        in_backquotes, name, value_of_argument = match[0], match[1], match[2]
        # Arguments of other calls, such as `first_index`, are entries of mappings of `load`:
        # `lists.first_index`. Only commands that read scores have these mappings.
        if name not in self._options and "lists" in self._options:
            name = LOAD_NAMES.get(name, name)
        name, _, key = name.partition(".")
        value = value_of_argument or ""
        entry = _ENTRY.fullmatch(value)
        if entry:
            key, value = entry.groups()
        value = value.strip('"')

        option = self._options.get(name)
        if option is None:
            if value and name in CARD_ARGUMENTS:
                return f"{name} = {value_of_argument} in a protocol card"
            return in_backquotes
        option_name = _longest_name(option)
        if option.is_flag and not key and value == "True":
            return option_name
        if key:
            has_value = value not in ("", "...", "True")  # `lists={"unordered": True}` has none
            if name == "columns" and not has_value:  # `columns={"labels": ...}`
                value = "NAME"
                has_value = True
            value = f"{key}={value}" if has_value else key
        if not value:
            return option_name
        return f"{option_name} {shlex.quote(value)}"

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the summary of the command, and its examples."""
        super().format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")

    def make_parser(self, ctx: click.Context) -> Any:
        """Return the parser of click with an error for an option that is given twice.

        Click itself would silently take the last value.
        """
        parser: Any = super().make_parser(ctx)
        parse_by_click = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            values, arguments, params_in_order = parse_by_click(args)
            for param in params_in_order:
                takes_one_value = isinstance(param, click.Option) and not param.multiple
                # An eager option, such as --help, ends the command: its number does not matter.
                if not takes_one_value or param.is_eager:
                    continue
                if params_in_order.count(param) > 1:
                    name = _longest_name(param)
                    raise click.UsageError(f"{name} is given twice, and takes one value", ctx)
            return values, arguments, params_in_order

        parser.parse_args = parse_args
        return parser

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; after an error, nothing that options have set stays."""
        try:
            return super().parse_args(ctx, args)
        except BaseException:
            ctx.close()  # click closes a context only after its command has run
            raise

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the command, and the option ``--help-all``."""
        settings: Any = {"is_flag": True, "is_eager": True, "expose_value": False, "hidden": True}
        help_all = click.Option(["--help-all"], default=False, callback=_show_all, **settings)
        return [*super().get_params(ctx), help_all]

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option ``--help``, which needs no line of its own."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.hidden = True
        return option

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the details below the options, or in the short help how to get them."""
        if not ctx.meta.get(_SHOWS_ALL):
            formatter.write_paragraph()
            formatter.write_text(f"{ctx.command_path} --help-all describes every option, and more.")
        elif self.epilog:
            with formatter.section("Details"):
                formatter.write_text(self.epilog)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options with their help, or in the short help only those without a heading.

        The short help gives the names of the others, a line or more for each heading.
        """
        options_by_heading = by_heading(self.get_params(ctx), ctx)
        described = options_by_heading
        if not ctx.meta.get(_SHOWS_ALL):
            described = {_UNGROUPED: options_by_heading.pop(_UNGROUPED)}
        # One width for all headings, so that their descriptions are below each other.
        widths = [len(usage) for options in described.values() for usage, _ in options]
        width = min(_WIDEST_OPTION + 4, max(widths, default=0))
        for heading, options in described.items():
            if options:
                with formatter.section(heading):
                    rows = [(f"{usage:{width}}", text) for usage, text in options]
                    formatter.write_dl(rows, col_max=_WIDEST_OPTION + 6)
        if ctx.meta.get(_SHOWS_ALL):
            return

        formatter.write_paragraph()
        for heading, options in options_by_heading.items():
            usages = " ".join(usage for usage, _ in options)
            names = re.findall(r"(?<!\S)--[\w-]+", usages)
            text = textwrap.fill(
                f"{heading}: {' '.join(names)}",
                formatter.width,
                subsequent_indent=" " * len(f"{heading}: "),
                break_on_hyphens=False,
            )
            formatter.write(f"{text}\n")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of the library names the command's options."""
        try:
            return super().invoke(ctx)
        except BioevalError as error:
            raise type(error)(self.in_options(str(error))) from error


def _longest_name(option: click.Parameter) -> str:
    """Return ``--output`` of an option ``-o`` or ``--output``."""
    return max(option.opts, key=len)


def in_options(text: str) -> str:
    """Return a message with the options of the command that runs, for arguments in backquotes."""
    command = click.get_current_context().command
    assert isinstance(command, Command)
    return command.in_options(text)


def option_group(*options: Callable[[F], F], heading: str = "") -> Callable[[F], F]:
    """Return a decorator that gives a command these options, in this order, under a heading."""

    def decorate(command: F) -> F:
        # click keeps the parameters in this attribute, each new one last, until it has all; it
        # shows them in reversed order, as decorators are applied from the last upwards.
        params_before = len(getattr(command, "__click_params__", ()))
        for option in reversed(options):
            command = option(command)
        new_params = getattr(command, "__click_params__", ())[params_before:]
        for param in new_params:
            has_heading = getattr(param, "heading", "")  # that of a group within this group
            if heading and not has_heading:
                param.heading = heading
        return command

    return decorate


class WordChoice(click.Choice):
    """Words to choose from; ``open-set`` is ``open_set``, and the other way round."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the word in its own spelling."""
        words = {str(word).replace("-", "_"): word for word in self.choices}
        word = words.get(str(value).replace("-", "_"), value)
        return super().convert(word, param, ctx)


def option(
    usage: str,
    help: str | None,
    type: Any = None,
    default: Any = None,
    *,
    name: str | None = None,
    **settings: Any,
) -> Callable[[F], F]:
    """Return an option of a command, as ``--width W`` with the word for its value.

    `type` is one of :mod:`bioeval.cli.arguments`, of click or of Python, words to choose from, or
    ``bool`` of an option without a value; `name` is the argument of the library where it is not
    that of the option.
    """
    option, _, metavar = usage.partition(" ")
    if isinstance(type, (list, tuple)):
        type = WordChoice(type)
        width = len(option) + len("|".join(type.choices))
        if metavar or width > _WIDEST_OPTION:
            # `--ties TIES` in place of `--ties [pessimistic|...]`; the description has the words.
            metavar = metavar or option.rpartition("-")[2].upper()
            help = _with_words(help or "", type.choices)
    if type is bool:
        settings |= {"is_flag": True, "default": False}
    else:
        settings |= {"type": type, "metavar": metavar or None}
    if default is not None:
        settings["default"] = default
        if default != "":
            help = f"{help}  [{default}]"
    names = [option] if name is None else [option, name]
    return click.option(*names, help=help, show_default=False, **settings)


def _with_words(help: str, words: Sequence[str]) -> str:
    """Return a description with words to choose from, before remarks ``  [...]`` at its end."""
    text, *remarks = help.split("  [")
    listed = f"{text.rstrip('.')}: {', '.join(words)}."
    return "  [".join([listed, *remarks])
