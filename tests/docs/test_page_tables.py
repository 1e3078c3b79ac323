"""Tables of pages that the code has are those of the code."""

from __future__ import annotations

import page_tables
import pytest
from pages import ROOT

import bioeval as be


@pytest.mark.parametrize("name", ["variables.md", "api.md", "install.md"])
def test_tables_are_those_of_the_code(name):
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert page_tables.filled(page) == page, "run: .venv/bin/python scripts/page_tables.py"
    assert "{eval-rst}" not in page, "tables are filled below <!-- variables: X -->"


def test_every_public_name_is_on_the_page_of_calls():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    known = [name for name in be.__all__ if callable(getattr(be, name))]
    assert [name for name in known if f"| `be.{name}` |" not in page] == []
