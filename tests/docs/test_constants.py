"""Constants that how-it-counts.md names have the values that it states."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator

import pytest
from pages import ROOT

PAGE = ROOT / "docs" / "how-it-counts.md"

#: Values that the page has in words.
WORDS = {1 / 8: "an eighth", 4.0: "four", 1 << 20: "a million", 64 << 20: "64 MiB"}


def named_constants() -> Iterator[tuple[str, str, str]]:
    """Yield each constant that the page names, the text around it, and the files of the comment.

    A comment ``<!-- numbers: FILES -->`` stands before the text, which ends at the next block,
    comment or heading.
    """
    text = PAGE.read_text(encoding="utf-8")
    parts = re.findall(
        r"^<!-- numbers: ([\w/., ]+\.py) -->\n(.*?)(?=^#|^```|^<!--|\Z)", text, flags=re.M | re.S
    )
    for files, about in parts:
        for name in re.findall(r"`([A-Z_]{3,})`", about):
            yield name, " ".join(about.split()), files


def values_of(name: str, files: str) -> list[object]:
    """Return the values of a constant in the first of the files that has it."""
    for file in files.split(", "):
        module = importlib.import_module(f"bioeval.{file.removesuffix('.py').replace('/', '.')}")
        if hasattr(module, name):
            value = getattr(module, name)
            return list(value.values()) if isinstance(value, dict) else [value]
    return [f"in none of {files}"]


#: As they are before a test changes any.
CONSTANTS = [
    (name, about, value)
    for name, about, files in named_constants()
    for value in values_of(name, files)
]


@pytest.mark.parametrize(("name", "about", "value"), CONSTANTS)
def test_a_constant_has_the_value_that_the_page_states(name, about, value):
    stated = value if isinstance(value, str) else WORDS.get(value, f"{value:,}")
    assert stated in about, f"{name} is {value}"


def test_the_page_names_constants():
    assert len(CONSTANTS) > 12
