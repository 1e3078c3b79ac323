"""Turns of phrase that stop a reader are in no string of the package and in no page."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # in scripts/lint

ROOT = Path(__file__).resolve().parents[1]

#: Whether the pages are read, too.
READ_PAGES = True

#: Each odd turn, with what to write instead.
ODD = {
    r"\b(of )?whom\b": "who, or two sentences",
    r"\b(no|any)body\b": "no subject, anyone",
    r"\bso many\b": "this many, or the number",
    r"\bparted\b": "divided",
    r"\bthose where\b": "the noun",
    r"\bwhat both have\b": "the common data",
    r"\btheir order is\b(?! due)": "their order is due to",
    r"\bsays? what\b": "the noun: gives the kind",
    r"\bstands? (at|beside|in|where)\b": "is",
    r"(?<!there )\b(is|are) no (attempts?|checkpoint|file|list|matrix|number|result)\b": "is not a",
    r"\b(has|have) not[,.;:]": "does not have",
    r"\beach by itself\b": "each alone, or independently",
    r"\b(asked|told)\b": "given, requested",
    r"\band the like\b": "and similar",
    r"\bgoe?s? on from\b": "continues from",
    r"\bsay `?--": "give",
    r"\bunless you say so\b": "by default",
    r"\bone( [a-z]+)? an? (line|query|system|rank|threshold|template|probe|subject|pair|trial)\b": (
        "one per"
    ),
    r"\bof which the (data|results)\b": "at which",
    r"\bthese very\b": "these same",
    r"\bas it stands\b": "unchanged",
    r"\bsays more\b": "run it for details",
    r"\b(a|the) share of\b": "proportion, rate",
    r"\bout of reach\b": "not supported",
}
#: Relative clauses hung on by a comma. Pages may have them; messages and first lines may not.
HUNG_ON = re.compile(r", (?:(?:of|on|in|with|from|for|to|at|by) )?(?:which|whose|where|whom) ")
ANY = re.compile("|".join(f"(?:{turn})" for turn in ODD), re.IGNORECASE)
PATTERNS = {re.compile(turn, re.IGNORECASE): better for turn, better in ODD.items()}

#: Pages of the site and the front page.
PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]) if READ_PAGES else []


@functools.cache
def strings(path: Path) -> list[tuple[int, str]]:
    """Return the strings of a module that a reader sees: literals, and docstrings' first lines."""
    return list(_strings(path))


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    described = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                described[id(first.value)] = node
    pieces = {id(piece) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
              for piece in node.values}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (x.value if isinstance(x, ast.Constant) else "{}" for x in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in described:
                yield node.lineno, node.value.strip().partition("\n")[0]
            elif id(node) not in pieces:
                yield node.lineno, node.value


def odd(where: str, text: str) -> list[str]:
    if not ANY.search(text):
        return []
    found = ((turn.search(text), better) for turn, better in PATTERNS.items())
    return [f"{where}: {hit.group()!r}; write: {better}" for hit, better in found if hit]


def may_be_odd(path: Path) -> bool:
    """Whether an odd turn is anywhere in a file, comments included: others need no parser."""
    text = re.sub(r'"\s*\n\s*[bfr]*"', "", path.read_text(encoding="utf-8"))  # joins its strings
    return ANY.search(text) is not None


def test_strings_of_the_package_have_no_odd_turns():
    paths = sorted(filter(may_be_odd, (ROOT / "bioeval").rglob("*.py")))
    found = [
        line
        for path in paths
        for number, text in strings(path)
        for line in odd(f"{path.relative_to(ROOT)}:{number}", text)
    ]
    assert found == [], "\n".join(found)


def test_strings_of_the_package_have_no_relative_clauses_hung_on():
    paths = sorted((ROOT / "bioeval").rglob("*.py"))
    found = [
        f"{path.relative_to(ROOT)}:{number}: {hit.group()!r} in {text!r}; write: two sentences"
        for path in paths
        for number, text in strings(path)
        if (hit := HUNG_ON.search(text))
    ]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_have_no_odd_turns(page):
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
    found = [line for number, text in lines for line in odd(f"{page.name}:{number}", text)]
    assert found == [], "\n".join(found)
