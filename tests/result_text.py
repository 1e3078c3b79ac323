"""Results as the plain text that ``be.show`` prints."""

import contextlib
import io
from typing import Any

import pytest

import bioeval as be
from bioeval.showing.text import Section


def as_text(results: Any, width: int = 100, **options: Any) -> str:
    """Return the output of a script in a terminal of some width."""
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(stream):
        patch.setenv("COLUMNS", str(width))
        be.show(results, **options)
    return stream.getvalue()


def blocks_of(section: Section, kind: type) -> list[Any]:
    """Return the blocks of a kind in a document, in order."""
    found: list[Any] = []
    for block in section.blocks:
        found += [block] * isinstance(block, kind)
        if isinstance(block, Section):
            found += blocks_of(block, kind)
    return found
