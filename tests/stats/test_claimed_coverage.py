"""No claim of an interval fails in the simulations that are stored, and in a few made anew."""

from collections import Counter

import numpy as np
import pytest
import scipy
from simulations.__main__ import STORED
from simulations.claims import all_claims
from simulations.run import simulate
from simulations.store import Store
from simulations.table import RARE, failures, held_of

pytestmark = pytest.mark.slow


def test_what_is_claimed_held():
    store = Store(STORED)
    assert {*store.counts} <= {claim.name for claim in all_claims()}
    assert [line for claim in all_claims() for line in failures(claim, store)] == []


@pytest.mark.parametrize(
    "claim_name",
    ["rates at a threshold", "operating points chosen on the data", "two equal systems"],
)
def test_what_is_claimed_holds_in_a_sample_of_cells(claim_name):
    """In 20 data sets of the smallest size where people differ."""
    claim = next(x for x in all_claims() if x.name == claim_name)
    cell = next(x for x in claim.cells if x.population == "N")
    least = claim.is_made(cell)
    for name, counts in simulate((0, claim.name, str(cell)))[1].items():
        number_held, number_given = held_of(Counter(counts))
        assert number_given, name
        assert scipy.stats.binom.cdf(number_held, number_given, least) >= RARE, name


@pytest.mark.parametrize("claim", list(all_claims()), ids=lambda claim: claim.name)
def test_each_claim_can_be_measured(claim):
    """In one data set of the smallest size."""
    cell = min(claim.cells, key=lambda x: x.people)
    assert claim.once(cell, np.random.default_rng(1))
