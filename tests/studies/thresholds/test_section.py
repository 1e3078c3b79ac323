"""What is said of thresholds, in every form of text and in both vocabularies."""

from __future__ import annotations

import numpy as np
import pytest

import bioeval as be
from bioeval.studies.thresholds.section import section
from bioeval.views.writers.data import answer_of, as_data
from tests.rendered import require_names_kept

QUICK = {
    "interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    "folds": 3,
    "repeats": 1,
}


def _assured():
    return be.study_threshold(be.simulate(40, 2, random_state=1), "far=0.02", assure=0.9, **QUICK)


def _refused():
    return be.study_threshold(be.simulate(12, 2, random_state=1), "far=0.01", assure=0.9, **QUICK)


def _rejects():
    return be.study_threshold(be.simulate(12, 2, random_state=1), "frr=0.1", **QUICK)


def _searched():
    scores = be.simulate(12, 3, layout="probe-against-gallery", unenrolled=9, random_state=1)
    return be.study_threshold(scores, "far=0.4", task="open_set", assure=0.8, **QUICK)


@pytest.mark.parametrize("study_of", [_assured, _refused, _rejects, _searched])
def test_names_are_kept_and_terms_are_those_of_the_vocabulary(study_of):
    study = study_of()
    require_names_kept(lambda name: section({"": study.assign_attrs(system=name)}))


def test_the_answer_is_made_of_the_numbers():
    study = _assured().assign(assured_threshold=0.66173456789, assured_frr=0.25)
    study = study.assign(optimistic_frr=0.125, frr_price=0.125)
    answer = answer_of(section({"": study}))
    assert answer.startswith("Install 0.661734. With 90 % confidence, the FAR among people")
    assert "raises the FRR on these data from 12.5 % to 25 %" in answer
    turned = section({"": study.assign_attrs(kind="similarity")})
    assert answer_of(turned, "iso").startswith("Install 0.661735.")
    assert "raises the FNMR on these data from 12.5 % to 25 %" in answer_of(turned, "iso")


def test_data_have_exact_numbers():
    study = _assured()
    tables = as_data(section({"": study}))
    rates = {row["rate"]: row for row in tables["rates"]}
    for rate in ("far", "frr", "hter"):
        assert rates[rate]["where_chosen"] == study[f"optimistic_{rate}"].item()
        assert rates[rate]["where_chosen_high"] == study[f"optimistic_{rate}_high"].item()
        assert rates[rate]["on_new_people"] == study[f"{rate}_mean"].item()
    assert tables["people"][2]["people"] == study.subjects_for_30.item()
    np.testing.assert_array_equal(
        [row["fold_threshold"] for row in tables["folds"]], study.fold_threshold.values.ravel()
    )
