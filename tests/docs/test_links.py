"""Pages link to what is there, and name every public name and every variable."""

import re
import runpy
from collections import Counter
from pathlib import Path

import pytest
from pages import PAGES, ROOT, anchors, prose

import bioeval as be


def links(page: Path) -> list[str]:
    text = re.sub(r"`[^`]*`|^    .*$", "", prose(page), flags=re.MULTILINE)
    return re.findall(r"\]\(([^)\s]+)\)", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_have_targets(page):
    wrong = []
    for link in links(page):
        if re.match(r"https?://|mailto:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or not target.is_relative_to(ROOT):
            wrong.append(f"{link}: no such file")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            wrong.append(f"{link}: no such anchor")
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_an_anchor_is_there_once(page):
    anchors = Counter(re.findall(r'<a id="([^"]+)"></a>', prose(page)))
    assert not [anchor for anchor, times in anchors.items() if times > 1]


def test_rules_that_tests_name_are_in_contributing():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sources = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*.py"))
    named = re.findall(r"""CONTRIBUTING\.md, ['"]([\w ]+)['"](?:, ([\w ]+))?:""", sources)
    missing = [x for x in named if f"## {x[0]}\n" not in text or f"**{x[1]}" not in text]
    assert len(named) > 5 and not missing, f"CONTRIBUTING.md lacks {missing}"


def test_files_that_contributing_names_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:bioeval|tests|scripts|docs|\.ci)/[\w./*-]+)[^`]*`", text)
    missing = [path for path in paths if not [*ROOT.glob(path)] and path != "docs/_build/html"]
    assert len(paths) > 40 and not missing, f"CONTRIBUTING.md names {missing}"


def test_the_table_of_naive_implementations_names_each_of_them():
    text = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+\.py)`", text))
    assert {path.name for path in (ROOT / "tests").glob("naive*.py")} <= named
    assert [x for x in named if not (ROOT / "tests" / x).is_file()] == []


@pytest.mark.slow
def test_files_of_the_program_that_pages_name_are_there():
    existing = {path.name for path in ROOT.rglob("*.py") if ".venv" not in path.parts}
    named = {x for page in PAGES for x in re.findall(r"`(?:\w+/)*(\w+\.py)`", prose(page))}
    assert named - existing <= {"my_study.py"}


def test_every_public_name_is_on_the_page_and_no_other():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\bbe\.(\w+)", text))
    assert named == {name for name in be.__all__ if not name.startswith("__")}


def test_the_docstring_of_the_package_lists_every_public_name_once():
    _, _, groups = (be.__doc__ or "").partition("Begin with\n")
    listed = re.findall(r"^    (.+)$", groups, re.MULTILINE)
    names = [name for line in listed for name in line.split()]
    assert sorted(names) == sorted(name for name in be.__all__ if not name.startswith("__"))


def test_the_site_has_a_table_of_every_variable():
    page = runpy.run_path(str(ROOT / "docs" / "_extensions" / "variables.py"))["variables_page"]()
    for task in (be.verification, be.open_set, be.closed_set):
        names = {re.sub("_(low|high|next|supported)$", "", str(x)) for x in task(be.simulate(5, 3))}
        assert not [x for x in names if f"| `{x}` |" not in page and f"`{x}_low`" not in page]
