"""``bioeval explain-message``: what a message of a result means, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from bioeval.base.errors import nearest_name, wrapped
from bioeval.cli.command import Command, option
from bioeval.cli.console import put, show_json, terminal_width
from bioeval.cli.options import shared_options

# Lines longer than usual would be hard to read, however wide the terminal.
_WIDTHS = 20, 92


@click.command("explain-message", cls=Command)
@click.argument("code", required=False)
@shared_options(terms=True)
@option("--json", "Print one JSON document.", bool, name="as_json")
def command(code: str | None, terms: str, as_json: bool) -> None:
    """Explain the message CODE of a result, or list the codes of all messages."""
    from bioeval.document import catalogue

    messages = catalogue()
    if code is not None and code not in messages:
        raise click.UsageError(
            f"there is no message {code!r}; expected one of those that bioeval explain-message "
            f"lists.{nearest_name(code, messages)}"
        )
    if as_json:
        listed = [_data(x, terms) for x in messages]
        show_json(listed if code is None else _data(code, terms))
        return
    width = max(_WIDTHS[0], min(terminal_width(), _WIDTHS[1]))
    lines = list(_listed(terms, width) if code is None else _explained(code, terms, width))
    put("\n".join(lines) + "\n")


def _data(code: str, terms: str) -> dict[str, Any]:
    """Return the page of a message as data."""
    from bioeval.document import catalogue, page_of
    from bioeval.views.writers.lines import Lines

    entry, lines = catalogue()[code], Lines(terms)
    page = {name: lines.write(text) for name, text in page_of(entry)._asdict().items()}
    arguments = dict(entry.example or {})
    return {"code": code, "severity": entry.severity, **page, "arguments": arguments}


def _explained(code: str, terms: str, width: int) -> Iterator[str]:
    """Yield the lines that explain a message."""
    page = _data(code, terms)
    yield f"{code} ({page['severity']})"
    for title, text in (
        ("For example", page["example"]),
        ("What it means", page["meaning"]),
        ("What to do", page["remedy"]),
    ):
        yield ""
        yield title
        yield from wrapped(f"  {text}", width)


def _listed(terms: str, width: int) -> Iterator[str]:
    """Yield the code of each message with its example, and how one is explained."""
    from bioeval.document import catalogue

    for code in catalogue():
        yield code
        yield from wrapped(f"  {_data(code, terms)['example']}", width)
    yield ""
    yield from wrapped("bioeval explain-message CODE says what one means, and what to do", width)
