"""A small panel of HTML: how an object shows itself in a notebook.

Text is escaped, nothing is loaded, and colours are those of the page, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from bioeval.base.errors import printable

_BOX = (
    "display:inline-block;max-width:100%;overflow-x:auto;padding:0.5em 0.9em;margin:0.2em 0;"
    "border:1px solid rgba(128,128,128,0.5);border-radius:4px;color:inherit;line-height:1.4"
)
_ROW = "text-align:left;vertical-align:top;padding:0.05em 0.9em 0.05em 0;border:none"
_PLAIN = "background:transparent;color:inherit"


def panel(title: str, rows: Iterable[tuple[str, str]], more: str = "") -> str:
    """Return a panel with a title and named lines, as HTML; `more` is HTML below them.

    Examples
    --------
    >>> "&lt;b&gt;" in panel("Scores", [("system", "<b>")])
    True
    """
    lines = ""
    for name, text in rows:
        if text:
            lines += (
                f'<tr style="{_PLAIN}"><th scope="row" style="{_ROW};font-weight:normal;'
                f'opacity:0.75">{safe(name)}</th><td style="{_ROW}">{safe(text)}</td></tr>'
            )
    return (
        f'<div style="{_BOX}"><strong>{safe(title)}</strong>'
        f'<table style="{_PLAIN};border-collapse:collapse;margin:0.2em 0 0 0">{lines}</table>'
        f"{more}</div>"
    )


def safe(text: str) -> str:
    """Return text escaped for HTML, its line ends kept."""
    return escape(printable(text)).replace("\n", "<br>")
