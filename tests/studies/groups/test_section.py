"""What is said of groups, in every form of text and in both vocabularies."""

from __future__ import annotations

import numpy as np
import pytest

import bioeval as be
from bioeval.studies.groups.section import section
from tests.rendered import require_names_kept

BOOTSTRAP = {"interval": "subject-bootstrap", "replicates": 100}


def _verified(name: str):
    scores = be.simulate(70, 2, random_state=1).replace(name=name)
    group = np.where(np.asarray(scores.probe_labels) < 60, np.arange(140) // 2 % 2, 2)
    return be.by_group(scores, group, threshold=("far", 0.01), **BOOTSTRAP)


def _searched(name: str):
    scores = be.simulate(12, 3, layout="probe-against-gallery", unenrolled=6, random_state=1)
    group = np.asarray(scores.probe_labels) % 2, np.asarray(scores.gallery_labels) % 2
    return be.by_group(scores.replace(name=name), group, task="open_set", **BOOTSTRAP)


@pytest.mark.parametrize("result_of", [_verified, _searched])
def test_names_are_kept_and_terms_are_those_of_the_vocabulary(result_of):
    require_names_kept(lambda name: section({"": result_of(name)}))


def test_names_of_groups_are_kept():
    scores = be.simulate(8, 3, random_state=1)

    def of_group(name: str):
        group = np.where(np.asarray(scores.probe_labels) % 2, name, "other")
        return section({"": be.by_group(scores, group)})

    require_names_kept(of_group)


def test_pairs_of_many_groups_are_in_the_data_alone():
    scores = be.simulate(26, 2, random_state=1)
    ds = be.by_group(scores, np.asarray(scores.probe_labels) % 13)
    ids = [getattr(block, "id", "") for block in section({"": ds}).blocks]
    assert "far_of_pairs" not in ids and "pairs" in ids
