"""What is said of a claim, in every form of text and in both vocabularies."""

from __future__ import annotations

import pytest

import bioeval as be
from bioeval.studies.assurance.section import section
from bioeval.views.writers.data import answer_of, as_data
from tests.rendered import require_names_kept

SCORES = be.simulate(40, 2, random_state=1)


@pytest.mark.parametrize("claim", [{"far": 0.02}, {"frr": 0.3}])
@pytest.mark.parametrize("threshold", [2.0, 4.0, 9.0])
def test_names_are_kept_and_terms_are_those_of_the_vocabulary(claim, threshold):
    found = be.check_claim(SCORES, threshold, **claim)
    require_names_kept(lambda name: section({"": found.assign_attrs(system=name)}))


def test_the_verdict_is_made_of_the_numbers():
    found = be.check_claim(SCORES, 4.0, far=0.02)
    said = section({"": found.assign(verdict="refuted", claim=0.0101)})
    assert answer_of(said) == "Refuted: the FAR at 4 is above 1.01 %"
    assert answer_of(said, "iso") == "Refuted: the FMR at 4 is above 1.01 %"
    (row,) = as_data(section({"": found}))["rates"]
    assert row["value"] == found.far.item() and row["value_high"] == found.far_high.item()
