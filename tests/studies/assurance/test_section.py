"""What is said of a claim, in every form of text and in both vocabularies."""

from __future__ import annotations

import numpy as np
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


def test_the_limits_name_their_method_and_for_whom_they_are():
    """One-sided limits of a claim are no intervals of an evaluation, which are named as well."""
    found = be.check_claim(SCORES, 4.0, far=0.02)
    text = be.to_markdown(found)
    for name in ("interval_method", "interval_for"):
        assert found.attrs[name] in text
    judged = be.verification(SCORES, thresholds=[4.0], interval="subject-bootstrap")
    assert judged.attrs["interval_method"] != found.attrs["interval_method"]
    people = [*np.tile(np.arange(8, 12), (2, 1)).T, *np.arange(8).reshape(4, 2)]
    pairs = be.Scores.from_pairs(np.arange(1.0, 9.0), [1] * 4 + [0] * 4, subjects=people)
    assert be.check_claim(pairs, 5.5, far=0.9).attrs["interval_method"] == "clopper-pearson"
