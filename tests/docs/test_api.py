"""The page of the Python package names what is public, and the site describes every variable."""

import re
import runpy

from pages import ROOT

import bioeval as be


def test_every_public_name_is_on_the_page_and_no_other():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\bbe\.(\w+)", text))
    assert named == {name for name in be.__all__ if not name.startswith("__")}


def test_the_site_has_a_table_of_every_variable():
    page = runpy.run_path(str(ROOT / "docs" / "_extensions" / "variables.py"))["variables_page"]()
    for task in (be.verification, be.open_set, be.closed_set):
        names = {str(x).removesuffix("_low").removesuffix("_high") for x in task(be.simulate(5, 3))}
        assert not [x for x in names if f"| `{x}` |" not in page and f"`{x}_low`" not in page]
