"""The page of the simulations shows the counts that are stored, and no claim fails in them."""

from __future__ import annotations

import pytest
from simulations.claims import all_claims
from simulations.page import page
from simulations.store import Store
from simulations.table import failures

pytestmark = pytest.mark.slow


def test_the_page_has_the_counts_that_are_stored(root):
    store = Store(root / "docs" / "coverage.json")
    text = (root / "docs" / "coverage.md").read_text(encoding="utf-8")
    assert page(text, all_claims(), store) == text, "run scripts/coverage --page"


def test_what_is_claimed_held(root):
    store = Store(root / "docs" / "coverage.json")
    assert {*store.counts} <= {claim.name for claim in all_claims()}
    assert [line for claim in all_claims() for line in failures(claim, store)] == []
