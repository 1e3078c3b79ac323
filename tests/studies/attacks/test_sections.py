"""What is said of attacks, in every form of text and in both vocabularies."""

from __future__ import annotations

import numpy as np
import pytest
from systems import attacked

import bioeval as be
from bioeval.studies.attacks import morphing_section, pad_section, vulnerability_section
from tests.rendered import require_names_kept


def _detected(name: str):
    rng = np.random.default_rng(1)
    attack = np.repeat(["", "mask", "print"], 20)
    bootstrap = {"interval": "subject-bootstrap", "replicates": 100, "subjects": np.arange(60) % 10}
    return be.pad(rng.random(60), attack, threshold=("apcer", 0.1), name=name, **bootstrap)


def _vulnerable(name: str):
    scores = attacked().replace(name=name)
    bootstrap = {"interval": "subject-bootstrap", "replicates": 100}
    return be.vulnerability(scores, threshold=("far", 0.01), **bootstrap)


def _morphs(name: str) -> be.Scores:
    return be.Scores([[1.0, 3.0], [3.0, 2.0]], [1, 2], [-1, -2], name=name)


def _morphed(name: str):
    bona_fide = {x: be.simulate(6, 2, random_state=1) for x in (name, "other")}
    systems = {x: _morphs(x) for x in bona_fide}
    return be.morphing(systems, [(1, 2)] * 2, bona_fide=bona_fide, threshold=2.0)


@pytest.mark.parametrize(
    ("module", "result_of"),
    [
        (pad_section, _detected),
        (vulnerability_section, _vulnerable),
        (morphing_section, _morphed),
        (morphing_section, lambda name: be.morphing(_morphs(name), [(1, 2)] * 2)),
    ],
)
def test_names_are_kept_and_terms_are_those_of_the_vocabulary(module, result_of):
    require_names_kept(lambda name: module.section({"": result_of(name)}))
