"""No claim of an interval fails in the simulations that are stored."""

from __future__ import annotations

import pytest
from simulations.__main__ import STORED
from simulations.claims import all_claims
from simulations.store import Store
from simulations.table import failures

pytestmark = pytest.mark.slow


def test_what_is_claimed_held():
    store = Store(STORED)
    assert {*store.counts} <= {claim.name for claim in all_claims()}
    assert [line for claim in all_claims() for line in failures(claim, store)] == []
