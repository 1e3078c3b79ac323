"""`scripts/test --near` runs the tests of the rules that concern a file."""

from __future__ import annotations

import re
from pathlib import Path

import near
import pytest


def reasons_of(file: Path) -> dict[str, str]:
    """Why each test is near a file: the first reason."""
    chosen: dict[str, str] = {}
    for why, tests in near.near(file):
        for test in tests:
            chosen.setdefault(test, why)
    return chosen


@pytest.mark.parametrize("name", near.RULES)
@pytest.mark.all_studies
def test_a_rule_is_a_line_of_contributing_that_its_tests_name(name, root):
    rules = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rules = rules.partition("\n## Rules\n")[2].partition("\n## ")[0]
    assert f"- **{name}.**" in rules
    for test in near.RULES[name].tests:
        file, _, function = test.partition("::")
        text = (root / "tests" / file).read_text(encoding="utf-8")
        assert f"def {function or 'test_'}" in text, test
        assert re.search(rf"CONTRIBUTING\.md, [\"']Rules[\"'], {name}: ", text), test


@pytest.mark.parametrize(
    ("path", "rules"),
    [
        ("bioeval/cli/run.py", {"Options"}),
        ("bioeval/studies/zoo/command.py", {"Options"}),
        ("bioeval/studies/zoo/__init__.py", {"Options", "Public calls", "Pages", "Plots"}),
        ("bioeval/studies/zoo/results.py", {"Pages", "Variables"}),
        ("bioeval/studies/zoo/plots.py", {"Plots"}),
        ("bioeval/studies/zoo/kernel.py", {"Kernels"}),
        ("bioeval/studies/zoo/counts.py", {"Passes"}),
        ("bioeval/kernels/ranks.py", {"Kernels"}),
        ("bioeval/base/scalars.py", {"Pages", "Variables"}),
        ("bioeval/tallies/passes.py", {"Passes"}),
        ("bioeval/partition/shuffling.py", set()),
        ("docs/index.md", set()),
    ],
)
@pytest.mark.all_studies
def test_rules_that_concern_a_file(path, rules, root):
    assert {name for name, rule in near.RULES.items() if rule.concerns(root / path)} == rules


@pytest.mark.slow
@pytest.mark.uses("zoo")
def test_tests_of_rules_are_near(root):
    reasons = reasons_of(root / "bioeval" / "studies" / "zoo" / "command.py")
    assert reasons["tests/cli/test_option_names.py"] == "the rule Options"
    places = list(reasons)
    folder = places.index("tests/studies/zoo/test_zoo.py")
    assert folder < places.index("tests/cli/test_option_names.py")
    reasons = reasons_of(root / "bioeval" / "studies" / "zoo" / "counts.py")
    assert reasons["tests/evaluation/test_passes.py"] == "the rule Passes"


def test_a_test_file_is_near_itself_alone(root):
    assert list(reasons_of(root / "tests" / "test_near.py")) == ["tests/test_near.py"]
