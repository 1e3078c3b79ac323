"""The tests nearest to some files, chosen by what the tests name; `scripts/test --near` runs them.

In this order, and until the time is up:

1. a test file: itself;
2. a module: the examples in its docstrings, and the test file of the same name (of a study: in its
   folder);
3. the tests of the rules that concern the file;
4. the tests that use a name imported from the module;
5. the tests that run over every format, plot, command, splitter, scalar or card, for one of these;
6. what holds of every module: the studies that a study names, how texts are written;
7. tests that use one of its public names (``be.zoo``), or the name of the command or the card.

A test uses a name if its function, or a definition of its file that it uses, has the name in it.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = sorted(path for path in (ROOT / "tests").rglob("test_*.py"))

#: What lists all files of a folder, as tests use it.
REGISTRIES = {
    "protocols": r"\bavailable\(",
    "bioeval/studies": r"\bmanifests\(|\boffered\(|import .*\bdrawn\b",
    "bioeval/cli": r", COMMANDS\)|in COMMANDS:|set\(COMMANDS\)",
    "bioeval/partition": r"bp\.__all__",
    "bioeval/scores/formats": r"registry\.(formats|written_formats)\(",
    "bioeval/views/plots": r"\bPLOTS\b",
    "bioeval/base/scalars.py": r"\b(\(\)\.(optima|at_th|compared)|QUERY_MEANS|VERIFICATION_)\w*",
}


@dataclass(frozen=True)
class Rule:
    """Tests of one rule, and the files that it concerns."""

    tests: tuple[str, ...]  # below tests/
    files: tuple[str, ...]  # patterns of files below bioeval/
    content: str = ""  # and a pattern of what is in the files

    def concerns(self, file: Path) -> bool:
        """Whether a file of this repository is one of those that the rule concerns."""
        package = ROOT / "bioeval"
        if not file.is_relative_to(package):
            return False
        path = file.relative_to(package).as_posix()
        listed = any(fnmatch(path, pattern) for pattern in self.files)
        return listed and bool(re.search(self.content, file.read_text(encoding="utf-8")))


_MANIFESTS = "studies/*/__init__.py"

#: The rules of "Rules" in CONTRIBUTING.md, by the words with which they begin there. Messages of
#: the tests name the rule.
RULES = {
    "Options": Rule(
        (
            "cli/test_option_names.py",
            "cli/test_cli.py::test_help_is_two_lines_and_three_examples_at_80_columns",
            "cli/test_hostile.py::test_every_command_is_tried_with_odd_options",
        ),
        ("cli/*.py", "studies/*command.py", _MANIFESTS),
    ),
    "Public calls": Rule(
        (
            "views/test_show.py::test_every_public_call_has_a_table_or_is_no_result",
            "oracle/test_kinds_agree.py::test_every_public_call_is_here_or_named_as_another",
            "test_docstrings.py::test_every_public_function_has_an_example",
        ),
        ("__init__.py", _MANIFESTS),
    ),
    "Pages": Rule(
        (
            "docs/test_page_tables.py::test_tables_are_those_of_the_code",
            "docs/test_page_tables.py::test_every_public_name_is_on_the_page_of_calls",
            "docs/test_page_tables.py::test_every_plot_is_in_the_gallery",
            "document/test_catalogue.py",
        ),
        ("*.py",),
        r"\b(Name|Scalar|MeanOverQueries|MessageType|Plot|StudyManifest|lazy_names|attach)\(",
    ),
    "Plots": Rule(
        (
            "test_layers.py::test_plots_compute_nothing",
            "views/test_plots.py::test_every_display_has_the_same_two_methods",
        ),
        ("views/plots/*.py", "studies/*/plots.py", _MANIFESTS),
    ),
    "Kernels": Rule(
        (
            "test_layers.py::test_a_kernel_file_stands_alone",
            "kernels/test_compiled.py::test_every_kernel_is_compiled_and_kept_by_bioeval",
        ),
        ("kernels/*.py", "studies/*/kernel.py"),
    ),
    "Variables": Rule(
        (
            "results/test_variables.py",
            "results/test_results.py::test_every_variable_says_what_it_is",
        ),
        ("*.py",),
        r"\b(Name|Scalar|MeanOverQueries|build)\(",
    ),
    "Passes": Rule(
        ("evaluation/test_passes.py",),
        ("evaluation/*.py", "tallies/*.py", "scores/*.py", "stats/*.py", "studies/*.py"),
        r"\b(count_together|count_by_\w+|BlockReader|EmbeddingSource|\w+Counter)\b",
    ),
}

#: What holds of every module.
GUARDS = ("test_layers.py::test_a_study_names_the_studies_that_it_needs", "test_source_text.py")


def tests_of_rules(file: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the rules that concern a file, and their tests."""
    for name, rule in RULES.items():
        if rule.concerns(file):
            yield f"the rule {name}", [f"tests/{test}" for test in rule.tests]


