"""The tests of this folder know nothing of the inside."""

import ast
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).parent.glob("test_*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_module_of_the_package_is_imported(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith("bioeval.")
        if isinstance(node, ast.Import):
            assert not any(name.name.startswith("bioeval.") for name in node.names)
