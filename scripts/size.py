"""Print the size of each package: lines, functions, public names, and what tests know of it.

``python scripts/size.py`` bounds nothing: it shows what a change did. Lines are lines of code
(without blank lines, comments and docstrings), public names those that a stub or ``__all__``
declares.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines of docstrings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            text = node.body[0]
            lines.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return lines


def code_lines(source: str, tree: ast.Module) -> int:
    """Return the number of lines that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(tree))


def size_of(path: Path) -> Counter[str]:
    """Return the counts of one file of the package."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    counts = Counter(files=1, lines=code_lines(source, tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            counts["functions"] += 1
        elif isinstance(node, ast.IfExp):
            counts["conditional"] += 1
        elif isinstance(node, ast.Name) and node.id == "Any":
            counts["Any"] += 1
    return counts


def public_names(path: Path) -> set[str]:
    """Return the names that a stub declares, without those that begin with an underscore."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            names.update(alias.asname for alias in node.names if alias.asname)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


def imports_of(tree: ast.Module) -> Iterator[str]:
    """Yield the modules below ``bioeval`` that a test file imports from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            if node.module.startswith("bioeval."):
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("bioeval."))


def replaces(node: ast.AST) -> bool:
    """Whether a node is a call of ``monkeypatch.setattr``."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "monkeypatch.setattr"


def package_of(path: Path) -> str:
    """Return the package of a file, to the depth of a study: ``studies.zoo``."""
    parts = path.relative_to(ROOT / "bioeval").parts[:-1]
    return ".".join(parts[: 2 if parts[:1] == ("studies",) else 1]) or "bioeval"


def main() -> None:
    """Print the table of packages, and what tests know of the inside."""
    sizes: dict[str, Counter[str]] = {}
    for path in sorted((ROOT / "bioeval").rglob("*.py")):
        sizes.setdefault(package_of(path), Counter()).update(size_of(path))
    for path in sorted((ROOT / "bioeval").rglob("*.pyi")):
        names = len(public_names(path))
        sizes.setdefault(package_of(path), Counter()).update({"public": names})
    heads = ("files", "lines", "functions", "public", "Any", "conditional")
    total: Counter[str] = Counter()
    print(f"{'package':<24}" + "".join(f"{head:>12}" for head in heads))
    for package, counts in sizes.items():
        total.update(counts)
        print(f"{package:<24}" + "".join(f"{counts[head]:>12,}" for head in heads))
    print(f"{'all':<24}" + "".join(f"{total[head]:>12,}" for head in heads))

    public = {"bioeval.plot", "bioeval.stats", "bioeval.partition"}
    tests = sorted((ROOT / "tests").rglob("*.py"))
    inside = imported = replaced = lines = 0
    for path in tests:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        lines += code_lines(source, tree)
        internals = [module for module in imports_of(tree) if module not in public]
        inside += bool(internals)
        imported += len(internals)
        replaced += sum(map(replaces, ast.walk(tree)))
    print()
    print(f"tests: {len(tests):,} files, {lines:,} lines")
    print(f"  that import from inside the package: {inside:,} files, {imported:,} imports")
    print(f"  calls of monkeypatch.setattr: {replaced:,}")


if __name__ == "__main__":
    main()
