"""How a command is declared: its options, their headings, its help."""

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
OF_A_CARD = (
    *("ties", "impostors", "rank_unit", "fusion", "unmated"),
    *("too_few", "enrolled", "validation", "unseen", "probe_templates"),
)

#: An empty line before lines that are indented: click would fill a paragraph without a mark.
_INDENTED = re.compile(r"\n\n(?=[^\n]*\n  )")

#: The value of an argument that is an entry of a mapping.
_ENTRY = re.compile(r'\{"(\w+)": (.*)\}')

#: Headings of options that several commands share, after those of a command alone.
SHARED = ("System in use", "Intervals", "Output", "Reading", "Size and speed")


def by_heading(
    params: Sequence[click.Parameter], ctx: click.Context
) -> dict[str, list[tuple[str, str]]]:
    """Return the help lines of options by heading; the headings of one command alone come first."""
    listed: dict[str, list[tuple[str, str]]] = {"Options": []}
    for param in params:
        if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
            listed.setdefault(getattr(param, "heading", "") or "Options", []).append(record)
    return dict(sorted(listed.items(), key=lambda x: SHARED.index(x[0]) if x[0] in SHARED else -1))


def _show_all(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        ctx.meta[__name__] = True
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
    def _options(self) -> dict[str | None, str]:
        return {x.name: max(x.opts, key=len) for x in self.params if isinstance(x, click.Option)}

    def _option_of(self, match: re.Match[str]) -> str:
        from bioeval.scores.formats.roles import LOAD_NAMES

        name, value = match[1], match[2] or ""
        # Arguments of other calls, such as `first_index`, are entries of mappings of `load`.
        if name not in self._options and "lists" in self._options:
            name = LOAD_NAMES.get(name, name)
        name, _, key = name.partition(".")
        if entry := _ENTRY.fullmatch(value):
            key, value = entry.groups()
        option, value = self._options.get(name), value.strip('"')
        if option is None:  # perhaps a card has a field of this name
            of_card = value and name in OF_A_CARD
            return f"{name} = {match[2]} in a protocol card" if of_card else match[0]
        if key and value in ("", "...", "True"):  # an entry without a value of its own
            value = f"{key}=NAME" if name == "columns" else key
        elif key:
            value = f"{key}={value}"
        flags = {x.name for x in self.params if isinstance(x, click.Option) and x.is_flag}
        if value == "True" and name in flags:  # an option without a value
            return option
        return f"{option} {shlex.quote(value)}" if value else option

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the summary of the command, and its examples."""
        super().format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")

    def make_parser(self, ctx: click.Context) -> Any:
        """Return the parser of click, which would take the last of two values without a word."""
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            *parsed, order = parse(args)
            for param in order:
                is_single = isinstance(param, click.Option) and not param.multiple
                if is_single and not param.is_eager and order.count(param) > 1:
                    name = max(param.opts, key=len)
                    raise click.UsageError(f"{name} is given twice, and takes one value", ctx)
            return (*parsed, order)

        parser.parse_args = parse_args
        return parser

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the command, and the option ``--help-all``."""
        settings: Any = {"is_flag": True, "is_eager": True, "expose_value": False, "hidden": True}
        in_full = click.Option(["--help-all"], default=False, callback=_show_all, **settings)
        return [*super().get_params(ctx), in_full]

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option ``--help``, which needs no line of its own."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.hidden = True
        return option

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the details below the options, in full, or where they are."""
        if not ctx.meta.get(__name__):
            formatter.write_paragraph()
            formatter.write_text(f"{ctx.command_path} --help-all describes every option, and more.")
        elif self.epilog:
            with formatter.section("Details"):
                formatter.write_text(self.epilog)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options with their help, and the names of its shared options."""
        listed = by_heading(self.get_params(ctx), ctx)
        described = listed if ctx.meta.get(__name__) else {"Options": listed.pop("Options")}
        names = [name for lines in described.values() for name, _ in lines]
        widest = min(_WIDE + 4, max(map(len, names), default=0))
        for heading, lines in described.items():
            if lines:
                with formatter.section(heading):
                    rows = [(f"{name:{widest}}", text) for name, text in lines]
                    formatter.write_dl(rows, col_max=_WIDE + 6)
        if described is listed:
            return
        formatter.write_paragraph()
        for heading, lines in listed.items():
            words = re.findall(r"(?<!\S)--[\w-]+", " ".join(name for name, _ in lines))
            indent = " " * (len(heading) + 2)
            text = f"{heading}: {' '.join(words)}"
            settings: Any = {"subsequent_indent": indent, "break_on_hyphens": False}
            formatter.write(textwrap.fill(text, formatter.width, **settings) + "\n")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of the library names the command's options."""
        try:
            return super().invoke(ctx)
        except BioevalError as error:
            raise type(error)(self.in_options(str(error))) from error


def in_options(text: str) -> str:
    """Return a message with the options of the command that runs, for arguments in backquotes."""
    command = click.get_current_context().command
    assert isinstance(command, Command)
    return command.in_options(text)


def option_group(*options: Callable[[F], F], heading: str = "") -> Callable[[F], F]:
    """Return a decorator that gives a command these options, in this order, under a heading."""

    def decorate(command: F) -> F:
        before = len(getattr(command, "__click_params__", ()))
        for option in reversed(options):
            command = option(command)
        for param in getattr(command, "__click_params__", ())[before:]:
            if heading and not getattr(param, "heading", ""):
                param.heading = heading
        return command

    return decorate


class WordChoice(click.Choice):
    """Words to choose from; ``open-set`` is ``open_set``, and the other way round."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the word in its own spelling."""
        words = {str(word).replace("-", "_"): word for word in self.choices}
        return super().convert(words.get(str(value).replace("-", "_"), value), param, ctx)


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
    names = [option]
    if name is not None:
        names.append(name)
    if isinstance(type, (list, tuple)):
        type = WordChoice(type)
        if metavar or len(option) + len("|".join(type.choices)) > _WIDE:
            metavar = metavar or option.rpartition("-")[2].upper()
            text, *ending = (help or "").split("  [")
            listed = f"{text.rstrip('.')}: {', '.join(type.choices)}."
            help = "  [".join([listed, *ending])
    if type is bool:
        settings |= {"is_flag": True, "default": False}
    else:
        settings |= {"type": type, "metavar": metavar or None}
    if default is not None:
        settings["default"] = default
        if default != "":
            help = f"{help}  [{default}]"
    return click.option(*names, help=help, show_default=False, **settings)


#: Characters of an option with the words to choose from; longer ones have these in their help.
_WIDE = 20
