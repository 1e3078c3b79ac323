"""What is said of a promise, in every form of text and in both vocabularies."""

import pytest

import bioeval as be
from bioeval.studies.assurance.section import promise_section
from bioeval.views.writers.data import answer_of, as_data
from tests.rendered import require_names_kept

SCORES = be.simulate(40, 2, random_state=1)


@pytest.mark.parametrize("promise", [{"far": 0.02}, {"frr": 0.3}])
@pytest.mark.parametrize("threshold", [2.0, 4.0, 9.0])
@pytest.mark.cases(2)
def test_names_are_kept_and_terms_are_those_of_the_vocabulary(promise, threshold):
    found = be.check_promise(SCORES, threshold, **promise)
    require_names_kept(lambda name: promise_section({"": found.assign_attrs(system=name)}))


def test_the_verdict_is_made_of_the_numbers():
    found = be.check_promise(SCORES, 4.0, far=0.02)
    said = promise_section({"": found.assign(verdict="refuted", promise=0.0101)})
    assert answer_of(said) == "Refuted: the FAR at 4 is above 1.01 %"
    assert answer_of(said, "iso") == "Refuted: the FMR at 4 is above 1.01 %"
    (row,) = as_data(promise_section({"": found}))["rates"]
    assert row["value"] == found.far.item() and row["value_high"] == found.far_high.item()


def test_the_people_that_settle_a_claim_stand_beside_those_of_the_rule_of_3():
    """3 / 0.0001 = 30,000 pairs are those of 246 people, without an error."""
    assert 245 * 244 // 2 < 30_000 <= 246 * 245 // 2
    found = be.check_promise(be.simulate(60, 4, random_state=2), 2.2, far=1e-4)
    text = " ".join(be.to_markdown(found).split())
    # Without an error two people are one trial: 1 - 0.05^(2 / n) <= 0.0001 from n = 59,914 on.
    assert 59_900 <= found.people_to_settle.item() <= 60_100
    assert "would settle it" in text
    assert "The rule of 3 asks for 246 people: it takes each of their pairs" in text
    assert "Without an error, two people are one trial" in text
    text = be.to_markdown(be.check_promise(be.simulate(60, 4, random_state=2), 2.2, frr=0.9))
    assert "rule of 3 asks" not in text


def test_a_false_reject_is_of_one_person():
    found = be.check_promise(be.simulate(30, 4, random_state=2), 99.0, frr=0.01)
    assert found.verdict == "open" and found.frr == 0
    assert "Without an error, each person is one trial" in " ".join(be.to_markdown(found).split())
