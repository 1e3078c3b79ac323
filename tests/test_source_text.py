"""Rules of the source text that no linter has."""

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # in scripts/lint

PACKAGE = Path(__file__).resolve().parents[1] / "bioeval"


def calls(path: Path) -> list[ast.Call]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_texts_are_written_with_line_feeds_on_every_system():
    """Without an argument `newline`, Windows writes CR LF, and another digest of the file."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in calls(path):
            name = ast.unparse(node.func)
            mode = ast.unparse(node.args[1]) if name == "open" and node.args[1:] else ""
            keywords = {x.arg for x in node.keywords}
            if (
                name.endswith(".write_text")
                and "encoding" in keywords
                or mode in ("'w'", "'a'", "'x'")
            ):
                assert {"encoding", "newline"} <= keywords, f"{path}:{node.lineno}"
