"""What is said of attacks, in every form of text and in both vocabularies."""

from __future__ import annotations

import numpy as np
import pytest
from systems import attacked

import bioeval as be
from bioeval.studies.attacks import pad_section, vulnerability_section
from tests.rendered import require_names_kept


def _detected(name: str):
    rng = np.random.default_rng(1)
    attack = np.repeat(["", "mask", "print"], 20)
    bootstrap = {
        "interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100),
        "subjects": np.arange(60) % 10,
    }
    return be.pad(rng.random(60), attack, threshold="apcer=0.1", name=name, **bootstrap)


def _vulnerable(name: str):
    scores = attacked().replace(name=name)
    bootstrap = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}
    return be.vulnerability(scores, threshold="far=0.01", **bootstrap)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "result_of"),
    [
        (pad_section, _detected),
        (vulnerability_section, _vulnerable),
    ],
)
def test_names_are_kept_and_terms_are_those_of_the_vocabulary(module, result_of):
    require_names_kept(lambda name: module.section({"": result_of(name)}))
