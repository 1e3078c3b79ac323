"""The study of growth measures every command, and names those that grow faster than their work."""

from __future__ import annotations

import growth_study
import pytest
from growth_study import CASES, PAGE, grows_faster, table, table_of_embeddings, write_into

from bioeval.cli.lazy_group import COMMANDS


def test_every_command_has_a_case_and_a_line_in_the_docs():
    assert {name.partition(",")[0] for name in CASES} == {*COMMANDS}
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in CASES if f"| `{name}` |" not in page] == []


def test_time_beyond_the_work_is_named():
    assert grows_faster({"run": (1.0, 5.0), "check": (1.0, 4.4), "tracking": (1.0, 2.4)}) == [
        "run",
        "tracking",
    ]


def test_the_table_replaces_the_one_before(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A\n<!-- growth: by x -->\nold\n<!-- end of growth -->\n# B\n", "utf-8")
    write_into(page, table({"run": (0.2, 0.5)}))
    text = page.read_text("utf-8")
    assert "| `run` | 2,000 | 200 | 2.50 | 4 (cells) |  |" in text
    assert "old" not in text
    assert text.startswith("# A\n<!-- growth")
    assert text.endswith("<!-- end of growth -->\n# B\n")


@pytest.mark.slow
def test_embeddings_are_held_against_their_product_and_their_own_growth(tmp_path, capsys):
    found = growth_study.of_embeddings([40, 60])
    assert {which: list(taken) for which, taken in found.items()} == {
        "apart": [40, 60],
        "overlapping": [40, 60],
    }
    assert all(min(seconds) > 0 for taken in found.values() for seconds in taken.values())
    assert "apart              40 templates" in capsys.readouterr().out
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- growth of embeddings: by x -->\nold\n<!-- end of growth of embeddings -->\n"
    )
    known = {"apart": {10_000: (1.0, 2.0), 20_000: (8.0, 8.0)}}
    write_into(page, table_of_embeddings(known), "growth of embeddings")
    text = page.read_text("utf-8")
    assert "| 10,000 | 0.50 | 1.00 |" in text
    assert "| 20,000 | 1.00 | 2.00 |" in text
    assert "old" not in text
    assert "| apart: over the product | a score |" in PAGE.read_text("utf-8")


@pytest.mark.parametrize("name", ["explain", "tracking", "run, a list"])
@pytest.mark.cases(1)
def test_a_case_runs(name):
    once, twice = growth_study.measured(name, 0.02)
    assert once > 0.0
    assert twice > 0.0