def tests_using(path: Path, words: str) -> list[str]:
    """Return the tests of a file in which the pattern occurs, or in what they use of the file."""
    text = path.read_text(encoding="utf-8")
    if not re.search(words, text):
        return []
    parts: dict[str, str] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            parts[node.name] = "\n".join(map(ast.unparse, [*node.decorator_list, node]))
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                parts[target.id] = "\n".join([parts.get(target.id, ""), ast.unparse(node)])
    found: set[str] = set()
    while new := {k for k, part in parts.items() if k not in found and re.search(words, part)}:
        found |= new
        words = "|".join([words, *(rf"\b{name}\b" for name in new if not name.startswith("test"))])
    where = path.relative_to(ROOT)
    return [f"{where}::{name}" for name in parts if name in found and name.startswith("test")]


def imported(path: Path, module: str) -> str:
    """Return a pattern of the names that a test imports from a module; empty for none."""
    package, _, stem = module.rpartition(".")
    text, names = path.read_text(encoding="utf-8"), []
    if package not in text or stem not in text:  # which is quicker than to parse it
        return ""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            taken = [x.asname or x.name for x in node.names]
            names += taken if node.module == module else []
            names += [stem] if node.module == package and stem in taken else []
    return "|".join(rf"\b{name}\b" for name in names)


def near(file: Path) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield why tests are near a file, and these tests."""
    inside = file.relative_to(ROOT)
    if inside.parts[0] == "tests":
        yield "the file itself", [str(inside)]
        return
    if inside.suffix == ".py":
        module = ".".join(inside.with_suffix("").parts).removesuffix(".__init__")
        yield "its examples", [f"tests/test_docstrings.py::test_examples[{module}]"]
        same = [p for p in TESTS if p.stem == f"test_{file.stem}"]
        if inside.parts[:2] == ("bioeval", "studies") and len(inside.parts) > 3:
            folder = ROOT / "tests" / "studies" / inside.parts[2]
            same = [p for p in same if p.parent == folder]
            yield "tests of the study", [str(p.relative_to(ROOT)) for p in folder.glob("test_*.py")]
        yield "the same name", [str(p.relative_to(ROOT)) for p in same]
        yield from tests_of_rules(file)
        for path in TESTS:
            if words := imported(path, module):
                yield "imports it", tests_using(path, words)
    names = [f'"{re.escape(file.stem.replace("_", "-"))}"']
    if inside.suffix == ".py":
        public = re.findall(r"^(?:def|class) ([A-Za-z]\w*)", file.read_text("utf-8"), re.MULTILINE)
        plots = "plots" in inside.parts
        names += [rf"\b{'plot' if plots else '(be|bp)'}\.{x}\b" for x in public]
        names += re.findall(r'click\.command\(("[\w-]+")', file.read_text("utf-8"))
    places = [inside, *inside.parents]
    if registry := next(filter(None, (REGISTRIES.get(str(place)) for place in places)), None):
        for path in TESTS:
            yield "covers all of its kind", tests_using(path, registry)
    if inside.suffix == ".py":
        yield "holds of every module", [f"tests/{guard}" for guard in GUARDS]
    for path in TESTS:
        yield "uses its public name", tests_using(path, "|".join(names))


def main(files: list[str]) -> None:
    """Print the nearest tests and why, and run them."""
    chosen: dict[str, None] = {}
    for name in files:
        file = Path(name).resolve()
        if not (file.is_file() and file.is_relative_to(ROOT)):
            raise SystemExit(f"{name}: is no file of this repository")
        print(f"Near {file.relative_to(ROOT)}:")
        for why, tests in near(file):
            new = [x for x in tests if x not in chosen and x.partition("::")[0] not in chosen]
            chosen |= dict.fromkeys(new)
            for path in dict.fromkeys(x.partition("::")[0] for x in new):
                count = sum(x.startswith(f"{path}::") for x in new)
                print(f"  {path}{f' ({count})' if count else ''}: {why}")
    sys.stdout.flush()
    os.chdir(ROOT)
    few = ["-n", "0", "-q", "--all", "--seconds=40"]
    os.execvp(sys.executable, [sys.executable, "-m", "pytest", *few, *chosen])


if __name__ == "__main__":
    main(sys.argv[1:])
