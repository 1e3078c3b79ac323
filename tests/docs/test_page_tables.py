"""Tables of pages that the code has are those of the code."""

from __future__ import annotations

import pydoc
import re
from pathlib import Path

import page_tables
import pytest
from pages import ROOT

import bioeval as be
from bioeval.base.studies import manifests
from bioeval.views.plots.registry import PLOTS


@pytest.mark.parametrize("name", page_tables.PAGES)
def test_tables_are_those_of_the_code(name):
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert page_tables.filled(page) == page, (
        f"the tables of docs/{name} are not those of the code. CONTRIBUTING.md, 'Rules', Pages: "
        "run .venv/bin/python scripts/page_tables.py"
    )
    assert "{eval-rst}" not in page, "tables are filled below <!-- variables: X -->"


def test_every_public_name_is_on_the_page_of_calls():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    known = [name for name in be.__all__ if callable(getattr(be, name))]
    missing = [name for name in known if f"| `be.{name}` |" not in page]
    assert not missing, (
        f"docs/api.md lacks {missing}. CONTRIBUTING.md, 'Rules', Pages: run "
        ".venv/bin/python scripts/page_tables.py, or add a row for a call of the core."
    )


@pytest.mark.all_studies
def test_the_help_of_the_package_is_a_page_with_every_public_name():
    source = Path(be.__file__).read_text(encoding="utf-8")
    assert page_tables.with_help(source) == source, "run .venv/bin/python scripts/page_tables.py"
    text = pydoc.plain(pydoc.render_doc(be))
    assert len(text.splitlines()) <= 160
    for name in {*be.__all__, *dir(be)} - {"__version__"}:
        assert re.search(rf"(?<![.\w]){name}\b", text), name


@pytest.mark.all_studies
def test_the_help_of_the_plots_is_a_page_with_a_line_for_each():
    source = Path(be.plot.__file__).read_text(encoding="utf-8")
    changed = page_tables.with_plot_help(source) != source
    assert not changed, "run .venv/bin/python scripts/page_tables.py"
    text = pydoc.plain(pydoc.render_doc(be.plot))
    assert len(text.splitlines()) <= 100
    for name in {*PLOTS, "style", "save", "save_all"}:
        assert re.search(rf"^ *(\|  )?{name}  +\w", text, re.MULTILINE), name


@pytest.mark.all_studies
@pytest.mark.parametrize("name", ["api.md", "plots.md", "variables.md"])
def test_a_study_that_is_gone_leaves_no_hole(name, monkeypatch):
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    rest = {name: study for name, study in manifests().items() if name != "zoo"}
    monkeypatch.setattr(page_tables, "manifests", lambda: rest)
    left = page_tables.filled(page)
    gone = re.compile(r"be\.(plot\.)?zoo\b|studies\.zoo\.")
    assert gone.search(page) and not gone.search(left)
    assert all(f"# {heading}\n" in left for heading in ("Decide", "Look into", "Attacks"))
    monkeypatch.setattr(page_tables, "manifests", dict)
    assert "Look into" not in page_tables.filled(page)


@pytest.mark.all_studies
def test_messages_of_a_study_that_is_gone_are_not_on_their_page(monkeypatch):
    page = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    rest = {name: study for name, study in manifests().items() if name != "zoo"}
    monkeypatch.setattr(page_tables, "manifests", lambda: rest)
    assert "### too-few-halves\n" in page
    left = page_tables.filled(page)
    assert "### too-few-halves\n" not in left and "### too-few-people\n" in left


def test_every_study_has_a_heading():
    assert "" not in page_tables.studies_by_heading()


def test_every_plot_is_in_the_gallery():
    page = (ROOT / "docs" / "plots.md").read_text(encoding="utf-8")
    missing = [name for name in PLOTS if f"be.plot.{name}(" not in page]
    assert not missing, (
        f"docs/plots.md lacks {missing}. CONTRIBUTING.md, 'Rules', Pages: add a cell that draws "
        "each plot to the gallery."
    )


def test_a_new_mark_gets_its_table_at_once():
    page = "### Zoo\n\n<!-- variables: studies.zoo.results.ZOO -->\n\n### Next\n"
    once = page_tables.filled(page)
    assert "-->\n\n|" in once and "|\n\n### Next\n" in once
    assert page_tables.filled(once) == once
